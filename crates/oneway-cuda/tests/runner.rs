//! An experiment on a device: the curves of the processors, and what cannot run there goes on here.
#![allow(clippy::unwrap_used)]

mod common;

use std::path::Path;

use common::host;
use oneway_cuda::OnDevice;
use oneway_experiment::Experiment;
use oneway_experiment::plan::Plan;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::runner::Runner;

const EXPERIMENT: &str = r#"
[problem]
kind = "logistic"
dataset = "a9a"
test = "a9a"

[run]
agents = 6
iterations = 90
repetitions = 2
record_every = 30

[[topology]]
name = "flower"
kind = "flower"
petals = 2

[[topology]]
name = "lossy"
kind = "ring"
loss = 0.1

[[method]]
name = "SMTPP"
kind = "smtpp"
step = { size = 0.1 }

[[method]]
name = "Adam"
kind = "adam"
step = { size = 0.01 }

[[method]]
name = "local"
kind = "smtpp"
local_steps = 2
gossip = 2
step = { size = 0.1 }
only = ["flower"]

[[method]]
name = "few bits"
kind = "smtpp"
compress = { codec = "top-k", fraction = 0.5 }
step = { size = 0.1 }
only = ["flower"]

[[method]]
name = "far too long"
kind = "push-pull"
step = { size = 1e200 }
only = ["flower"]
"#;

#[test]
fn curves_are_those_of_the_processors_and_what_stays_says_why() {
    let plan = Plan::new(&Experiment::parse(EXPERIMENT, Path::new(""), &[]).unwrap()).unwrap();
    let run = |runner: &Runner| runner.run(&plan.cells(), &CellStore::none(), false).unwrap();
    let here = run(&Runner::new(Some(2)).unwrap());
    let device = Runner::new(Some(2)).unwrap().on(Box::new(OnDevice(host(1))));
    let there = run(&device);
    assert_eq!(here.len(), there.len());
    for (here, there) in here.iter().zip(&there) {
        let (end, expected) = (&there.result.end, &here.result.end);
        assert_eq!(end.state_hash, expected.state_hash, "{}", here.cell);
        assert_eq!((end.status, end.rounds), (expected.status, expected.rounds), "{}", here.cell);
        assert_eq!(there.result.points, here.result.points, "{}", here.cell);
    }
    let mut stayed = device.stayed();
    stayed.sort();
    let expected = [
        ("flower · few bits", "its messages are encoded, and a code looks at whole vectors"),
        ("lossy · SMTPP", "the links of its network fail"),
    ];
    assert_eq!(stayed, expected.map(|(what, why)| (what.to_owned(), why.to_owned())));
}
