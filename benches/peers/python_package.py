#!/usr/bin/env python3
"""The Python package beside decent-bench, on decent-bench's own example problems; and what a gradient in Python costs.

usage: python_package.py [--repeats N]

Start it with a Python that has `oneway` (`pip install .`). It makes the environment with decent-bench that it needs in out/peers,
as run.py does, and goes on in there. Checks that both compute the same, times them in turn, prints the ratios and writes
out/bench-python.json. Exit code 1 if curves disagree.
"""

import argparse
import copy
import json
import logging
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import oneway as ow

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RELATIVE, ABSOLUTE = (
    1e-9,
    1e-14,
)  # curves agree to the first of their size, or to the second where they are zero but for rounding
AGENTS, DEGREE = 20, 4
CHECKED, EVERY = 200, 20
ROUNDS = {"decent-bench": 100, "Python gradient": 100, "NumPy gradient": 2000, "built in": 20_000}
GOALS = {"built in": 100, "Python gradient": 1}
INSIDE = "ONEWAY_BENCH_INSIDE"


# ------------------------------------------------------------------------------------------------ decent-bench's example problems


def examples():
    """{name: (costs, our problem that runs in Rust or none, our gradient of all agents in NumPy)}, as decent-bench makes them."""
    from decent_array import interoperability as iop
    from decent_bench.benchmark import (
        create_classification_problem,
        create_quadratic_problem,
        create_regression_problem,
    )

    logging.disable(logging.INFO)
    iop.set_backend("numpy")
    iop.set_seed(5)
    settings = {"alpha": 0, "batch": "full"}

    costs, _, _ = create_classification_problem(n_agents=AGENTS, compute_x_optimal=False)
    A, b = stacked(costs)

    def logistic(x, agents, draws):
        excess = 1 / (1 + np.exp(-np.einsum("arf,af->ar", A[agents], x))) - b[agents]
        return np.einsum("ar,arf->af", excess, A[agents]) / A.shape[1]

    ready = ow.problems.logistic(A.reshape(-1, A.shape[2]), b.ravel(), **settings)
    yield "classification", costs, ready, logistic

    costs, _, _ = create_regression_problem(n_agents=AGENTS, compute_x_optimal=False)
    C, c = stacked(costs)

    def least_squares(x, agents, draws):
        residuals = np.einsum("arf,af->ar", C[agents], x) - c[agents]
        return np.einsum("ar,arf->af", residuals, C[agents]) / C.shape[1]

    yield (
        "regression",
        costs,
        ow.problems.least_squares(C.reshape(-1, C.shape[2]), c.ravel(), **settings),
        least_squares,
    )

    costs, _ = create_quadratic_problem(size=10, n_agents=AGENTS)
    H, h = np.array([iop.to_numpy(cost.A) for cost in costs]), np.array([iop.to_numpy(cost.b) for cost in costs])
    yield "quadratic", costs, None, lambda x, agents, draws: np.einsum("aij,aj->ai", H[agents], x) + h[agents]


def stacked(costs):
    """Rows and targets of all agents."""
    from decent_array import interoperability as iop

    rows = [[(iop.to_numpy(a), iop.to_numpy(y)[0]) for a, y in cost.dataset] for cost in costs]
    return np.array([[a for a, _ in own] for own in rows]), np.array([[float(y) for _, y in own] for own in rows])


def network(costs, period):
    """decent-bench's network with these costs: a regular graph of degree 4, with its Metropolis weights."""
    import networkx as nx
    from decent_bench.agents import Agent
    from decent_bench.networks import P2PNetwork

    agents = [Agent(cost, state_snapshot_period=period) for cost in copy.deepcopy(costs)]
    return P2PNetwork(nx.random_regular_graph(DEGREE, AGENTS, seed=1), agents)


def methods():
    """{name: (decent-bench's, oneway's)}: the same equations."""
    from decent_bench.algorithms.p2p import DGD, ATC_Tracking

    return {
        "ATC-Tracking": (ATC_Tracking, {"kind": "dsgt", "name": "method"}),  # X⁺ = W(X − ηY), Y⁺ = WY + G⁺ − G
        "DGD": (DGD, {"kind": "dsgd", "combine_first": True, "name": "method"}),  # X⁺ = WX − ηG
    }


def with_their_costs(costs):
    """A problem whose gradients and losses are decent-bench's, agent by agent."""
    from decent_array import interoperability as iop

    costs = copy.deepcopy(costs)

    def gradient(x, agents, draws):
        return np.array(
            [iop.to_numpy(costs[i].gradient(iop.from_numpy(row))) for i, row in zip(agents, x, strict=True)]
        )

    def loss(x, agents):
        return np.array([float(costs[i].function(iop.from_numpy(row))) for i, row in zip(agents, x, strict=True)])

    return ow.Problem(gradient, dim=costs[0].shape[0], agents=AGENTS, loss=loss)


