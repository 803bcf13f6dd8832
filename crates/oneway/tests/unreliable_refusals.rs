//! What runs on a network that fails, and what is refused.
#![allow(clippy::unwrap_used)]

use oneway::codec::Identity;
use oneway::engine::Schedule;
use oneway::engine::Setup;
use oneway::engine::asynchronous::{Asynchronous, Clock};
use oneway::engine::unreliable::{self, Absence, Churn, Faults, Unreliable};
use oneway::graph::Digraph;
use oneway::graph::mixing::{Link, Mixing, Stochastic};
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::method::Method;
use oneway::methods::combine::{Compressed, Damping, MultiGossip};
use oneway::methods::{Csgdm, KINDS, Kind, PUSH_PULL};
use oneway::problem::Problem;

use crate::common::{build, quadratic};

fn setup<'a>(method: &'a dyn Method, problem: &'a dyn Problem, topology: &'a Topology, η: f64) -> Setup<'a> {
    Setup { method, problem, topology, schedule: Schedule::constant(η).unwrap(), seed: 5 }
}

fn bears_loss(kind: &Kind) -> bool {
    let complete = Topology::complete(3).unwrap();
    unreliable::check(&*build(kind), &complete, &Faults { loss: 0.1, ..Faults::default() }).is_ok()
}

/// Those that do not, by name, so that none slips in.
#[test]
fn only_these_need_every_message() {
    let mut refused: Vec<&str> =
        KINDS.iter().filter(|kind| !bears_loss(kind)).map(|kind| kind.name).collect();
    let several_exchanges = ["dsmt", "dsmt-lca", "multi-gossip", "local-dsmt"];
    let copies = ["compressed-smtpp", "cpp", "rcpp", "c-gt", "beer", "motef"];
    let trackers_not_pushed = ["frost", "exact-diffusion", "d2"];
    let centralised = ["csgdm", "sgd", "central-storm", "adam"];
    let mut expected = [&several_exchanges[..], &copies, &trackers_not_pushed, &centralised].concat();
    expected.sort_unstable();
    refused.sort_unstable();
    assert_eq!(refused, expected);
}

#[test]
fn methods_that_need_every_message_are_refused_with_the_reason() {
    let problem = quadratic(3, 0.0);
    let complete = Topology::complete(3).unwrap();
    let refused = |method: &dyn Method, topology: &Topology| {
        let faults = Faults { loss: 0.1, ..Faults::default() };
        Unreliable::new(setup(method, &problem, topology, 0.1), faults).unwrap_err().to_string()
    };
    assert!(refused(&Csgdm::new(0.1).unwrap(), &complete).contains("centralised"));
    let twice = MultiGossip::new("twice", Box::new(PUSH_PULL), 2).unwrap();
    assert!(refused(&twice, &complete).contains("several times a round"));

    // strongly connected and not periodic, but agent 2 keeps nothing of its own
    let links = [(0, 0, 0.5), (0, 1, 0.5), (1, 1, 0.5), (1, 2, 0.5), (2, 0, 1.0)];
    let links = links.map(|(from, to, weight)| Link { from, to, weight });
    let push = Mixing::new(3, Stochastic::Columns, links).unwrap();
    let topology = Topology::fixed(Mixing::complete(3), push).unwrap();
    let sgp = build(oneway::methods::kind("sgp").unwrap());
    assert!(refused(&*sgp, &topology).contains("push-sum weights"));
    let late = Asynchronous::new(setup(&*sgp, &problem, &topology, 0.1), Clock::EVEN).unwrap_err();
    assert!(late.to_string().contains("push-sum weights"), "{late}");

    let apart = Digraph::from_edges(3, [(0, 1)]).unwrap();
    let apart = Topology::from_digraphs(&[apart], Subgraph::Full, Weights::Uniform, 0).unwrap();
    assert!(refused(&PUSH_PULL, &apart).contains("no common root"));
    let four = Topology::complete(4).unwrap();
    assert!(refused(&PUSH_PULL, &four).contains("the problem has 3 agents, the topology 4"));
}

#[test]
fn faults_that_cannot_be_say_what_would_be_right() {
    let listed = |agent, from, to| Churn::Listed(vec![Absence { agent, from, to }]);
    let none = Faults::default;
    for (faults, words) in [
        (Faults { loss: -0.1, ..none() }, "`loss` = -0.1 is not possible: it must be from 0 to less than 1"),
        (Faults { loss: 1.0, ..none() }, "less than 1"),
        (Faults { loss: f64::NAN, ..none() }, "less than 1"),
        (Faults { delay: 1001, ..none() }, "`delay` = 1001 is not possible: it must be at most 1000 rounds"),
        (Faults { churn: Churn::Drawn { up: 0.5, down: 2.0 }, ..none() }, "`churn.up` = 0.5"),
        (Faults { churn: Churn::Drawn { up: 5.0, down: f64::INFINITY }, ..none() }, "`churn.down` = inf"),
        (
            Faults { churn: listed(3, 0, 1), ..none() },
            "`churn.agent` = 3 is not possible: with 3 agents the ids are 0 to 2",
        ),
        (
            Faults { churn: listed(2, 5, 5), ..none() },
            "agent 2 leaves in round 5 and must come back in a later one",
        ),
    ] {
        let message = faults.check(3).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
        let (problem, topology) = (quadratic(3, 0.0), Topology::complete(3).unwrap());
        assert!(Unreliable::new(setup(&PUSH_PULL, &problem, &topology, 0.1), faults).is_err());
    }
    assert!(none().are_none() && none().check(1).is_ok());
}

/// Without copies, compression with γ < 1 hands on only a share of what is sent: what is on its way could not
/// be counted.
#[test]
fn what_is_not_sent_whole_is_refused() {
    let (problem, complete) = (quadratic(3, 0.0), Topology::complete(3).unwrap());
    for name in ["sgp", "push-diging", "push-pull", "smtpp"] {
        let sgp = build(oneway::methods::kind(name).unwrap());
        let method = Compressed::new(name, sgp, Box::new(Identity), [Damping::direct(0.5); 2]).unwrap();
        let faults = Faults { loss: 0.1, ..Faults::default() };
        let lossy = Unreliable::new(setup(&method, &problem, &complete, 0.1), faults).unwrap_err();
        let late = Asynchronous::new(setup(&method, &problem, &complete, 0.1), Clock::EVEN).unwrap_err();
        for error in [lossy, late] {
            assert!(
                error.to_string().contains("not sent as it is, but compressed with a share γ < 1"),
                "{error}"
            );
        }
    }
}
