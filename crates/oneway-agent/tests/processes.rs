//! Agents as processes of an operating system: started twice, stopped, started again when all is over.
#![allow(clippy::unwrap_used)]

mod crew;

use std::time::Duration;

use crew::{Crew, Place, RING, SMTPP, a9a, complaint, output, quadratic, soon};

/// The second finds the first at work, and touches nothing.
#[test]
fn an_agent_that_runs_is_not_started_twice() {
    let place = Place::new(&a9a(3, 3000, RING));
    let mut crew = Crew::plan(&place, 3, &[]);
    crew.start(1); // and waits for the others
    crew.wait_for_words(1, "waiting for the pull row of round 0", soon());
    let again = output(&["run", crew.config(1).to_str().unwrap()]);
    assert_eq!(again.status.code(), Some(75), "{}", complaint(&again));
    assert!(
        complaint(&again).contains("this agent runs already; start this agent again"),
        "{}",
        complaint(&again)
    );
    crew.start(0);
    crew.start(2);
    crew.assert_simulated(&place, soon());
}

/// SIGTERM to everyone, also to who never waits, says 75; and all go on later.
#[test]
fn whoever_is_asked_to_stop_stops_and_goes_on_later() {
    let place = Place::new(&a9a(3, 20_000, RING));
    let mut crew = Crew::plan(&place, 3, &["--checkpoint-every", "50"]);
    crew.start_all();
    crew.wait_for_states(2, 50_000, soon());
    (0..3).for_each(|agent| crew.signal(agent, "TERM"));
    for agent in 0..3 {
        assert_eq!(crew.wait(agent, Duration::from_secs(30)).code(), Some(75), "{}", crew.log(agent));
    }
    crew.start_all();
    crew.assert_simulated(&place, soon());
}

/// Without checkpoints there is nothing to go on from, and that is what is said.
#[test]
fn who_stops_without_checkpoints_says_what_is_lost() {
    let place = Place::new(&a9a(3, 1_000_000, RING));
    let mut crew = Crew::plan(&place, 3, &["--checkpoint-every", "0"]);
    crew.start_all();
    crew.wait_for_states(0, 50_000, soon());
    crew.signal(0, "TERM");
    assert_eq!(crew.wait(0, Duration::from_secs(30)).code(), Some(1), "{}", crew.log(0));
    assert!(crew.log(0).contains("stopped; there are no checkpoints"), "{}", crew.log(0));
}

/// Somebody else listens where an agent would: its own last process, perhaps, so that it is worth trying
/// again. Metrics nobody needs.
#[test]
fn an_address_that_is_taken_can_be_tried_again() {
    let place = Place::new(&quadratic(3, 200, &format!("{RING}{SMTPP}")));
    let mut crew = Crew::plan(&place, 3, &[]);
    let taken = std::net::TcpListener::bind(crew.address(0)).unwrap();
    let _metrics = std::net::TcpListener::bind(crew.metrics(1)).unwrap();
    crew.start_all();
    assert_eq!(crew.wait(0, soon()).code(), Some(75), "{}", crew.log(0));
    assert!(crew.log(0).contains("; start this agent again"), "{}", crew.log(0));
    assert!(crew.log(1).contains("trying again"), "{}", crew.log(1));
    drop(taken);
    crew.start(0);
    crew.assert_simulated(&place, soon());
}

/// A plan is all there is to it: the dataset is not needed where agents run.
#[test]
fn agents_need_their_own_rows_only() {
    let line = |row: usize| format!("{} 1:{} 2:{} 3:0.5\n", row % 3, row as f64 / 40.0, row % 7);
    let rows: String = (0..40).map(line).collect();
    for kind in ["softmax", "two-layer"] {
        let place = Place::new(&format!(
            "[problem]\nkind = \"{kind}\"\ndataset = \"rows.txt\"\npartition = \"by-label\"\n\
[run]\nagents = 3\niterations = 50\nseed = 4\n{RING}{SMTPP}"
        ));
        let [data, elsewhere] = ["rows.txt", "elsewhere.txt"].map(|name| place.path(name));
        std::fs::write(&data, &rows).unwrap();
        let mut crew = Crew::plan(&place, 3, &[]);
        std::fs::rename(&data, &elsewhere).unwrap();
        crew.start_all();
        (0..3).for_each(|agent| assert!(crew.wait(agent, soon()).success(), "{}", crew.log(agent)));
        std::fs::rename(&elsewhere, &data).unwrap();
        crew.assert_simulated(&place, soon());
    }
}

