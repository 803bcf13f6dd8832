//! Agents on their own: late, cut off, left alone, among strangers. The answer is the simulator's, or the reason is named.
#![allow(clippy::unwrap_used)]

mod crew;

use std::time::{Duration, Instant};

use crew::proxy::Proxy;
use crew::{Crew, Place, RING, SMTPP, a9a, quadratic, soon};

#[test]
fn an_agent_that_starts_late_is_waited_for_by_name() {
    let place = Place::new(&quadratic(3, 200, &format!("{RING}{SMTPP}")));
    let mut crew = Crew::plan(&place, 3, &[]);
    crew.start(0);
    crew.start(1);
    crew.wait_for_words(0, "waiting for the pull row of round 0 from agent 2", soon());
    crew.start(2);
    crew.assert_simulated(&place, soon());
}

/// Both neighbours of a link die, one after the other, at different rounds: what one needs the other sent before its own checkpoint.
#[test]
fn neighbours_that_die_together_find_each_other_again() {
    let place = Place::new(&a9a(4, 3000, RING));
    let mut crew = Crew::plan(&place, 4, &["--checkpoint-every", "10"]);
    crew.start_all();
    for (number, pair) in (1..).zip([[0, 1], [2, 1], [3, 0], [0, 1], [1, 2]]) {
        crew.wait_for_states(pair[0], number * 60_000, soon());
        pair.into_iter().for_each(|agent| crew.kill(agent));
        pair.into_iter().for_each(|agent| crew.start(agent));
    }
    crew.assert_simulated(&place, soon());
    let from = |agent| crew.log(agent).contains("resuming from the checkpoint of round ");
    assert!((0..4).all(from), "they were killed in the middle");
}

/// The link between agents 1 and 2, which is slowed down first, so that there are rounds left to be cut off.
fn cut_for_five_seconds(topology: &str) {
    const AGENTS: usize = 8;
    let place = Place::new(&a9a(AGENTS, 500, topology));
    let mut crew = Crew::plan(&place, AGENTS, &[]);
    let direct = crew.address(1);
    let proxy = Proxy::to(direct.clone());
    proxy.delay(Duration::from_millis(10));
    crew.edit(2, &format!("tcp/{direct}"), &format!("tcp/{}", proxy.address));
    crew.start_all();
    crew.wait_for_states(2, 2_000, soon());
    let before: Vec<usize> = (0..AGENTS).map(|agent| crew.log(agent).len()).collect();
    proxy.cut(true);
    std::thread::sleep(Duration::from_secs(5));
    proxy.cut(false);
    proxy.delay(Duration::ZERO);
    crew.assert_simulated(&place, soon());
    let waited = |agent: usize| crew.log(agent)[before[agent]..].contains("waiting for the");
    assert!((0..AGENTS).any(waited), "the cut was felt");
}

#[test]
fn a_link_of_the_exponential_graph_that_is_cut_for_five_seconds_changes_nothing() {
    cut_for_five_seconds("[[topology]]\nname = \"exponential\"\nkind = \"exponential\"\n");
}

#[test]
fn a_link_of_the_flower_that_is_cut_for_five_seconds_changes_nothing() {
    cut_for_five_seconds("[[topology]]\nname = \"flower\"\nkind = \"flower\"\npetals = 3\n");
}

/// Every connection goes through a proxy that passes bytes on in pieces of any length, each some milliseconds late.
#[test]
fn bytes_that_come_late_and_in_pieces_change_nothing() {
    const AGENTS: usize = 4;
    let place =
        Place::new(&a9a(AGENTS, 300, "[[topology]]\nname = \"exponential\"\nkind = \"exponential\"\n"));
    let mut crew = Crew::plan(&place, AGENTS, &[]);
    for dialled in 0..AGENTS - 1 {
        let direct = crew.address(dialled);
        let proxy = Proxy::to(direct.clone());
        proxy.delay(Duration::from_millis(4));
        for dialler in dialled + 1..AGENTS {
            crew.edit(dialler, &format!("tcp/{direct}"), &format!("tcp/{}", proxy.address));
        }
    }
    let began = Instant::now();
    crew.start_all();
    crew.assert_simulated(&place, soon());
    assert!(began.elapsed() > Duration::from_millis(500), "the delays were felt: {:?}", began.elapsed());
}

/// An agent that is stopped four fifths of the time is waited for, and catches up when it is left alone.
#[test]
fn a_slow_agent_changes_nothing() {
    let place = Place::new(&a9a(4, 4000, "[[topology]]\nname = \"exponential\"\nkind = \"exponential\"\n"));
    let mut crew = Crew::plan(&place, 4, &[]);
    crew.start_all();
    crew.wait_for_words(2, "agent 1 is there", soon());
    for _ in 0..16 {
        crew.signal(2, "STOP");
        std::thread::sleep(Duration::from_millis(200));
        crew.signal(2, "CONT");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(crew.children[2].as_mut().unwrap().try_wait().unwrap().is_none(), "it ran while it was slow");
    crew.assert_simulated(&place, soon());
}

#[test]
fn who_is_left_alone_says_by_whom_and_can_go_on_later() {
    let place = Place::new(&quadratic(3, 200, &format!("{RING}{SMTPP}")));
    let mut crew = Crew::plan(&place, 3, &["--patience", "3.5"]);
    crew.start(0);
    crew.start(1);
    let status = crew.wait(0, soon());
    assert_eq!(status.code(), Some(75), "{}", crew.log(0));
    for words in [
        "agent 2 is away: waited for its pull row of round 0 for ",
        "the state is kept: start this agent again",
    ] {
        assert!(crew.log(0).contains(words), "{}", crew.log(0));
    }
    crew.wait(1, soon());
    (0..3).for_each(|agent| crew.edit(agent, "patience = 3.5", "patience = 300.0"));
    crew.start_all();
    crew.assert_simulated(&place, soon());
}

#[test]
fn a_stranger_is_refused_and_told_why() {
    let [place, other] = [RING, "[[topology]]\nname = \"ring\"\nkind = \"complete\"\n"]
        .map(|graph| Place::new(&quadratic(3, 200, &format!("{graph}{SMTPP}"))));
    let mut crew = Crew::plan(&place, 3, &["--patience", "10"]);
    let mut stranger = Crew::plan(&other, 3, &["--patience", "10"]);
    // agent 2 of the other run, where agent 2 of this one should be
    let ours = std::fs::read_to_string(crew.config(2)).unwrap();
    let network =
        |text: &str| text[text.find("[network]").unwrap()..text.find("[method]").unwrap()].to_owned();
    let theirs = std::fs::read_to_string(stranger.config(2)).unwrap();
    stranger.edit(2, &network(&theirs), &network(&ours));
    crew.start(0);
    crew.start(1);
    stranger.start(2);
    crew.wait_for_words(0, "refused agent 2: its topology is ", soon());
    stranger.wait_for_words(2, "refused agent 0: its topology is ", soon());
    assert_eq!(crew.wait(0, soon()).code(), Some(75));
}
