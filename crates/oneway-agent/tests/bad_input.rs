//! Wrong input: a message that says what would be right, code 2, and nothing begun.
#![allow(clippy::unwrap_used)]

mod crew;

use crew::{Crew, Place, RING, a9a, complaint, hosts_file, output, quadratic};

const SMTPP: &str = "[[method]]\nname = \"SMTPP\"\nkind = \"smtpp\"\nstep = { size = 0.05 }\n";

fn refused(arguments: &[&str], words: &str) {
    let output = output(arguments);
    let complaint = complaint(&output);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains(words), "{complaint}");
    assert!(output.stdout.is_empty());
}

#[test]
fn experiments_that_agents_cannot_run_are_refused_before_anything_is_written() {
    let clock = "[clock]\n";
    let lossy = "[[topology]]\nname = \"ring\"\nkind = \"ring\"\nloss = 0.1\n";
    for (rest, words) in [
        (format!("{lossy}{SMTPP}"), "faults and clocks are the simulator's"),
        (format!("{RING}{SMTPP}{clock}"), "faults and clocks are the simulator's"),
        (format!("{RING}[[method]]\nkind = \"smttp\"\nstep = {{ size = 0.1 }}\n"), "did you mean `smtpp`?"),
    ] {
        let place = Place::new(&quadratic(3, 10, &rest));
        let out = place.path("out");
        refused(&["launch", place.file.to_str().unwrap(), "--out", out.to_str().unwrap()], words);
        assert!(!out.exists());
    }
    refused(&["launch", "no-such-file.toml"], "no-such-file.toml");
}

#[test]
fn what_cannot_be_modelled_is_refused() {
    let place = Place::new(&quadratic(3, 10, &format!("{RING}{SMTPP}")));
    let file = place.file.to_str().unwrap();
    let words = ["model", file, "--latency", "2us", "--bandwidth", "1GB/s"];
    refused(&["model", file, "--latency", "2", "--bandwidth", "1GB/s"], "a time with its unit is needed");
    refused(&[&words[..], &["--processes", "0"]].concat(), "0 processes: 1 to 16384 are possible");
    let told =
        output(&[&words[..], &["--processes", "1,3", "--agents", "3", "--agent-time", "1us"]].concat());
    let text = String::from_utf8(told.stdout).unwrap();
    assert!(told.status.success() && text.lines().count() == 4, "{text}");
}

#[test]
fn plans_need_a_host_for_each_agent() {
    let place = Place::new(&quadratic(3, 10, &format!("{RING}{SMTPP}")));
    let hosts = place.path("hosts.toml");
    let out = place.path("plan");
    let plan = |text: &str, words: &str| {
        std::fs::write(&hosts, text).unwrap();
        let [file, hosts, out] = [&place.file, &hosts, &out].map(|path| path.to_str().unwrap());
        refused(&["plan", file, "--hosts", hosts, "--out", out], words);
        assert!(!std::path::Path::new(out).exists());
    };
    plan(&hosts_file(2), "there are 3 agents, and 2 hosts: give one for each");
    plan("[[agent]]\naddress = 5", "hosts.toml");
    plan("", "missing field `agent`");
}

#[test]
fn configs_are_read_strictly_and_leave_no_trace() {
    let place = Place::new(&quadratic(3, 10, &format!("{RING}{SMTPP}")));
    let crew = Crew::plan(&place, 3, &[]);
    let whole = std::fs::read_to_string(crew.config(0)).unwrap();
    let config = crew.config(0);
    for (from, to, words) in [
        ("format = 3", "format = 1", "`format` = 1 is of another version"),
        ("protocol = 2", "protocol = 9", "`protocol` = 9 is of another version"),
        ("record_every = 10", "record_every = 0", "`record_every` = 0 is not possible"),
        ("record_every", "record_evry", "record_evry"),
        ("look_every = 10", "look_every = 3", "`look_every` = 3 is not possible: it must divide"),
        ("look_every = 10", "look_every = 5", "the config was changed after it was planned"),
        ("checkpoint_every = 100", "checkpoint_every = 10", "the config was changed after it was planned"),
        ("code = \"", "code = \"x", "all agents must be of one build"),
        ("agent = 0", "agent = 3", "`agent` = 3 of 3 is not possible"),
        ("kind = \"smtpp\"", "kind = \"smtp\"", "did you mean `smtpp`?"),
        ("size = 0.05", "size = 0.06", "the config was changed"),
        ("precision = \"f64\"", "precision = \"f16\"", "it must be \"f64\" or \"f32\""),
        ("precision = \"f64\"", "precision = \"f32\"", "the config was changed after it was planned"),
        ("[0, 0.5]", "[0, 0.4]", "of the mixing weights sums to"),
        ("kind = \"quadratic\"", "kind = \"quadrati\"", "the config was changed after it was planned"),
        ("patience = 600.0", "patience = -1.0", "`patience` = -1 is not possible"),
        ("lag = ", "lag = 1", "the config was changed after it was planned"),
        ("listen = \"tcp/", "listen = \"", "is not an endpoint such as tcp/"),
        ("metrics = \"127.0.0.1:", "metrics = \"127.0.0.1/", "it is an address such as"),
    ] {
        assert!(whole.contains(from), "{from} in {whole}");
        std::fs::write(&config, whole.replacen(from, to, 1)).unwrap();
        refused(&["run", config.to_str().unwrap()], words);
        assert!(!crew.folder.join("agent-0").exists(), "{to}");
    }
    refused(&["run", "no-such-config.toml"], "no-such-config.toml");
}

/// Files are copied by hand: one that was mixed up must not give another answer.
#[test]
fn rows_of_another_agent_are_refused() {
    let place = Place::new(&a9a(3, 10, RING));
    let crew = Crew::plan(&place, 3, &[]);
    std::fs::copy(crew.folder.join("shard-1.libsvm"), crew.folder.join("shard-0.libsvm")).unwrap();
    refused(&["run", crew.config(0).to_str().unwrap()], "not the rows that were planned for agent 0");
    assert!(!crew.folder.join("agent-0").exists());
}

#[test]
fn checkpoints_of_another_run_are_not_written_over() {
    let place = Place::new(&quadratic(3, 10, &format!("{RING}{SMTPP}")));
    let crew = Crew::plan(&place, 3, &[]);
    let state = crew.folder.join("agent-0");
    std::fs::create_dir(&state).unwrap();
    std::fs::write(state.join("checkpoint-a"), "something else").unwrap();
    refused(&["run", crew.config(0).to_str().unwrap()], "holds no whole checkpoint");
    assert_eq!(std::fs::read_to_string(state.join("checkpoint-a")).unwrap(), "something else");
}
