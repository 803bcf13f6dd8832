//! Engines on a device, for commands that run experiments.

use anyhow::Result;
use oneway_experiment::engines::Engines;
use oneway_experiment::runner::Runner;

use crate::cli::args::DeviceKind;
use crate::terminal::warn;

/// The runner that `make` makes, on this device. The device comes first: what cannot be had is said at once.
pub(crate) fn runner_on(device: DeviceKind, make: impl FnOnce() -> Result<Runner>) -> Result<Runner> {
    match device {
        DeviceKind::Cpu => make(),
        DeviceKind::Cuda => cuda().and_then(|engines| Ok(make()?.on(engines))),
        DeviceKind::Host => host().and_then(|engines| Ok(make()?.on(engines))),
    }
}

/// Says what stayed on the processors, and why.
pub(super) fn say_what_stayed(runner: &Runner) {
    for (what, why) in runner.stayed() {
        warn(&format!("{what} ran on the CPU: {why}"));
    }
}

#[cfg(not(feature = "cuda"))]
fn cuda() -> Result<Box<dyn Engines>> {
    anyhow::bail!(
        "this `oneway` was built without CUDA: build it with `--features cuda`, or leave out `--device`"
    )
}

#[cfg(not(feature = "cuda"))]
use cuda as host;

#[cfg(feature = "cuda")]
fn host() -> Result<Box<dyn Engines>> {
    Ok(Box::new(oneway_cuda::OnDevice(oneway_cuda::host::Host::new(1)?)))
}

#[cfg(feature = "cuda")]
fn cuda() -> Result<Box<dyn Engines>> {
    Ok(Box::new(oneway_cuda::OnDevice(oneway_cuda::cuda::open()?)))
}
