//! `--device`: where there is no CUDA it is refused at once, with what is missing; where there is, it changes no bit.
#![allow(clippy::unwrap_used)]

use crate::common::{EXPERIMENT, Lab, stderr};

#[test]
fn the_processors_are_the_default() {
    let lab = Lab::new();
    let (named, unnamed) = (lab.results(EXPERIMENT, &["--device", "cpu"]), lab.results(EXPERIMENT, &[]));
    assert_eq!(named.csv, unnamed.csv);
    let unknown = lab.run(EXPERIMENT, &["--device", "tpu"]);
    assert_eq!(unknown.status.code(), Some(2));
}

#[test]
fn without_cuda_nothing_is_written_and_with_it_no_bit_changes() {
    let lab = Lab::new();
    let there = lab.run(EXPERIMENT, &["--device", "cuda", "--out", "there"]);
    match there.status.code() {
        Some(0) => {
            lab.results(EXPERIMENT, &[]);
            let read = |folder: &str| std::fs::read(lab.path(folder).join("curves.csv")).unwrap();
            assert!(read("there") == read("results"), "curves of the GPU and of the CPU differ");
        }
        code => {
            assert_eq!(code, Some(2), "{}", stderr(&there));
            let said = stderr(&there);
            assert!(said.starts_with("oneway: no CUDA here: ") && said.lines().count() == 1, "{said}");
            assert!(!lab.path("there").exists(), "nothing is written");
        }
    }
}
