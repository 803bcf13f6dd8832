//! Whole experiments as processes: the simulator's `curves.csv` and hashes, whoever is killed.
#![allow(clippy::unwrap_used)]

mod crew;

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crew::{Place, RING, SMTPP, a9a, agent, complaint, output, quadratic, soon};

fn launch(place: &Place, options: &[&str]) -> std::path::PathBuf {
    let out = place.path("out");
    let base = ["launch", place.file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let done = output(&[&base[..], options].concat());
    assert!(done.status.success(), "{}", complaint(&done));
    if let Some(kills) = options.iter().position(|option| *option == "--kill") {
        let said = format!("  {} agents were killed and started again", options[kills + 1]);
        assert_eq!(complaint(&done).matches(&said).count(), place.topologies(), "{}", complaint(&done));
    }
    out
}

const EXPONENTIAL: &str = "[[topology]]\nname = \"exponential\"\nkind = \"exponential\"\n";
const FLOWER: &str = "[[topology]]\nname = \"flower\"\nkind = \"flower\"\npetals = 3\n";

/// v̄ = m̄ (Lemma 2) at every point of the curves, except for rounding.
fn assert_conserved(out: &std::path::Path) {
    let curves = std::fs::read_to_string(out.join("curves.csv")).unwrap();
    let mut lines = curves.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(','));
    let column = lines.next().unwrap().position(|name| name == "conservation_error").unwrap();
    let errors: Vec<f64> = lines.map(|mut line| line.nth(column).unwrap().parse().unwrap()).collect();
    assert!(errors.len() >= 26, "{} points", errors.len());
    assert!(errors.iter().all(|error| *error < 1e-14), "{errors:?}");
}

#[test]
fn smtpp_on_a9a_has_the_simulators_curves_and_hashes() {
    let place = Place::new(&a9a(8, 500, &format!("{EXPONENTIAL}{FLOWER}")));
    let out = launch(&place, &[]);
    place.assert_simulated(&out);
    assert_conserved(&out);
}

fn twenty_kills(graph: &str) {
    let place = Place::new(&a9a(8, 500, graph));
    let out = launch(&place, &["--kill", "20", "--checkpoint-every", "25"]);
    place.assert_simulated(&out);
    assert_conserved(&out);
}

#[test]
fn twenty_kills_on_the_exponential_graph_change_nothing() {
    twenty_kills(EXPONENTIAL);
}

#[test]
fn twenty_kills_on_the_flower_change_nothing() {
    twenty_kills(FLOWER);
}

#[test]
fn kills_change_nothing_where_links_have_certificates() {
    let place = Place::new(&a9a(4, 500, EXPONENTIAL));
    let out = launch(&place, &["--secure", "--kill", "8", "--checkpoint-every", "25"]);
    place.assert_simulated(&out);
}

/// Push-sum, several exchanges a round, compression, trees, links that change with the round, and everyone
/// with everyone.
#[test]
fn methods_of_every_kind_run_on_networks_of_every_kind() {
    let methods = "[[method]]\nname = \"SGP\"\nkind = \"sgp\"\nstep = { size = 0.05 }\n\
[[method]]\nname = \"gossip\"\nkind = \"push-pull\"\ngossip = 2\nstep = { size = 0.05, scaling = \"effective\" }\n";
    let fixed = "[[method]]\nname = \"compressed\"\nkind = \"compressed-smtpp\"\nstep = { size = 0.02, scaling = \"effective\" }\n\
[[method]]\nname = \"trees\"\nkind = \"smtpp\"\ngraph = \"trees\"\nstep = { size = 0.02, scaling = \"effective\" }\n\
[[method]]\nname = \"central\"\nkind = \"csgdm\"\nstep = { size = 0.05 }\n";
    let one_peer = "[[topology]]\nname = \"changing\"\nkind = \"one-peer-exponential\"\n";
    let ring = "[[topology]]\nname = \"ring\"\nkind = \"ring\"\n";
    for rest in [format!("{one_peer}{methods}"), format!("{ring}{methods}{fixed}")] {
        let place = Place::new(&quadratic(4, 40, &rest));
        place.assert_simulated(&launch(&place, &[]));
    }
}

#[test]
fn a_run_that_diverges_ends_as_in_the_simulator() {
    let rest = "[[topology]]\nname = \"ring\"\nkind = \"ring\"\n\
[[method]]\nname = \"too long\"\nkind = \"smtpp\"\nstep = { size = 400.0 }\n";
    let place = Place::new(&quadratic(4, 5000, rest));
    for _ in 0..2 {
        place.assert_simulated(&launch(&place, &[])); // what was finished is found
    }
}

