"""ATC-Tracking of decent-bench on the same work: X⁺ = W(X − ηY), Y⁺ = WY + G⁺ − G, Y₀ = G₀.

usage: decent_bench_peer.py time FOLDER TIMES | curves FOLDER ROUNDS

decent-bench refuses directed graphs, so links of the exponential graph go both ways, with its Metropolis weights. Its
costs are its own too: logistic regression + α × the fractional quadratic, which is oneway's objective.
"""

import json
import sys
import time

import networkx as nx
import numpy as np
from decent_array import interoperability as iop
from decent_bench.agents import Agent
from decent_bench.algorithms.p2p import ATC_Tracking
from decent_bench.costs import FractionalQuadraticRegularizerCost, LogisticRegressionCost
from decent_bench.networks import P2PNetwork

from problem import AGENTS, ALPHA, FEATURES, RECORD_EVERY, STEP, dense, exponential, samples, training_rows

TIMED_ROUNDS = 100  # a round takes milliseconds


class GivenSamples(LogisticRegressionCost):
    """Batch 1 at given rows, one after another, in place of decent-bench's own draws."""

    rows = None

    def _sample_batch_indices(self, indices="batch"):
        return super()._sample_batch_indices([next(self.rows)] if indices == "batch" else indices)


def network(shards, batch, snapshot_period, cost=LogisticRegressionCost):
    agents = []
    for features, targets in shards:
        rows = [(iop.from_numpy(a), iop.from_numpy(np.array([y]))) for a, y in zip(features, targets)]
        regulariser = ALPHA * FractionalQuadraticRegularizerCost((FEATURES,))
        agents.append(Agent(cost(rows, batch_size=batch) + regulariser, state_snapshot_period=snapshot_period))
    links = exponential(both_ways=True) > 0
    net = P2PNetwork(nx.from_numpy_array(links & ~np.eye(AGENTS, dtype=bool)), agents)
    assert np.allclose(iop.to_numpy(net.weights), exponential(both_ways=True), rtol=0, atol=1e-15)
    return net


def timings(shards, times):
    """Seconds a round of `run`, with no snapshots but the last; networks are made anew, outside the clock."""
    seconds = []
    for _ in range(times):
        net = network(shards, batch=1, snapshot_period=TIMED_ROUNDS)
        algorithm = ATC_Tracking(step_size=STEP)
        started = time.perf_counter()
        algorithm.run(net, TIMED_ROUNDS)
        seconds.append((time.perf_counter() - started) / TIMED_ROUNDS)
    return {"off": {"ATC-Tracking": seconds}}


def curves(shards, rounds):
    """Loss, ‖∇F‖² and consensus error by decent-bench's own costs, at the mean of the agents' snapshots."""
    drawn = samples(rounds + 1, len(shards[0][0]))
    result = {}
    for name in ["full", "sampled"]:
        cost = LogisticRegressionCost if name == "full" else GivenSamples
        net = network(shards, "all" if name == "full" else 1, RECORD_EVERY, cost)
        if name == "sampled":
            for i, agent in enumerate(net.agents()):
                agent.cost.empirical_cost.rows = iter(drawn[:, i].tolist())
        ATC_Tracking(step_size=STEP).run(net, rounds)
        columns = {"loss": [], "grad_norm_sq": [], "consensus_error": []}
        for k in range(0, rounds + 1, RECORD_EVERY):
            x = np.array([iop.to_numpy(agent._x_history[k]) for agent in net.agents()])
            mean = iop.from_numpy(x.mean(axis=0))
            costs = [agent.cost for agent in net.agents()]
            gradients = [iop.to_numpy(cost.gradient(mean, indices="all")) for cost in costs]
            columns["loss"].append(np.mean([cost.function(mean, indices="all") for cost in costs]))
            columns["grad_norm_sq"].append((np.mean(gradients, axis=0) ** 2).sum())
            columns["consensus_error"].append(((x - x.mean(axis=0)) ** 2).sum() / AGENTS)
        result[name] = {name: [float(value) for value in column] for name, column in columns.items()}
    return result


def main():
    task, folder, number = sys.argv[1:]
    iop.set_backend("numpy")
    starts, columns, labels, m = training_rows(folder)
    targets = (labels + 1) / 2  # 0 and 1
    rows = dense(starts, columns)
    shards = [(rows[i * m : (i + 1) * m], targets[i * m : (i + 1) * m]) for i in range(AGENTS)]
    print(json.dumps({"time": timings, "curves": curves}[task](shards, int(number))))


if __name__ == "__main__":
    main()
