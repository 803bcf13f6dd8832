//! The bits themselves, so that a change of them between versions or machines is seen. Change these only on
//! purpose, and say so in the changelog.
#![allow(clippy::unwrap_used)]

mod common;

use common::{advance, build, quadratic, simulate, topology};
use oneway::data::a9a::{Split, a9a};
use oneway::engine::Engine;
use oneway::engine::record::Recorder;
use oneway::graph::families;
use oneway::methods::{KINDS, kind};
use oneway::problems::{Batch, Logistic, Sharing};
use sha2::{Digest, Sha256};

/// Every method on a quadratic with noise; and the hash is what the bit contract says it is.
#[test]
fn states_on_a_noisy_quadratic() {
    let problem = quadratic(9, 0.3);
    let mut found = String::new();
    for kind in KINDS {
        let topology = topology(kind, kind.graphs[0], &[families::flower(9, 3).unwrap()], 0);
        let method = build(kind);
        if method.check_problem(&problem).is_err() {
            continue; // a quadratic is no finite sum
        }
        let mut simulator = simulate(&*method, &problem, &topology, 0.01);
        advance(&mut simulator, 10);
        let view = simulator.view();
        let by_hand =
            (0..9).flat_map(|i| view.state(i)).flat_map(|x| x.to_bits().to_le_bytes()).collect::<Vec<u8>>();
        let by_hand = hash(by_hand);
        assert_eq!(simulator.state_hash(), by_hand);
        found += &format!("{} {}\n", kind.name, &by_hand[..16]);
    }
    assert!(found == include_str!("bits.txt"), "found:\n{found}");
}

/// Rows of 123 numbers, and batches that are taken row by row, in blocks, and whole; and what is measured of
/// them.
#[test]
fn states_and_measurements_on_a9a() {
    let data = a9a(Split::Train);
    let (mut found, mut recorder) = (vec![], Recorder::default());
    for name in ["smtpp", "push-diging"] {
        let kind = kind(name).unwrap();
        let topology = topology(kind, kind.graphs[0], &[families::exponential(20).unwrap()], 0);
        let method = build(kind);
        for batch in [Batch::Sampled(1), Batch::Sampled(3), Batch::Sampled(16), Batch::Full] {
            let problem = Logistic::new(&data, Sharing::among(20).batch(batch), 0.01).unwrap();
            let mut simulator = simulate(&*method, &problem, &topology, 0.1);
            advance(&mut simulator, 10);
            recorder.record(&simulator.view()).unwrap();
            let measured = std::mem::take(&mut recorder).finish(&simulator.view()).unwrap();
            // these hashes are older than what is measured only where it is asked for
            let asked_for = ", loss_gap: None, agents_grad_norm_sq: None, distance_sq: None";
            let measured = format!("{measured:?}").replace(asked_for, "");
            let hashes = [simulator.state_hash(), hash(measured)];
            found.push(hashes.map(|hash| hash[..16].to_owned()));
        }
    }
    assert_eq!(found, A9A);
}

fn hash(content: impl AsRef<[u8]>) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Of states, and of measurements.
const A9A: [[&str; 2]; 8] = [
    ["7b6b8bf9daf794d1", "89785a86a639829e"],
    ["37803565f4f06dac", "d31a0acb068c9b32"],
    ["f916a5e0037a361b", "76249226bf1b88ce"],
    ["e95914d81bcbcf59", "8ae7c53d67defbb7"],
    ["6689e03db691e99f", "878a68219f3a54e7"],
    ["2418a2e18e0c93aa", "68e28f9baf610c10"],
    ["11d3a38291a3cb4d", "d68ba177f6e55026"],
    ["ae67ade17a6d9b03", "048907cedd1d1efb"],
];