def their_curves(costs, algorithm):
    """Loss, ‖∇F‖² and consensus error at the mean of the agents' snapshots, by decent-bench's own costs."""
    from decent_array import interoperability as iop

    net = network(costs, EVERY)
    algorithm.run(net, CHECKED)
    columns = {"loss": [], "grad_norm_sq": [], "consensus_error": []}
    for k in range(0, CHECKED + 1, EVERY):
        x = np.array([iop.to_numpy(agent._x_history[k]) for agent in net.agents()])
        mean = iop.from_numpy(x.mean(axis=0))
        gradients = [iop.to_numpy(cost.gradient(mean)) for cost in costs]
        columns["loss"].append(np.mean([cost.function(mean) for cost in costs]))
        columns["grad_norm_sq"].append((np.mean(gradients, axis=0) ** 2).sum())
        columns["consensus_error"].append(((x - x.mean(axis=0)) ** 2).sum() / AGENTS)
    return columns


def apart(ours, theirs):
    """The largest difference over what is allowed."""
    worst = 0.0
    for name, column in theirs.items():
        if np.isnan(ours[name]).all():
            continue  # a problem without a loss
        allowed = np.maximum(RELATIVE * np.maximum(np.abs(ours[name]), np.abs(column)), ABSOLUTE)
        worst = max(worst, float(np.max(np.abs(ours[name] - column) / allowed)))
    return worst


def seconds(work, rounds):
    """Seconds a round of a call."""
    began = time.perf_counter()
    work(rounds)
    return (time.perf_counter() - began) / rounds


def beside_decent_bench(repeats):
    """A row for each problem and method: how far curves are apart, µs a round of everyone."""
    from decent_array import interoperability as iop

    for problem, costs, ready, in_numpy in examples():
        step = 0.5 / max(float(cost.m_smooth) for cost in costs)
        weights = ow.Network.from_weights(iop.to_numpy(network(costs, 1).weights))
        vectorised = ow.Problem(in_numpy, dim=costs[0].shape[0], agents=AGENTS)
        ours = {"built in": ready, "Python gradient": with_their_costs(costs), "NumPy gradient": vectorised}
        for method, (theirs, settings) in methods().items():

            def run(one, rounds, every, settings=settings, step=step, weights=weights):
                asked = {"agents": AGENTS, "step": step, "iterations": rounds, "record_every": every, "threads": 1}
                return ow.run(one, weights, settings, progress=False, **asked)

            work = {}
            expected = their_curves(costs, theirs(step_size=step))
            differences = {}
            for name, one in ours.items():
                if one is not None:
                    differences[name] = apart(run(one, CHECKED, EVERY).curve(), expected)
                    work[name] = lambda rounds, one=one, run=run: run(one, rounds, rounds)
            times = {name: [] for name in ["decent-bench", *work]}
            for _ in range(repeats):
                net = network(costs, ROUNDS["decent-bench"])  # made anew, outside the clock
                algorithm = theirs(step_size=step)
                times["decent-bench"].append(
                    seconds(lambda rounds, a=algorithm, n=net: a.run(n, rounds), ROUNDS["decent-bench"])
                )
                for name, one in work.items():
                    times[name].append(seconds(one, ROUNDS[name]))
            yield {"problem": problem, "method": method, "apart": differences, "seconds_a_round": times}


# ------------------------------------------------------------------------------------------------ what a call costs


def overhead(repeats, n=20, d=123, rounds=4000):
    """µs a round of a run whose gradient returns an array that is there already, and how far above calling it as often; all at best.

    By the clock, and by processor time, which a busy machine stretches less. The engine's own round is in it; `round_us` is one with a
    quadratic in Rust, for comparison.
    """
    g = np.zeros((n, d))
    agents = np.arange(n)

    def gradient(x, agents, draws):
        return g

    own = ow.Problem(gradient, dim=d, agents=n)
    clocks = {"clock": time.perf_counter, "processor": time.process_time}

    def best(work):
        """The least of each clock, µs a round."""
        found = []
        for _ in range(repeats):
            began = [clock() for clock in clocks.values()]
            work()
            found.append([clock() - first for clock, first in zip(clocks.values(), began, strict=True)])
        return 1e6 * np.min(found, axis=0) / rounds

    def calls():
        for _ in range(rounds):
            gradient(g, agents, None)

    def run(problem, method):
        asked = {"agents": n, "step": 0.1, "iterations": rounds, "record_every": rounds, "threads": 1}
        return lambda: ow.run(problem, "exponential", method, progress=False, **asked)

    for method in ("smtpp", "push-pull"):
        whole, called, rust = best(run(own, method)), best(calls), best(run(ow.problems.quadratic(dim=d), method))
        for i, clock in enumerate(clocks):
            yield {
                "method": method,
                "by": clock,
                "run_us": whole[i],
                "above_us": whole[i] - called[i],
                "round_us": rust[i],
            }


