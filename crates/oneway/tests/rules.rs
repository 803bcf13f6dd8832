//! Rules as straight-line programs: a small interpreter of them, coordinate by coordinate, has the engine's bits.
#![allow(clippy::unwrap_used)]

mod common;

use common::{ask_all, build};
use oneway::methods::kind;
use oneway::testing::Passed;

#[test]
fn programs_have_the_bits_of_the_engine() {
    let found = ask_all("program");
    let rules = found.iter().filter(|(_, passed)| matches!(passed, Passed::On(_))).count();
    assert_eq!(rules, 29, "all methods but SAGA's two, local steps, several exchanges and codecs");
}

/// The equations are printed from the code; a few of them, so that a reader sees what they look like.
#[test]
fn equations_are_printed_from_the_code() {
    let equations = |name: &str| build(kind(name).unwrap()).trace().unwrap().equations().join("; ");
    assert_eq!(equations("push-pull"), "x⁺ = R(x − ηv); v⁺ = Cv + (g⁺ − m); m⁺ = g⁺");
    assert_eq!(equations("smtpp"), "x⁺ = R(x − ηv); v⁺ = Cv + (m⁺ − m); m⁺ = (1 − λ)m + λg⁺");
}
