"""decent-bench's ATC-Tracking, SimpleGT and EXTRA on links that drop messages, by its own drop scheme.

usage: decent_bench_peer.py FOLDER ROUNDS LOSS…

Prints F at the mean of the agents' models after ROUNDS rounds, for each algorithm, batch and loss. The work is that of
benches/peers: a9a over 20 agents, logistic regression + α × the fractional quadratic by its own costs, links of the
exponential graph both ways with Metropolis weights.
"""

import json
import random
import sys
from pathlib import Path

import networkx as nx
import numpy as np
from decent_array import interoperability as iop
from decent_bench.agents import Agent
from decent_bench.algorithms.p2p import ATC_Tracking, EXTRA, SimpleGT
from decent_bench.costs import FractionalQuadraticRegularizerCost, LogisticRegressionCost
from decent_bench.networks import P2PNetwork
from decent_bench.schemes import UniformDropRate

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))
from problem import AGENTS, ALPHA, FEATURES, STEP, dense, exponential, training_rows  # noqa: E402

ALGORITHMS = {"ATC-Tracking": ATC_Tracking, "SimpleGT": SimpleGT, "EXTRA": EXTRA}


def network(shards, batch, loss, rounds):
    agents = []
    for features, targets in shards:
        rows = [(iop.from_numpy(a), iop.from_numpy(np.array([y]))) for a, y in zip(features, targets)]
        regulariser = ALPHA * FractionalQuadraticRegularizerCost((FEATURES,))
        cost = LogisticRegressionCost(rows, batch_size=batch) + regulariser
        agents.append(Agent(cost, state_snapshot_period=rounds))
    links = exponential(both_ways=True) > 0
    drops = UniformDropRate(loss) if loss else None
    return P2PNetwork(nx.from_numpy_array(links & ~np.eye(AGENTS, dtype=bool)), agents, message_drop=drops)


def final_loss(shards, algorithm, batch, loss, rounds):
    """F at the mean model; None where it is not a number any more."""
    random.seed(1)
    np.random.seed(1)
    net = network(shards, batch, loss, rounds)
    ALGORITHMS[algorithm](step_size=STEP).run(net, rounds)
    mean = iop.from_numpy(np.mean([iop.to_numpy(agent.x) for agent in net.agents()], axis=0))
    value = float(np.mean([agent.cost.function(mean, indices="all") for agent in net.agents()]))
    return value if np.isfinite(value) else None


def main():
    folder, rounds, *losses = sys.argv[1:]
    iop.set_backend("numpy")
    starts, columns, labels, m = training_rows(folder)
    targets, rows = (labels + 1) / 2, dense(starts, columns)
    shards = [(rows[i * m : (i + 1) * m], targets[i * m : (i + 1) * m]) for i in range(AGENTS)]
    found = []
    for algorithm in ALGORITHMS:
        for batch in ["all", 1]:
            for loss in losses:
                value = final_loss(shards, algorithm, batch, float(loss), int(rounds))
                found.append({"method": algorithm, "batch": str(batch), "loss": float(loss), "F": value})
                print(f"  decent-bench: {algorithm}, batch {batch}, loss {loss}: {value}", file=sys.stderr)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
