//! Kernels pass NVIDIA's own compiler, which needs no GPU, where it is installed: `pip install
//! nvidia-cuda-nvrtc` and its folder in `LD_LIBRARY_PATH`.
#![allow(clippy::unwrap_used)]

mod common;

use common::{leave_out, problems};
use oneway::methods::kind;
use oneway::numeric::Precision;
use oneway::problem::Problem;
use oneway::problems::Batch;
use oneway::testing::quadratic;
use oneway_cuda::{Source, cuda};

#[test]
fn kernels_are_compiled_without_contraction() {
    if !cuda::has_compiler() {
        return leave_out("nvrtc", "NVIDIA's compiler of kernels, libnvrtc, was not found");
    }
    let passes = |source: Source, method: &str| {
        let ptx = cuda::compile(&source.text, "compute_75").unwrap_or_else(|error| panic!("{error}"));
        assert!(ptx.contains(".entry oneway_update") && !ptx.contains("fma.rn.f"), "fused: {method:?}");
    };
    let compiled = |method: &str, problem: &dyn Problem, precision| {
        let rule = kind(method).unwrap().method([]).unwrap();
        passes(Source::new(&*rule, problem, precision).unwrap(), method);
        passes(Source::of_foreign(&*rule, problem, precision).unwrap(), method);
    };
    let noisy = quadratic(4, 0.1).unwrap();
    compiled("smtpp", &noisy, Precision::F64);
    compiled("adamdos", &noisy, Precision::F32);
    for (batch, method) in [(Batch::Sampled(2), "sgp"), (Batch::Full, "frost")] {
        compiled(method, &*problems(4, batch).remove(0).1, Precision::F64);
    }
    let named = |name: &str, batch| {
        let (_, problem) = problems(4, batch).into_iter().find(|(of, _)| *of == name).unwrap();
        problem
    };
    compiled("local-smtpp", &*named("two-layer", Batch::Full), Precision::F64);
    compiled("multi-gossip", &*named("welsch", Batch::Sampled(2)), Precision::F32);
    assert!(cuda::compile("no kernel", "compute_75").unwrap_err().to_string().contains("not compiled"));
}
