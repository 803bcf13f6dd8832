//! All tests of the library from outside, as one program: it is compiled and linked once, and its tests fill all cores to
//! the end. Those apart count what is allocated, or are built with other instructions (`scripts/same-bits`).

mod asynchronous;
mod balanced;
mod combine;
mod combined;
mod common;
mod compressed_forms;
mod compression;
mod conformance;
mod contraction;
mod data;
mod dense;
mod dense_balanced;
mod dense_world;
mod effective_steps;
mod estimators;
mod examples;
mod floors;
mod gradients;
mod graphs;
mod identities;
mod paper;
mod perron;
mod perron_chains;
mod problems;
mod random_programs;
mod registry;
mod rules;
mod running_sums;
mod sampling;
mod theory;
mod time_varying;
mod traced;
mod unreliable;
mod unreliable_refusals;
