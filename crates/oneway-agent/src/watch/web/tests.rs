use std::time::Duration;

use oneway::graph::{Graph, Topology};

use super::*;
use crate::plan::ties::Ties;
use crate::watch::status::Status;
use crate::wire::frame::Moment as At;

fn web(agents: usize) -> Web {
    Web {
        title: "test".to_owned(),
        addresses: vec!["127.0.0.1:1".to_owned(); agents],
        network: Network { agents, ..Network::default() },
        rounds: 500,
        began: Instant::now(),
        before: vec![None; agents],
        history: History::default(),
    }
}

#[test]
fn it_says_who_waits_for_whom_and_what_links_carry() {
    let topology = Topology::complete(3).unwrap();
    let status = |agent| Status::new(&Ties::from_topology(&topology, agent), 500);
    let [first, second] = [status(0), status(1)];
    for (round, status) in [(100, &first), (90, &second)] {
        status.reach(round, Duration::ZERO);
        status.loss(0.5);
    }
    second.wait(2, Graph::Pull, At::default());
    first.received(1, 1000);
    std::thread::sleep(Duration::from_millis(600));
    let (mut web, hub) = (web(3), Hub::default());
    let reports = vec![Some(first.report()), Some(second.report()), None];
    let crew = web.crew(&reports);
    assert_eq!(
        crew.agents.iter().map(|agent| agent.state).collect::<Vec<_>>(),
        ["working", "waiting", "silent"]
    );
    assert!(matches!(crew.agents[1].waits, Some((2, seconds)) if seconds >= 0.5));
    assert_eq!((crew.agents[1].behind, crew.agents[0].bytes), (10, [1000, 0]));
    let [link] = &crew.links[..] else { panic!("{crew:?}") };
    assert_eq!((link.from, link.to, link.bytes), (1, 0, 1000));
    assert!(link.rate.unwrap() > 100.0 && link.rate.unwrap() < 1700.0, "{link:?}: 1000 bytes in 0.6 s");
    assert_eq!(web.head(&reports, false).about, "1 of 3 agents do not answer");
    web.publish(reports, None, &hub);

    // rates are those since the last look
    first.reach(160, Duration::ZERO);
    std::thread::sleep(Duration::from_millis(300));
    let now = web.crew(&[Some(first.report()), None, None]);
    let rate = now.agents[0].rate.unwrap();
    assert!(rate > 20.0 && rate < 210.0, "60 rounds in 0.3 s: {rate}");
    assert_eq!(now.links[0].rate, Some(0.0));
    assert_eq!(web.head(&[None, None, None], false).state, "died");
}

#[test]
fn history_is_bounded() {
    let mut history = History::default();
    for k in 0..20_000 {
        let seconds = f64::from(k);
        let nothing = f64::NAN;
        history.push(Moment {
            seconds,
            round: seconds,
            loss: nothing,
            consensus: nothing,
            own_loss: nothing,
            rate: 1.0,
            bytes: nothing,
            behind: 0.0,
            waiting: 0.0,
        });
    }
    let curve = history.curve();
    assert!(curve.x["seconds"].len() <= 4096 && curve.x["seconds"].len() > 500);
    assert!(!curve.y.contains_key("loss"), "what nobody knows is not offered");
}
