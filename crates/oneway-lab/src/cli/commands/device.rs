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
        "this `oneway` was built without CUDA: build it with `--features cuda`, or leave out `--device cuda`"
    )
}

#[cfg(feature = "cuda")]
fn cuda() -> Result<Box<dyn Engines>> {
    Ok(Box::new(gpu::Gpu(oneway_cuda::cuda::open()?)))
}

#[cfg(feature = "cuda")]
mod gpu {
    use oneway::engine::Setup;
    use oneway::numeric::Precision;
    use oneway_cuda::cuda::Cuda;
    use oneway_cuda::{Error, Wide};
    use oneway_experiment::engines::{Engines, Made};

    /// A GPU, one engine a run.
    #[derive(Debug)]
    pub(super) struct Gpu(pub(super) Cuda);

    impl Engines for Gpu {
        fn engine<'a>(&self, setup: Setup<'a>, precision: Precision) -> oneway::Result<Made<'a>> {
            match Wide::new(&self.0, setup, precision) {
                Ok(engine) => Ok(Made::There(Box::new(engine))),
                Err(Error::Unsupported(why)) => Ok(Made::Stays(why)),
                Err(error) => Err(error.into()),
            }
        }
    }
}
