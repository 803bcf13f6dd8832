"""Gradients that PyTorch, JAX and CuPy make on the GPU where an engine's points are: whether their bits are the CPU's,
what is refused, and rounds a second beside the built-in quadratic and beside gradients that go through the host.

  foreign.py                     all of it; needs a GPU, PyTorch, and what else is to be tried
  foreign.py bits | speed        a part
  foreign.py --device host       the same code where there is no GPU, by a C++ compiler: small sizes

Prints Markdown. Exit codes: 0 all bits agree; 1 some do not.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import sys
import time
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX leaves memory to the others

import numpy as np
import torch

import oneway as ow

METHODS = {
    "smtpp": "smtpp",
    "push-pull, which asks at x₀": "push-pull",
    "storm-tracking, at two points": "storm-tracking",
    "sgp, 2 steps, 2 exchanges": {"kind": "sgp", "local_steps": 2, "gossip": 2},
}
WRONG = {
    "on the CPU": (lambda g: g.cpu(), "x is on cuda:0"),
    "in single precision": (lambda g: g.float(), "float64 is asked for"),
    "of another shape": (lambda g: g[:, 1:].contiguous(), "is asked for"),
    "by columns": (lambda g: g.T.contiguous().T, "not contiguous"),
    "None": (lambda g: None, "NoneType"),
}


def quadratic(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """h and the c_i of ∇f_i(x) = h∘(x − c_i)."""
    random = np.random.default_rng(5)
    return np.linspace(0.5, 1.0, d), random.normal(size=(n, d))


def numpy_problem(n: int, d: int) -> ow.Problem:
    h, centres = quadratic(n, d)
    return ow.Problem(lambda x, agents, draws: h * (x - centres[agents]), dim=d, agents=n)


def moved(name: str, array: np.ndarray, device: str) -> Any:
    """An array of a library, where gradients are made."""
    if name == "torch":
        return torch.from_numpy(array).to(device)
    if name == "jax":
        import jax

        jax.config.update("jax_enable_x64", True)
        return jax.device_put(array, jax.devices(device)[0])
    import cupy

    return cupy.asarray(array)


def foreign_problem(name: str, n: int, d: int, device: str, slow: bool = False) -> ow.Problem:
    h, centres = (moved(name, array, device) for array in quadratic(n, d))

    def at(x: Any, centres: Any) -> Any:
        return h * (x - centres)

    if name == "jax":
        import jax

        at = jax.jit(at)

    def gradient(x: Any, agents: Any, draws: Any) -> Any:
        if slow and device == "cuda":
            torch.cuda._sleep(200_000)  # who does not wait for streams finds old numbers
        return at(x, centres if len(agents) == n else centres[agents])

    return ow.Problem(gradient, dim=d, agents=n, framework=name, device=device)


def run(problem: Any, network: Any, method: Any, rounds: int, device: str, **settings: Any) -> ow.Result:
    step = {"size": 0.05, "scaling": "raw"}
    return ow.run(
        problem, network, method, step=step, iterations=rounds, record_every=rounds, device=device, progress=False,
        **settings,
    )


def bits(args: argparse.Namespace) -> bool:
    """Hashes of states after some rounds."""
    here = args.device if args.device == "cuda" else "cpu"
    sizes = [(16, 1000, 150), (5, 7, 150), (16, 200_000, 20)] if here == "cuda" else [(6, 50, 70)]
    names = [name for name in ("torch", "jax", "cupy") if importlib.util.find_spec(name)]
    names = [name for name in names if here == "cuda" or name != "cupy"]
    print(f"\n| method | n | d | rounds | {' | '.join(names)} |\n|---|---:|---:|---:|{'---|' * len(names)}")
    agree = True
    for n, d, rounds in sizes:
        network = ow.Network.family("exponential", n)
        for label, method in METHODS.items():
            expected = run(numpy_problem(n, d), network, method, rounds, "cpu").state_hash
            said = []
            for name in names:
                try:
                    made = run(foreign_problem(name, n, d, here, slow=True), network, method, rounds, args.device)
                    same = made.state_hash == expected
                    said.append("the CPU's bits" if same else "**other bits**")
                except Exception as error:
                    same = False
                    said.append(f"**{type(error).__name__}: {str(error)[:150]}**")
                agree = agree and same
            print(f"| {label} | {n} | {d} | {rounds} | {' | '.join(said)} |", flush=True)
    return agree and (here != "cuda" or refusals())


def refusals() -> bool:
    """Wrong arrays end a run with a message, and points that were kept do no harm."""
    n, d = 6, 50
    network, (h, centres) = ow.Network.family("exponential", n), (moved("torch", a, "cuda") for a in quadratic(n, d))
    kept: list[Any] = []
    good = True
    print("\n| returned | what came of it |\n|---|---|")
    for name, (spoil, expected) in WRONG.items():

        def gradient(x: Any, agents: Any, draws: Any, spoil: Any = spoil) -> Any:
            kept.append(x)
            return spoil(h * (x - centres))

        problem = ow.Problem(gradient, dim=d, agents=n, framework="torch", device="cuda")
        try:
            run(problem, network, "push-pull", 70, "cuda")
            said = "**nothing**"
        except (TypeError, ValueError) as error:
            said = str(error)
        good = good and expected in said
        print(f"| {name} | {said} |")
    gc.collect()
    print(f"\nPoints that were kept are readable after their runs: {bool(torch.isfinite(kept[0]).all())}.")
    before = torch.cuda.mem_get_info()[0]
    kept.clear()
    gc.collect()
    torch.cuda.empty_cache()
    print(f"Memory that they gave back: {(torch.cuda.mem_get_info()[0] - before) / 1e6:.1f} MB.")
    return good


def rate(problem: Any, network: Any, rounds: int, device: str, **settings: Any) -> float:
    """Rounds a second, without what a run begins and ends with."""

    def took(rounds: int) -> float:
        begun = time.perf_counter()
        run(problem, network, "smtpp", rounds, device, **settings)
        return time.perf_counter() - begun

    if device != "cpu":
        took(1)  # kernels are compiled
    few = max(1, rounds // 10)
    seconds = took(rounds) - took(few)
    if seconds < 0.1:
        raise RuntimeError(f"{rounds} rounds are over too soon to be timed")
    return (rounds - few) / seconds


def speed(args: argparse.Namespace) -> None:
    """Rounds of SMTPP in f64."""
    there, here = args.device, args.device if args.device == "cuda" else "cpu"
    # so many rounds that what a run begins and ends with is little beside them
    sizes = [(16, 1000, 40_000), (16, 1_000_000, 6000), (1_000_000, 10, 6000)]
    if there != "cuda":
        sizes = [(2000, 10, 30), (16, 5000, 30)]
    print("\n| n | d | gradients | rounds/s | ms a round |\n|---:|---:|---|---:|---:|")
    for n, d, rounds in sizes:
        network = ow.Network.family("torus" if n > 16 else "exponential", n)
        built_in = ow.problems.quadratic(d, curvature=(0.5, 1.0), noise=0.0)
        few = 2000 if n * d < 1_000_000 else 20
        cases = [
            ("built in, on the GPU", built_in, rounds, there, {"agents": n}),
            ("PyTorch, in place", foreign_problem("torch", n, d, here), rounds, there, {}),
            ("PyTorch on the GPU, through the host", foreign_problem("torch", n, d, here), few, "cpu", {}),
            ("NumPy, on the CPU", numpy_problem(n, d), few, "cpu", {}),
        ]
        if here == "cuda":
            others = [name for name in ("jax", "cupy") if importlib.util.find_spec(name)]
            for name in others:
                cases.insert(2, (f"{name}, in place", foreign_problem(name, n, d, here), rounds, there, {}))
        for label, problem, rounds_here, device, settings in cases:
            try:
                found = rate(problem, network, rounds_here, device, **settings)
                print(f"| {n:,} | {d:,} | {label} | {found:,.0f} | {1e3 / found:.3f} |", flush=True)
            except Exception as error:
                print(f"| {n:,} | {d:,} | {label} | {type(error).__name__}: {str(error)[:150]} | |", flush=True)
        del cases
        gc.collect()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="?", choices=["bits", "speed"])
    parser.add_argument("--device", choices=["cuda", "host"], default="cuda")
    args = parser.parse_args()
    begun = time.perf_counter()
    if args.device == "cuda":
        torch.cuda.init()
        print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name(0)}")
    agree = bits(args) if args.part != "speed" else True
    if args.part != "bits":
        speed(args)
    print(f"\nIn {time.perf_counter() - begun:.0f} s. {'All bits agree.' if agree else 'NOT all is as it should be.'}")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
