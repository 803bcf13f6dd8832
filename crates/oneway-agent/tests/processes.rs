//! Agents as processes of an operating system: started twice, stopped, started again when all is over.
#![allow(clippy::unwrap_used)]

mod crew;

use std::time::Duration;

use crew::{Crew, Place, a9a, complaint, output, quadratic};

const RING: &str = "[[topology]]\nname = \"ring\"\nkind = \"ring\"\n";

fn soon() -> Duration {
    Duration::from_secs(300)
}

/// The second finds the first at work, and touches nothing.
#[test]
fn an_agent_that_runs_is_not_started_twice() {
    let place = Place::new(&a9a(3, 3000, RING));
    let mut crew = Crew::plan(&place, 3, &[]);
    crew.start_all();
    crew.wait_for_words(1, "agent 0 is there", soon());
    let again = output(&["run", crew.config(1).to_str().unwrap()]);
    if crew.children[1].as_mut().unwrap().try_wait().unwrap().is_none() {
        assert_eq!(again.status.code(), Some(2), "{}", complaint(&again));
        assert!(complaint(&again).contains("this agent runs already"), "{}", complaint(&again));
    }
    crew.assert_simulated(&place, soon());
}

/// SIGTERM to everyone, also to who never waits, says 75; and all go on later.
#[test]
fn whoever_is_asked_to_stop_stops_and_goes_on_later() {
    let place = Place::new(&a9a(3, 20_000, RING));
    let mut crew = Crew::plan(&place, 3, &["--checkpoint-every", "50"]);
    crew.start_all();
    crew.wait_for_words(2, "agent 1 is there", soon());
    std::thread::sleep(Duration::from_millis(300));
    (0..3).for_each(|agent| crew.signal(agent, "TERM"));
    for agent in 0..3 {
        let code = crew.wait(agent, Duration::from_secs(30)).code();
        assert!(code == Some(75) || code == Some(0), "agent {agent}: {code:?}\n{}", crew.log(agent));
    }
    crew.start_all();
    crew.assert_simulated(&place, soon());
}

/// A run that diverged stays as it ended, whoever is started again; those cut off in a round do their last rounds once more.
#[test]
fn a_run_that_diverged_can_be_looked_at_again() {
    let rest =
        format!("{RING}[[method]]\nname = \"too long\"\nkind = \"smtpp\"\nstep = {{ size = 400.0 }}\n");
    let place = Place::new(&quadratic(4, 5000, &rest));
    let mut crew = Crew::plan(&place, 4, &["--guard", "1e300", "--patience", "20"]);
    for _ in 0..2 {
        crew.start_all();
        crew.assert_simulated(&place, soon());
    }
}
