//! The identity of cells.

use std::path::Path;

use super::*;
use crate::hash::sha256;

/// The text that keys are hashes of is pinned: a field that is renamed, or another `Debug`, must not change
/// it. If it has to change, its version goes up, and finished cells are computed again.
#[test]
fn the_identity_of_a_cell_is_made_of_names_that_stay() {
    let text = "[problem]\nkind = \"quadratic\"\ndim = 2\n[run]\nagents = 1\niterations = 30\nmeasure = []\n\
                [clock]\nstep = { uniform = 0.5 }\n[[topology]]\nkind = \"ring\"\n\
                [[method]]\nkind = \"push-pull\"\nlocal_steps = 2\nestimator = { kind = \"momentum\", momentum = 0.5 }\n\
                step = { size = 0.25, decay = 0.5, every = 10 }\n\
                compress = { codec = \"top-k\", fraction = 0.5, gamma = 1.0 }\n";
    let experiment = Experiment::parse(text, Path::new(""), &[]).unwrap();
    let plan = Plan::new(&experiment).unwrap();
    let [pull, push] = plan.entries[0].mixing_sha256();
    let expected = IDENTITY.replace("PULL", &pull).replace("PUSH", &push);
    let found = plan.entries[0].identity().into_text();
    assert_eq!(found.split("; ").collect::<Vec<_>>(), expected.split("; ").collect::<Vec<_>>());
    let keys: Vec<String> = plan.cells().into_iter().map(|cell| cell.key).collect();
    let whole = format!("{found}; code=\"{}\"; seed={}", crate::code(), plan.cells()[0].seed);
    assert_eq!(keys, [sha256(whole)]);
}

/// What methods use of a topology is made once for all of them; trees are other links than all, and each topology
/// has its own. Centralised methods have one network on all topologies.
#[test]
fn methods_share_their_networks() {
    let method = |name: &str, rest: &str| {
        format!("[[method]]\nname = \"{name}\"\nkind = \"{rest}\nstep = {{ size = 0.1 }}\n")
    };
    let text = [
        "[problem]\nkind = \"quadratic\"\ndim = 2\n[run]\nagents = 4\niterations = 3\n",
        "[[topology]]\nkind = \"ring\"\n[[topology]]\nkind = \"exponential\"\n",
        &method("one", "push-pull\""),
        &method("other", "smtpp\""),
        &method("trees", "smtpp\"\ngraph = \"trees\""),
        &method("central", "adam\""),
    ]
    .concat();
    let plan = Plan::new(&Experiment::parse(&text, Path::new(""), &[]).unwrap()).unwrap();
    let networks = plan.entries.iter().map(|entry| &entry.topology);
    let first = |topology| networks.clone().position(|other| Arc::ptr_eq(other, topology)).unwrap();
    assert_eq!(networks.clone().map(first).collect::<Vec<_>>(), [0, 0, 2, 3, 4, 4, 6, 3]);
    let hashes: Vec<_> = plan.entries.iter().map(Entry::mixing_sha256).collect();
    let first = |hash| hashes.iter().position(|other| other == hash).unwrap();
    assert_eq!(hashes.iter().map(first).collect::<Vec<_>>(), [0, 0, 2, 3, 4, 4, 6, 3]);
}

const IDENTITY: &str = "cell 1; problem=\"d17ec166a401a8096d4c12985a4339579b8d41233ef434d737b028bf18f6b05f\"; \
    pull=\"PULL\"; push=\"PUSH\"; \
    faults.loss=0000000000000000; faults.delay=0; faults.missing=\"renormalise\"; faults.churn=\"none\"; \
    method.kind=\"push-pull\"; method.estimator=\"momentum\"; method.estimator.momentum=3fe0000000000000; \
    method.gossip=1; method.local_steps=2; method.codec=\"top-k\"; method.codec.fraction=3fe0000000000000; \
    method.codec.k=0000000000000000; \
    method.gamma=3ff0000000000000; \
    step.size=3fd0000000000000; step.warmup=0; step.shape=\"decay\"; step.factor=3fe0000000000000; step.every=10; \
    timing.kind=\"synchronous\"; timing.clock.step.times=\"uniform\"; timing.clock.step.spread=3fe0000000000000; \
    timing.clock.spread=0000000000000000; timing.clock.slow_share=0000000000000000; \
    timing.clock.slow_factor=3ff0000000000000; timing.clock.latency=0000000000000000; \
    timing.clock.journey.times=\"constant\"; timing.clock.loss=0000000000000000; \
    precision=\"f64\"; rounds=30; record_every=10; measure.loss_gap=false; measure.agents_grad_norm_sq=false; measure.distance_sq=false";