/// As a service has it: the config in one place, the state in another.
#[test]
fn states_can_be_kept_elsewhere() {
    let place = Place::new(&quadratic(3, 50, &format!("{RING}{SMTPP}")));
    let mut crew = Crew::plan(&place, 3, &[]);
    for agent in 0..3 {
        let elsewhere = place.path(&format!("state-{agent}"));
        crew.start_by(agent, crew::agent(), &["--state", elsewhere.to_str().unwrap()]);
    }
    (0..3).for_each(|agent| assert!(crew.wait(agent, soon()).success(), "{}", crew.log(agent)));
    for agent in 0..3 {
        let beside = crew.folder.join(format!("agent-{agent}"));
        assert!(!beside.exists());
        std::fs::rename(place.path(&format!("state-{agent}")), beside).unwrap();
    }
    crew.assert_simulated(&place, soon());
}

/// Killed when its hearers know that it is near its end, and its neighbours are done: it comes back to
/// nobody, and knows that.
#[test]
fn who_comes_back_after_the_end_finds_it_noted() {
    let place = Place::new(&quadratic(3, 200, &format!("{RING}{SMTPP}")));
    let mut crew = Crew::plan(&place, 3, &[]);
    crew.start_all();
    crew.assert_simulated(&place, soon());
    crew.start(1);
    crew.assert_simulated(&place, Duration::from_secs(60));
}

/// A run that diverged stays as it ended, whoever is started again, alone or with others.
#[test]
fn a_run_that_diverged_can_be_looked_at_again() {
    let rest =
        format!("{RING}[[method]]\nname = \"too long\"\nkind = \"smtpp\"\nstep = {{ size = 400.0 }}\n");
    let place = Place::new(&quadratic(5, 5000, &rest));
    let options = ["--guard", "1e300", "--patience", "20", "--checkpoint-every", "1"];
    let mut crew = Crew::plan(&place, 5, &options);
    for _ in 0..2 {
        crew.start_all();
        crew.assert_simulated(&place, soon());
    }
    for agent in 0..5 {
        crew.start(agent);
        crew.assert_simulated(&place, soon());
    }
}

/// Who is done, and has served long enough, says that others may still need it: that is not the same as being
/// of no more use.
#[test]
fn who_leaves_before_its_hearers_are_done_says_so() {
    let place = Place::new(&quadratic(3, 50, &format!("{RING}{SMTPP}")));
    let mut crew = Crew::plan(&place, 3, &[]);
    crew.start_all();
    crew.assert_simulated(&place, soon());
    std::fs::remove_file(crew.folder.join("agent-0/ends.json")).unwrap();
    crew.edit(0, "linger = 600.0", "linger = 1.0");
    crew.start(0);
    assert_eq!(crew.wait(0, soon()).code(), Some(75), "{}", crew.log(0));
    assert!(crew.log(0).contains("done, but not all that hear this agent are"), "{}", crew.log(0));
}

/// An address at which it can never listen is named at once.
#[test]
fn an_address_of_no_machine_or_another_is_named() {
    let place = Place::new(&quadratic(3, 50, &format!("{RING}{SMTPP}")));
    for host in ["no-such-host.invalid", "192.0.2.1"] {
        let mut crew = Crew::plan(&place, 3, &[]);
        let listen = format!("tcp/{}", crew.address(0));
        crew.edit(0, &format!("listen = \"{listen}\""), &format!("listen = \"tcp/{host}:7450\""));
        crew.start(0);
        assert_eq!(crew.wait(0, Duration::from_secs(60)).code(), Some(75), "{}", crew.log(0));
        assert!(crew.log(0).contains(&format!("listening at tcp/{host}:7450: ")), "{}", crew.log(0));
    }
}

/// Data, states and rows are nobody else's business.
#[cfg(unix)]
#[test]
fn what_is_written_only_its_owner_may_read() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new(&a9a(3, 50, RING));
    let mut crew = Crew::plan(&place, 3, &["--checkpoint-every", "10"]);
    crew.start_all();
    crew.assert_simulated(&place, soon());
    let mut folders = vec![crew.folder.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            let is_folder = entry.file_type().unwrap().is_dir();
            if entry.path().extension().is_some_and(|extension| extension == "log") {
                continue; // the test's own
            }
            assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "{}", entry.path().display());
            folders.extend(is_folder.then(|| entry.path()));
        }
    }
}
