//! The bits themselves, so that a change of them between versions or machines is seen. Change these only on purpose, and say
//! so in the changelog.
#![allow(clippy::unwrap_used)]

mod common;

use common::{advance, build, quadratic, simulate, topology};
use oneway::data::a9a::{Split, a9a};
use oneway::engine::Engine;
use oneway::graph::families;
use oneway::methods::{KINDS, kind};
use oneway::partition::Partition;
use oneway::problems::{Batch, Logistic};
use sha2::{Digest, Sha256};

/// Every method on a quadratic with noise; and the hash is what the bit contract says it is.
#[test]
fn states_on_a_noisy_quadratic() {
    let problem = quadratic(9, 0.3);
    let mut found = String::new();
    for kind in KINDS {
        let topology = topology(kind, kind.graphs[0], &[families::flower(9, 3).unwrap()], 0);
        let method = build(kind);
        if method.check(&problem).is_err() {
            continue; // a quadratic is no finite sum
        }
        let mut simulator = simulate(&*method, &problem, &topology, 0.01);
        advance(&mut simulator, 10);
        let view = simulator.view();
        let by_hand =
            (0..9).flat_map(|i| view.state(i)).flat_map(|x| x.to_bits().to_le_bytes()).collect::<Vec<u8>>();
        let by_hand: String = Sha256::digest(by_hand).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(simulator.state_hash(), by_hand);
        found += &format!("{} {}\n", kind.name, &by_hand[..16]);
    }
    assert!(found == include_str!("bits.txt"), "found:\n{found}");
}

/// Rows of 123 numbers, and batches that are taken row by row, in blocks, and whole.
#[test]
fn states_on_a9a() {
    let data = a9a(Split::Train);
    let mut found = vec![];
    for name in ["smtpp", "push-diging"] {
        let kind = kind(name).unwrap();
        let topology = topology(kind, kind.graphs[0], &[families::exponential(20).unwrap()], 0);
        let method = build(kind);
        for batch in [Batch::Sampled(1), Batch::Sampled(3), Batch::Sampled(16), Batch::Full] {
            let problem = Logistic::new(&data, Partition::Even, 20, 0.01, batch, 1).unwrap();
            let mut simulator = simulate(&*method, &problem, &topology, 0.1);
            advance(&mut simulator, 10);
            found.push(simulator.state_hash()[..16].to_owned());
        }
    }
    assert_eq!(found, A9A);
}

const A9A: [&str; 8] = [
    "7b6b8bf9daf794d1",
    "37803565f4f06dac",
    "f916a5e0037a361b",
    "e95914d81bcbcf59",
    "6689e03db691e99f",
    "2418a2e18e0c93aa",
    "11d3a38291a3cb4d",
    "ae67ade17a6d9b03",
];
