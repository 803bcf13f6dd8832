//! One file for all processes of a job: each finds its number and its neighbours, or all end and one says why.
#![allow(clippy::unwrap_used)]

mod crew;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crew::{Crew, Place, RING, SMTPP, a9a, agent, complaint, leave_out, output, quadratic, soon};
use oneway_agent::plan::hosts::free_addresses;

/// What launchers set; none of it may come from where the tests are run.
const VARIABLES: [&str; 17] = [
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "PMIX_NAMESPACE",
    "PMI_RANK",
    "PMI_SIZE",
    "SLURM_PROCID",
    "SLURM_NTASKS",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_STEP_NODELIST",
    "SLURM_JOB_NODELIST",
    "RANK",
    "WORLD_SIZE",
    "MASTER_ADDR",
    "MASTER_PORT",
];

/// A plan without addresses.
fn plan(place: &Place, options: &[&str]) -> PathBuf {
    let folder = place.path("plan");
    let words = ["plan", place.file.to_str().unwrap(), "--out", folder.to_str().unwrap()];
    let planned = output(&[&words[..], options].concat());
    assert!(planned.status.success(), "{}", complaint(&planned));
    folder
}

/// `oneway-agent run` of a plan's file with these variables and no others.
fn member(plan: &Path, variables: &[(&str, String)], options: &[&str]) -> Command {
    let mut command = agent();
    VARIABLES.iter().for_each(|name| _ = command.env_remove(name));
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command.arg("run").arg(plan.join("plan.toml")).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The variables of a process by `RANK`.
fn ranked(rank: usize, size: usize) -> Vec<(&'static str, String)> {
    vec![("RANK", rank.to_string()), ("WORLD_SIZE", size.to_string())]
}

/// As `srun` sets them.
fn slurm(rank: usize, size: usize, job: &str) -> Vec<(&'static str, String)> {
    vec![
        ("SLURM_PROCID", rank.to_string()),
        ("SLURM_NTASKS", size.to_string()),
        ("SLURM_JOB_ID", job.to_owned()),
        ("SLURM_STEP_ID", "0".to_owned()),
        ("SLURM_JOB_NODELIST", "localhost,elsewhere[01-99]".to_owned()),
    ]
}

/// All processes of a job.
fn members(plan: &Path, size: usize, options: &[&str]) -> Vec<Command> {
    let rendezvous = free_addresses(1).unwrap().remove(0);
    let options = [options, &["--rendezvous", &rendezvous]].concat();
    (0..size).map(|rank| member(plan, &ranked(rank, size), &options)).collect()
}

/// Runs processes to their end, which must come soon.
fn run(members: Vec<Command>) -> Vec<Output> {
    let began = Instant::now();
    let mut children: Vec<_> = members.into_iter().map(|mut member| member.spawn().unwrap()).collect();
    while !children.iter_mut().all(|child| child.try_wait().unwrap().is_some()) {
        let in_time = began.elapsed() < soon();
        if !in_time {
            children.iter_mut().for_each(|child| child.kill().unwrap());
        }
        assert!(in_time, "they hang");
        std::thread::sleep(Duration::from_millis(10));
    }
    children.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

/// Gathers what agents have left in a plan, and compares it with the simulator.
fn assert_simulated(place: &Place, plan: &Path) {
    let mut crew = Crew { folder: plan.to_owned(), children: vec![] };
    crew.assert_simulated(place, soon());
}

#[test]
fn ranks_find_their_neighbours_at_a_rendezvous() {
    let place = Place::new(&quadratic(4, 60, &format!("{RING}{SMTPP}")));
    let plan = plan(&place, &[]);
    for file in ["plan.toml", "agent-0.toml", "agent-3.toml"] {
        assert!(plan.join(file).exists(), "{file}");
    }
    let alone = output(&["run", plan.join("agent-1.toml").to_str().unwrap()]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(complaint(&alone).contains("this agent has no addresses yet"), "{}", complaint(&alone));

    let rendezvous = free_addresses(1).unwrap().remove(0);
    let options = ["--rendezvous", &rendezvous];
    let members = (0..4).map(|rank| member(&plan, &ranked(rank, 4), &options)).collect();
    for ended in run(members) {
        assert!(ended.status.success(), "{}", complaint(&ended));
    }
    assert_simulated(&place, &plan);

    // whoever is started later needs no launcher: the addresses are in the configs
    let config = std::fs::read_to_string(plan.join("agent-3.toml")).unwrap();
    assert!(config.contains("met = \"a job\"") && !config.contains("tcp/agent-"), "{config}");
}

/// Also when one was killed: started again in the same job it needs no meeting.
#[test]
fn a_job_of_slurm_goes_on_after_a_kill_and_after_a_requeue() {
    let place = Place::new(&a9a(3, 20_000, RING));
    let plan = plan(&place, &["--checkpoint-every", "50"]);
    let job = format!("{}", std::process::id());
    let mut crew = Crew { folder: plan.clone(), children: vec![] };
    let start = |rank: usize, job: &str| {
        let log =
            std::fs::File::options().create(true).append(true).open(plan.join(format!("agent-{rank}.log")));
        member(&plan, &slurm(rank, 3, job), &[]).stderr(log.unwrap()).spawn().unwrap()
    };
    crew.children.extend((0..3).map(|rank| Some(start(rank, &job))));
    crew.wait_for_states(2, 50_000, soon());
    crew.kill(1);
    crew.children[1] = Some(start(1, &job));
    crew.wait_for_states(1, 100_000, soon());
    (0..3).for_each(|rank| crew.signal(rank, "TERM"));
    for rank in 0..3 {
        assert_eq!(crew.wait(rank, Duration::from_secs(30)).code(), Some(75), "{}", crew.log(rank));
    }
    let addresses: Vec<String> = (0..3).map(|rank| crew.address(rank)).collect();
    let again = format!("{job}1"); // all addresses are found anew
    (0..3).for_each(|rank| crew.children[rank] = Some(start(rank, &again)));
    crew.assert_simulated(&place, soon());
    assert!((0..3).any(|rank| crew.address(rank) != addresses[rank]), "{addresses:?}");
    assert!(crew.log(1).contains("resuming from the checkpoint of round"), "{}", crew.log(1));
}

#[test]
fn mpirun_can_start_agents() {
    let is_there = Command::new("mpirun").arg("--version").output().is_ok_and(|said| said.status.success());
    if !is_there {
        return leave_out("mpirun", "no mpirun here");
    }
    let place = Place::new(&quadratic(4, 60, &format!("{RING}{SMTPP}")));
    let plan = plan(&place, &[]);
    let mut job = Command::new("mpirun");
    VARIABLES.iter().for_each(|name| _ = job.env_remove(name));
    job.args([
        "--allow-run-as-root",
        "--oversubscribe",
        "-n",
        "4",
        env!("CARGO_BIN_EXE_oneway-agent"),
        "run",
    ]);
    job.arg(plan.join("plan.toml")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = run(vec![job]).remove(0);
    assert!(ended.status.success(), "{}", complaint(&ended));
    assert_simulated(&place, &plan);
}

/// All end with code 2, and one of them says why.
fn refused(members: Vec<Command>, words: &str) {
    let ended = run(members);
    let said: Vec<String> = ended.iter().map(complaint).collect();
    for (ended, said) in ended.iter().zip(&said) {
        assert_eq!(ended.status.code(), Some(2), "{said}");
    }
    assert_eq!(said.iter().filter(|said| !said.is_empty()).count(), 1, "{said:?}");
    assert!(said.concat().contains(words), "{said:?}");
}

#[test]
fn what_is_wrong_with_one_process_ends_all_and_is_said_once() {
    let place = Place::new(&quadratic(3, 60, &format!("{RING}{SMTPP}")));
    let plan = plan(&place, &[]);
    let members = |size: usize, options: &[&str]| members(&plan, size, options);
    refused(members(4, &[]), "WORLD_SIZE says 4 processes, and the plan has 3 agents: start at most 3");

    let mut missing = members(3, &["--meet-within", "2"]);
    missing.remove(1);
    refused(missing, "1 of 3 processes did not come to 127.0.0.1:");

    let mut twice = members(3, &[]);
    twice[2].env("RANK", "1");
    refused(twice, "two processes say that they are process 1");

    // another plan on one of them
    let other = place.path("other");
    let words =
        ["plan", place.file.to_str().unwrap(), "--out", other.to_str().unwrap(), "--set", "run.seed=6"];
    assert!(output(&words).status.success());
    let mut differing = members(3, &[]);
    let options: Vec<_> = differing[1].get_args().skip(2).map(ToOwned::to_owned).collect();
    differing[1] = member(&other, &ranked(1, 3), &[]);
    differing[1].args(options);
    refused(differing, "process 1 has another plan than process 0");

    // a config of another plan
    let config = plan.join("agent-2.toml");
    let own = std::fs::read(&config).unwrap();
    std::fs::copy(other.join("agent-2.toml"), &config).unwrap();
    refused(members(3, &[]), "process 2: ");
    std::fs::write(&config, own).unwrap();

    // no folder can be made there
    std::fs::write(place.path("file"), "").unwrap();
    refused(members(3, &["--state", place.path("file").to_str().unwrap()]), "process 0: ");
    let mut one = members(3, &[]);
    one[2].args(["--state", place.path("file").to_str().unwrap()]);
    refused(one, "process 2: ");
    for rank in 0..3 {
        assert!(!plan.join(format!("agent-{rank}/states")).exists(), "nothing was begun");
    }
}

#[test]
fn words_that_make_no_sense_are_refused() {
    let place = Place::new(&quadratic(3, 10, &format!("{RING}{SMTPP}")));
    let plan = plan(&place, &[]);
    let refused = |command: Command, words: &str| {
        let ended = run(vec![command]).remove(0);
        assert_eq!(ended.status.code(), Some(2));
        assert!(complaint(&ended).contains(words), "{}", complaint(&ended));
    };
    let with = |options: &[&str]| member(&plan, &[], options);
    refused(with(&[]), "plan.toml: which agent is this? Give --agent, or start it by what sets one of");
    refused(with(&["--agent", "3"]), "plan.toml: there is no agent 3: the plan has 3, from 0");
    refused(with(&["--agent", "1"]), "give --rendezvous host:port");
    refused(with(&["--agent", "1", "--rendezvous", "here"]), "--rendezvous: \"here\" is no address");
    refused(with(&["--meet-within", "0"]), "--meet-within");
    refused(member(&plan, &ranked(3, 3), &[]), "RANK=3 is not possible with WORLD_SIZE=3");
    let list = [&slurm(1, 3, "1")[..4], &[("SLURM_JOB_NODELIST", "a[".to_owned())]].concat();
    refused(member(&plan, &list, &[]), "SLURM_JOB_NODELIST: \"a[\" is not a list of hosts");
    let nobody = with(&["--agent", "1", "--rendezvous", "127.0.0.1:9", "--meet-within", "1"]);
    refused(nobody, "the first process was not found at 127.0.0.1:9 within 1 s");
    let mut config = agent();
    config.arg("run").arg(plan.join("agent-1.toml")).args(["--agent", "1"]);
    config.stdout(Stdio::piped()).stderr(Stdio::piped());
    refused(config, "--agent and --rendezvous are for plan.toml");
}

/// Every kind of method, with fewer processes than agents: inside of a process rows go by memory.
#[test]
fn several_agents_of_a_process_have_the_simulators_bits() {
    let changing = "[[topology]]\nname = \"changing\"\nkind = \"one-peer-exponential\"\n";
    let sgp = "[[method]]\nname = \"SGP\"\nkind = \"sgp\"\nstep = { size = 0.05 }\n";
    let gossip = "[[method]]\nname = \"gossip\"\nkind = \"push-pull\"\ngossip = 2\nstep = { size = 0.05, scaling = \"effective\" }\n";
    let coded = "[[method]]\nname = \"compressed\"\nkind = \"compressed-smtpp\"\nstep = { size = 0.02, scaling = \"effective\" }\n";
    let long = "[[method]]\nname = \"too long\"\nkind = \"smtpp\"\nstep = { size = 400.0 }\n";
    let single =
        quadratic(7, 60, &format!("{RING}{SMTPP}")).replacen("[run]", "[run]\nprecision = \"f32\"", 1);
    for (experiment, processes) in [
        (a9a(7, 200, RING), 1),
        (a9a(7, 200, RING), 3),
        (quadratic(8, 60, &format!("{changing}{sgp}")), 2),
        (quadratic(5, 60, &format!("{changing}{gossip}")), 2),
        (quadratic(5, 60, &format!("{RING}{coded}")), 2),
        (single, 2),
        (quadratic(6, 5000, &format!("{RING}{long}")), 2), // diverges
    ] {
        let place = Place::new(&experiment);
        let plan = plan(&place, &["--guard", "inf"]);
        for ended in run(members(&plan, processes, &[])) {
            assert!(ended.status.success(), "{}", complaint(&ended));
        }
        assert_simulated(&place, &plan);
    }
}

/// A process that is killed goes on with all of its agents; stopped, the plan goes on with other processes.
#[test]
fn blocks_of_agents_survive_kills() {
    let place = Place::new(&a9a(8, 30_000, RING));
    let plan = plan(&place, &["--checkpoint-every", "50"]);
    let job = format!("{}2", std::process::id());
    let start = |rank: usize, size: usize, job: &str| {
        let log =
            std::fs::File::options().create(true).append(true).open(plan.join(format!("agent-{rank}.log")));
        member(&plan, &slurm(rank, size, job), &[]).stderr(log.unwrap()).spawn().unwrap()
    };
    let children = (0..2).map(|rank| Some(start(rank, 2, &job))).collect();
    let mut crew = Crew { folder: plan.clone(), children };
    for (number, victim) in [1, 0, 0, 1].into_iter().enumerate() {
        crew.wait_for_states(7, 100_000 * (number as u64 + 1), soon());
        crew.kill(victim);
        crew.children[victim] = Some(start(victim, 2, &job));
    }
    crew.wait_for_states(7, 500_000, soon());
    (0..2).for_each(|rank| crew.signal(rank, "TERM"));
    for rank in 0..2 {
        assert_eq!(crew.wait(rank, Duration::from_secs(30)).code(), Some(75), "{}", crew.log(rank));
    }
    crew.children = (0..3).map(|rank| Some(start(rank, 3, &format!("{job}3")))).collect();
    (0..3).for_each(|rank| assert!(crew.wait(rank, soon()).success(), "{}", crew.log(rank)));
    assert!(crew.log(0).contains("resuming from the checkpoint of round"), "{}", crew.log(0));
    assert_simulated(&place, &plan);
    let alone = output(&["run", plan.join("agent-1.toml").to_str().unwrap()]);
    assert_eq!(alone.status.code(), Some(2));
    assert!(complaint(&alone).contains("agents 0 to 1 run in one process"), "{}", complaint(&alone));
}

#[test]
fn blocks_are_refused_where_there_can_be_none() {
    let place = Place::new(&quadratic(3, 10, &format!("{RING}{SMTPP}")));
    let keys = crew::keys(&place, 3, "keys");
    let secure = plan(&place, &["--keys", keys.to_str().unwrap()]);
    refused(members(&secure, 2, &[]), "links with keys need a process for each agent");
    let crew = Crew::plan_on(&place, &crew::hosts_file(3), 3, &[]);
    refused(members(&crew.folder, 2, &[]), "start one for each: their addresses were given");
}

/// With addresses that were given, the file only says which agent a process is.
#[test]
fn agents_with_addresses_are_numbered_and_need_no_meeting() {
    let place = Place::new(&quadratic(3, 60, &format!("{RING}{SMTPP}")));
    let crew = Crew::plan(&place, 3, &[]);
    let members = (0..3).map(|rank| member(&crew.folder, &ranked(rank, 3), &[])).collect();
    for ended in run(members) {
        assert!(ended.status.success(), "{}", complaint(&ended));
    }
    assert_simulated(&place, &crew.folder);
}