COPIES = """
import resource, sys
import numpy as np
import oneway as ow

n, d, own, copied = 4000, 2000, sys.argv[1] == "own", sys.argv[2] == "copied"
g = np.full((n, d), 1.0) if own else None
last = [0, b""]

def gradient(x, agents, draws):
    if draws is not None:
        x = x.copy() if copied else x
        assert copied or not x.flags.owndata
        last[:] = x.ctypes.data, x[0].tobytes()
    return g

def there(*seen):
    # a copy of 61 MiB would be gone by now, with its pages; what is the engine's is still where it was
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        try:
            memory.seek(last[0])
            print(memory.read(len(last[1])) == last[1])
        except OSError:
            print(False)

print(False)
problem = ow.Problem(gradient, dim=d, agents=n) if own else ow.problems.quadratic(dim=d)
asked = dict(agents=n, step=0.1, iterations=4, record_every=4, threads=1, progress=False)
ow.run(problem, "ring", "push-pull", callbacks=[there] if own else [], **asked)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def copies():
    """n·d = 8·10⁶ (x is 61 MiB): is what a gradient has seen still there after the round, for x itself and for a copy? MiB at most."""
    if not Path("/proc/self/mem").exists():
        return {}

    def asked(*arguments):
        said = subprocess.run(
            [sys.executable, "-c", COPIES, *arguments], check=True, stdout=subprocess.PIPE, text=True
        ).stdout.split()
        return {"still_there": said[-2] == "True", "mib": float(said[-1])}

    return {
        "x": asked("own", "seen"),
        "a copy": asked("own", "copied"),
        "in Rust": {"mib": asked("ready", "none")["mib"]},
    }


# ------------------------------------------------------------------------------------------------ in and out


def inside():
    """Goes on in the environment with decent-bench; returns only if there is none."""
    sys.path.insert(0, str(HERE))
    from run import OUT, Skip, environment

    OUT.mkdir(parents=True, exist_ok=True)
    try:
        executable = environment("decent-bench", (3, 13)) / "python"
    except Skip as reason:
        print(f"skipped decent-bench: {reason}")
        return
    package = Path(ow.__file__).resolve().parent.parent  # its module works with every Python from 3.10 on
    there = os.environ | {"PYTHONPATH": str(package), INSIDE: "1"}
    sys.exit(subprocess.run([executable, __file__, *sys.argv[1:]], env=there).returncode)


def main():
    """Everything, and whether curves agree."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=7, help="how often everyone has a turn")
    repeats = parser.parse_args().repeats
    if INSIDE not in os.environ:
        inside()
    good, rows = True, []
    if INSIDE in os.environ:
        rows = list(beside_decent_bench(repeats))
        print(
            f"{AGENTS} agents, decent-bench's example problems: µs a round, best and median; times its rounds a second, by the bests"
        )
        for row in rows:
            base = min(row["seconds_a_round"]["decent-bench"])
            for name, values in row["seconds_a_round"].items():
                share, goal, times = row["apart"].get(name, 0.0), GOALS.get(name), base / min(values)
                good &= share <= 1
                said = (
                    []
                    if name == "decent-bench"
                    else ["same curves" if share <= 1 else f"OTHER CURVES, {share:.0e} of what is allowed"]
                )
                said += [f"goal {goal}: {'reached' if times >= goal else 'missed'}"] if goal else []
                best, median = 1e6 * min(values), 1e6 * statistics.median(values)
                print(
                    f"{row['problem']:<15} {row['method']:<13} {name:<16} {best:>9.2f} {median:>9.2f} {times:>8.1f}  {'; '.join(said)}"
                )
    costs = list(overhead(3 * repeats))
    print(
        "\na gradient in Python, n = 20, d = 123: µs a round; above the calls alone; the same with a gradient in Rust; at best"
    )
    for row in costs:
        said = f"goal 15: {'reached' if row['above_us'] <= 15 else 'missed'}"
        print(
            f"{row['method']:<10} by the {row['by']:<10} {row['run_us']:>7.2f} {row['above_us']:>7.2f} {row['round_us']:>7.2f}  {said}"
        )
    memory = copies()
    print("\nn·d = 8·10⁶, x is 61 MiB: " + "; ".join(f"{name} {found}" for name, found in memory.items()))
    (ROOT / "out").mkdir(exist_ok=True)
    result = {"decent_bench": rows, "overhead": costs, "memory": memory}
    (ROOT / "out" / "bench-python.json").write_text(json.dumps(result, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
