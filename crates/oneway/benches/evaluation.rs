//! Loss and gradient over all of a9a, at one point and at eight, against what the machine allows.
//! `just bench-eval`.
//!
//! An evaluation walks the stored entries twice: for the products aᵀx, which load x at each entry's column,
//! and for the gradient, which loads, adds to and stores g at each entry's column. In between stands the
//! arithmetic of the margins. The limits are each measured by a loop that does this one thing and nothing
//! else. The second walk waits for itself wherever a column comes again soon, and most rows of a9a share some
//! columns: the bit contract fixes the order of that sum, so the loop that is the limit keeps it too.
#![allow(clippy::unwrap_used)]

mod machine;
mod setting;

use std::hint::black_box;

use machine::{best, widest};
use oneway::data::a9a::{Split, a9a};
use oneway::problem::Problem;
use oneway::problems::Logistic;
use setting::AGENTS;

/// Points that one walk serves.
const POINTS: usize = 8;
/// Tables that any byte indexes, as the library has them.
const TABLE: usize = 256;
/// Multiplications, additions and choices of one margin's exp, slope and loss, counted in
/// `problems/logistic/link.rs`; its division is left out.
const MARGIN: f64 = 48.0;

fn main() {
    let (problem, data) = (setting::problem(), a9a(Split::Train));
    let rows = data.len() / AGENTS * AGENTS;
    let columns: Vec<u8> = (0..rows).flat_map(|r| data.rows.row(r).map(|(column, _)| column as u8)).collect();
    let bytes = columns.len() + rows * 2 * size_of::<f64>(); // a byte an entry; an offset and a label a row
    println!(
        "a9a: {rows} rows, {} entries, {} kB. One thread. Nanoseconds per entry:",
        columns.len(),
        bytes / 1000
    );
    println!("{:<58}{:>8}{:>11}", "", "1 point", "8 points");

    let per_entry = |seconds: f64| seconds / columns.len() as f64 * 1e9;
    let line = |what: &str, values: [f64; 2]| println!("{what:<58}{:>8.3}{:>11.3}", values[0], values[1]);
    let stream = per_entry(bytes as f64 / machine::copy(bytes, 1));
    let load = [loads::<1>(&columns), loads::<POINTS>(&columns)].map(per_entry);
    let add = [additions::<1>(&columns), additions::<POINTS>(&columns)].map(per_entry);
    let margins =
        [1, POINTS].map(|points| per_entry(MARGIN * (points * rows) as f64 / machine::unfused_peak(1)));
    let limit = [0, 1].map(|i| load[i] + add[i] + margins[i]);
    let measured = [1, POINTS].map(|points| per_entry(evaluation(&problem, points)));

    line("streaming the data's bytes at a copy's bandwidth", [stream; 2]);
    line("loading x[column] of every entry", load);
    line("loading, adding to and storing g[column] of every entry", add);
    line("the margins' 48 operations a row and point, at the peak", margins);
    line("the last three together: the limit", limit);
    line("loss and gradient, measured", measured);
    let share = [0, 1].map(|i| 100.0 * limit[i] / measured[i]);
    println!("{:<58}{:>7.0}%{:>10.0}%", "the limit's share of that", share[0], share[1]);
    let share = measured.map(|measured| 100.0 * stream / measured);
    println!("{:<58}{:>7.1}%{:>10.1}%", "the stream's share of that", share[0], share[1]);
    let each = [measured[0], measured[1] / POINTS as f64].map(|ns| ns * columns.len() as f64 / 1e3);
    println!("{:<58}{:>8.0}{:>11.0}", "an evaluation of one point (µs)", each[0], each[1]);
}

/// Seconds of the library's evaluation over all agents.
fn evaluation(problem: &Logistic, points: usize) -> f64 {
    let d = problem.dim();
    let at: Vec<Vec<f64>> =
        (0..points).map(|p| (0..d).map(|k| 0.01 * k as f64 - 0.1 * p as f64).collect()).collect();
    let at: Vec<&[f64]> = at.iter().map(Vec::as_slice).collect();
    let outcome = (vec![0.0; points], vec![0.0; points * d]);
    best(vec![outcome], |(losses, gradients)| {
        for agent in 0..AGENTS {
            match &at[..] {
                [x] => losses[0] = problem.exact(agent, x, gradients),
                many => problem.exact_many(agent, many, losses, gradients),
            }
            black_box((&losses, &gradients));
        }
    })
}

/// A column's numbers at P points, on a line of its own.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Lanes<const P: usize>([f64; P]);

/// Seconds to load x\[column\], P numbers wide, of every entry. Eight sums, so that none waits for another.
fn loads<const P: usize>(columns: &[u8]) -> f64 {
    best(vec![[Lanes([1.0; P]); TABLE]], |x| {
        in_vectors_of::<P>(
            #[inline(always)]
            || {
                let mut sums = [[0.0; P]; 8];
                for eight in columns.as_chunks::<8>().0 {
                    for (sum, &column) in sums.iter_mut().zip(eight) {
                        add(sum, &x[usize::from(column)].0);
                    }
                }
                black_box(sums);
            },
        );
    })
}

/// Seconds to load, add to and store g\[column\], P numbers wide, of every entry in turn.
fn additions<const P: usize>(columns: &[u8]) -> f64 {
    best(vec![([Lanes([0.0; P]); TABLE], [1e-9; P])], |(g, slope)| {
        in_vectors_of::<P>(
            #[inline(always)]
            || {
                let slope = *slope;
                for &column in columns {
                    add(&mut g[usize::from(column)].0, &slope);
                }
            },
        );
    })
}

/// A single number is loaded as such: this machine's vector gathers are slower than single loads.
#[inline(always)]
fn in_vectors_of<const P: usize>(work: impl FnOnce()) {
    if P == 1 { work() } else { widest(work) }
}

#[inline(always)]
fn add<const P: usize>(sum: &mut [f64; P], x: &[f64; P]) {
    for (sum, x) in sum.iter_mut().zip(x) {
        *sum += x;
    }
}