/// Rows that are shared out, with every rule, and problems that are given whole.
#[test]
fn problems_of_every_kind_have_the_simulators_bits() {
    for problem in [
        "kind = \"logistic\"\ndataset = \"a9a\"\npartition = \"by-label\"\nbatch = 4",
        "kind = \"logistic\"\ndataset = \"a9a\"\npartition = { dirichlet = 0.1 }\nseed = 9",
        "kind = \"least-squares\"\ndataset = \"synthetic\"\nfeatures = 6\nrows = 90\npartition = \"shuffled\"\nintercept = true",
        "kind = \"robust\"\ndataset = \"synthetic\"\nfeatures = 6\nrows = 90\noutliers = 0.1\nbatch = \"full\"",
        "kind = \"softmax\"\ndataset = \"digits\"\npartition = \"by-label\"",
    ] {
        let experiment = format!(
            "[problem]\n{problem}\n[run]\nagents = 3\niterations = 30\nseed = 4\n\
[[topology]]\nname = \"ring\"\nkind = \"ring\"\n\
[[method]]\nname = \"SMTPP\"\nkind = \"smtpp\"\nstep = {{ size = 0.01, scaling = \"effective\" }}\n"
        );
        let place = Place::new(&experiment);
        place.assert_simulated(&launch(&place, &[]));
    }
}

/// The folder of the only cell of what was launched into `out`.
fn cell_of(out: &Path) -> Option<std::path::PathBuf> {
    Some(std::fs::read_dir(out.join("agents")).ok()?.next()?.ok()?.path())
}

/// Agents end with what launched them, however it ends; when it is launched again they go on, and the rate is
/// that of the rounds done then.
#[test]
fn agents_do_not_outlive_a_launch_that_is_killed() {
    const ROUNDS: u64 = 8_000;
    let place = Place::new(&a9a(3, ROUNDS, RING));
    let out = place.path("out");
    let arguments = ["launch", place.file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let mut launched = agent().args(arguments).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + soon();
    let states = |agent: usize| cell_of(&out).map(|cell| cell.join(format!("agent-{agent}")));
    let is_under_way = |agent: usize| {
        let states = states(agent).map(|folder| folder.join("states"));
        states.and_then(|states| std::fs::metadata(states).ok()).is_some_and(|file| file.len() > 200_000)
    };
    while !(0..3).all(is_under_way) {
        assert!(Instant::now() < until, "it makes no progress");
        std::thread::sleep(Duration::from_millis(5));
    }
    launched.kill().unwrap();
    launched.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    for agent in 0..3 {
        let lock = std::fs::File::open(states(agent).unwrap().join("lock")).unwrap();
        while lock.try_lock().is_err() {
            assert!(Instant::now() < until, "agent {agent} still runs");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    let done = output(&arguments);
    assert!(done.status.success(), "{}", complaint(&done));
    place.assert_simulated(&out);
    let rates = (0..3).map(|agent| {
        let finished = std::fs::read(states(agent).unwrap().join("finished.json")).unwrap();
        let finished: serde_json::Value = serde_json::from_slice(&finished).unwrap();
        assert!(finished["rounds"].as_u64().unwrap() < ROUNDS, "it went on from a checkpoint");
        finished["rounds"].as_f64().unwrap() / finished["seconds"].as_f64().unwrap()
    });
    let rate = rates.fold(f64::INFINITY, f64::min);
    let words = format!("completed after {ROUNDS} rounds, {rate:.0} rounds/s;");
    assert!(complaint(&done).contains(&words), "{words} in {}", complaint(&done));
}

/// Whoever cannot go on is named, with the last that it said, and its code.
#[test]
fn a_launch_ends_with_the_code_of_the_agent_that_cannot_go_on() {
    let rest =
        format!("{RING}[[method]]\nname = \"too long\"\nkind = \"smtpp\"\nstep = {{ size = 400.0 }}\n");
    let place = Place::new(&quadratic(4, 5000, &rest));
    let out = place.path("out");
    let base = ["launch", place.file.to_str().unwrap(), "--out", out.to_str().unwrap()];
    let done = output(&[&base[..], &["--guard", "1e20"]].concat());
    assert_eq!(done.status.code(), Some(1), "{}", complaint(&done));
    assert!(complaint(&done).contains("ended with code 1: "), "{}", complaint(&done));
    assert!(complaint(&done).contains("beyond the guard's 1e20"), "{}", complaint(&done));
}

/// Also after crashes: checkpoints, journals and rows are in single precision.
#[test]
fn single_precision_has_the_simulators_curves_and_hashes() {
    let experiment = quadratic(3, 400, &format!("{RING}{SMTPP}"));
    let place = Place::new(&experiment.replacen("[run]", "[run]\nprecision = \"f32\"", 1));
    let out = launch(&place, &["--kill", "3", "--checkpoint-every", "20"]);
    place.assert_simulated(&out);
    let summary = std::fs::read_to_string(out.join("summary.json")).unwrap();
    assert!(summary.contains("\"f32:"), "{summary}");
}

#[test]
fn a_method_without_single_precision_is_refused_before_anything_is_planned() {
    let encoded = "[[method]]\nkind = \"push-pull\"\ncompress = \"top-k\"\nstep = { size = 0.05 }\n";
    let place = Place::new(&quadratic(3, 10, &format!("{RING}{encoded}")));
    let hosts = place.path("hosts.toml");
    std::fs::write(&hosts, crew::hosts_file(3)).unwrap();
    let [file, hosts, out] =
        [&place.file, &hosts, &place.path("plan")].map(|path| path.to_str().unwrap().to_owned());
    let refused = output(&["plan", &file, "--hosts", &hosts, "--out", &out, "--set", "run.precision=f32"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(complaint(&refused).contains("no single precision"), "{}", complaint(&refused));
    assert!(!std::path::Path::new(&out).exists());
}
