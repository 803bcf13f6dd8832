"""GradientTracking of disropt on the same data: X⁺ = WX − ηD, D⁺ = WD + G⁺ − G, D₀ = G₀; an MPI process an agent.

usage: mpiexec -n 20 python disropt_peer.py time FOLDER TIMES | curves FOLDER ROUNDS

disropt has no sampled gradients that work (its StochasticFunction cannot be made), so the objective is a function of
our own, in NumPy, which is faster than disropt's automatic derivatives. Links of the exponential graph go both ways.
"""

import json
import sys
import time

import numpy as np
from disropt.agents import Agent
from disropt.algorithms.gradient_tracking import GradientTracking
from disropt.functions import AbstractFunction
from disropt.problems import Problem
from mpi4py import MPI

from problem import AGENTS, ALPHA, FEATURES, STEP, dense, exponential, samples, training_rows

TIMED_ROUNDS = 10  # a round takes long where agents are more than cores


def gradient(a, x):
    return a.T @ (-1 / (1 + np.exp(a @ x))) / len(a) + 2 * ALPHA * x / (1 + x**2) ** 2


class Logistic(AbstractFunction):
    """f_i with gradients at given rows, or at all of them. The last gradients are kept: disropt asks for each twice."""

    input_shape, output_shape, differentiable = (FEATURES, 1), (1, 1), True

    def __init__(self, rows, drawn=None):
        self.rows, self.drawn, self.kept = rows, drawn, []

    def subgradient(self, x):
        for point, g in self.kept:
            if point is x:
                return g
        g = gradient(self.rows if self.drawn is None else self.rows[[next(self.drawn)]], x)
        self.kept = [(x, g), *self.kept[:1]]
        return g


def tracking(rows, drawn=None):
    i, w = MPI.COMM_WORLD.rank, exponential(both_ways=True)
    neighbours = [j for j in range(AGENTS) if w[i, j] > 0 and j != i]
    agent = Agent(in_neighbors=neighbours, out_neighbors=neighbours, in_weights=w[i].tolist())
    agent.set_problem(Problem(Logistic(rows, drawn and iter(drawn))))
    return GradientTracking(agent, np.zeros((FEATURES, 1)))


def timings(rows, times):
    seconds = []
    for seed in range(times):
        algorithm = tracking(rows, samples(TIMED_ROUNDS + 1, len(rows), seed)[:, MPI.COMM_WORLD.rank].tolist())
        MPI.COMM_WORLD.Barrier()
        started = time.perf_counter()
        algorithm.run(iterations=TIMED_ROUNDS, stepsize=STEP)
        MPI.COMM_WORLD.Barrier()
        seconds.append((time.perf_counter() - started) / TIMED_ROUNDS)
    return {"off": {"GradientTracking": seconds}}


def in_matrices(shards, drawn, rounds):
    """The same equations for all agents at once, without disropt."""
    w = exponential(both_ways=True)

    def gradients(k, x):
        rows = shards if drawn is None else [rows[[r]] for rows, r in zip(shards, drawn[k])]
        return np.array([gradient(a, x_i[:, None]).ravel() for a, x_i in zip(rows, x)])

    x = np.zeros((AGENTS, FEATURES))
    d = g = gradients(0, x)
    for k in range(1, rounds + 1):
        x = w @ x - STEP * d
        g_next = gradients(k, x)
        d, g = w @ d + g_next - g, g_next
    return x


def curves(rows, rounds):
    """How far disropt's last states are from those of the equations, at most, with full batches and with batch 1."""
    rank, result = MPI.COMM_WORLD.rank, {}
    shards = MPI.COMM_WORLD.gather(rows)
    for name, drawn in [("full", None), ("sampled", samples(rounds + 1, len(rows)))]:
        algorithm = tracking(rows, None if drawn is None else drawn[:, rank].tolist())
        algorithm.run(iterations=rounds, stepsize=STEP)
        states = MPI.COMM_WORLD.gather(algorithm.get_result().ravel())
        if rank == 0:
            difference = np.abs(np.array(states) - in_matrices(shards, drawn, rounds)).max()
            result[name] = {"difference": [float(difference)]}
    return result


def main():
    task, folder, number = sys.argv[1:]
    starts, columns, labels, m = training_rows(folder)
    own = slice(MPI.COMM_WORLD.rank * m, (MPI.COMM_WORLD.rank + 1) * m)
    starts = starts[own.start : own.stop + 1]
    rows = labels[own, None] * dense(starts - starts[0], columns[starts[0] : starts[-1]])
    result = {"time": timings, "curves": curves}[task](rows, int(number))
    if MPI.COMM_WORLD.rank == 0:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
