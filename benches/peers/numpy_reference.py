"""SMTPP in NumPy, as a researcher who knows NumPy well would write it: all agents' rows stacked, no loop over agents.

usage: numpy_reference.py time FOLDER TIMES | curves FOLDER ROUNDS; FOLDER has a9a-train.txt and a9a-test.txt

Prints JSON: seconds a round of every variant, or the curves.
"""

import json
import sys
import time

import numpy as np
import scipy.sparse as sparse

from problem import (AGENTS, ALPHA, FEATURES, MOMENTUM, RECORD_EVERY, ROUNDS, STEP, dense, exponential, load, samples,
                     training_rows)

N, D, CHUNK = AGENTS, FEATURES, 50
TOGETHER = [1, 8, 32]  # states that are measured with one pass over the data


class Data:
    """The rows y_j·a_j in the forms that pay: dense to sample from, sparse to evaluate."""

    def __init__(self, folder):
        starts, columns, labels, self.m = training_rows(folder)
        self.dense = labels[:, None] * dense(starts, columns)
        values = np.repeat(labels, np.diff(starts))
        # all rows at one point …
        self.rows = sparse.csr_matrix((values, columns, starts), shape=(N * self.m, D))
        # … and each agent's at its own: diag(A_1, …, A_n) times all x_i in one long vector
        own = columns + np.repeat(np.arange(N * self.m) // self.m * D, np.diff(starts))
        self.blocks = sparse.csr_matrix((values, own, starts), shape=(N * self.m, N * D))
        starts, columns, labels = load(folder, "test")
        values = np.repeat(labels, np.diff(starts))
        self.test = sparse.csr_matrix((values, columns, starts), shape=(len(labels), D))

    def local_gradients(self, x):
        """∇f_i(x_i) of all agents, for stacked states x[s, i]."""
        z = self.blocks @ x.reshape(-1, N * D).T
        sums = self.blocks.T @ (-1 / (1 + np.exp(z)))
        return sums.T.reshape(x.shape) / self.m + regulariser_slope(x)


def regulariser_slope(x):
    return 2 * ALPHA * x / (1 + x**2) ** 2


class Sampled:
    """∇F_i(x_i; ξ_i) at a row of each agent; rows are fetched for a chunk of rounds at once, which fits in cache."""

    def __init__(self, data, rows):
        self.dense, self.rows = data.dense, rows + np.arange(N) * data.m

    def __call__(self, k, x):
        if k % CHUNK == 0 or k == 1:
            self.chunk = self.dense[self.rows[k - k % CHUNK : k - k % CHUNK + CHUNK]]
        a = self.chunk[k % CHUNK]
        z = np.einsum("ij,ij->i", a, x)
        q = x * x
        q += 1
        q *= q
        g = np.divide(x, q, out=q)
        g *= 2 * ALPHA
        g -= a * (1 / (1 + np.exp(z)))[:, None]
        return g


def smtpp(mix, gradient, rounds, record=None):
    """X⁺ = R(X − ηV); M⁺ = (1−λ)M + λG⁺; V⁺ = CV + M⁺ − M, in place where that is faster."""
    r, c = mix
    x, v, m = np.zeros((3, N, D))
    if record:
        record(0, x, v, m)
    for k in range(1, rounds + 1):
        x = r @ (x - STEP * v)
        change = gradient(k, x)
        change -= m
        change *= MOMENTUM  # M⁺ − M = λ(G⁺ − M)
        m = m + change
        v = c @ v
        v += change
        if record and (k % RECORD_EVERY == 0 or k == rounds):
            record(k, x, v, m)


def smtpp_plain(mix, data, rows, rounds):
    """The same as one would write it first."""
    r, c = mix
    rows = rows + np.arange(N) * data.m
    x = v = m = np.zeros((N, D))
    for k in range(1, rounds + 1):
        x = r @ (x - STEP * v)
        a = data.dense[rows[k]]
        slope = 1 / (1 + np.exp((a * x).sum(axis=1)))
        g = regulariser_slope(x) - slope[:, None] * a
        m_next = (1 - MOMENTUM) * m + MOMENTUM * g
        v = c @ v + m_next - m
        m = m_next


class Metrics:
    """The columns of oneway's curves.csv for the recorded states, `together` states at a time."""

    def __init__(self, data, mix, together):
        self.data, self.together, self.waiting, self.columns = data, together, [], []
        self.pi = [np.full(N, 1 / N)] * 2  # of R and C, doubly stochastic here
        self.bytes = sum(np.count_nonzero(w) - N for w in mix) * D * 8

    def __call__(self, k, x, v, m):
        self.waiting.append((k, x, v, m))  # smtpp makes new arrays in each round
        if len(self.waiting) == self.together:
            self.measure()

    def measure(self):
        if not self.waiting:
            return
        k, x, v, m = (np.array(part) for part in zip(*self.waiting))
        self.waiting, data = [], self.data
        mean = np.einsum("i,sij->sj", self.pi[0], x)
        e = np.exp(-(data.rows @ mean.T))  # margins are small here, nothing overflows
        losses = np.log1p(e).mean(axis=0) + ALPHA * (mean**2 / (1 + mean**2)).sum(axis=1)
        sums = data.rows.T @ (-e / (1 + e))
        gradient = sums.T / (N * data.m) + regulariser_slope(mean)
        total = v.sum(axis=1)
        self.columns.append({
            "loss": losses,
            "grad_norm_sq": (gradient**2).sum(axis=1),
            "consensus_error": ((x - mean[:, None]) ** 2).sum(axis=(1, 2)) / N,
            "tracking_error": ((v - self.pi[1][:, None] * total[:, None]) ** 2).sum(axis=(1, 2)) / N,
            "momentum_error": ((m - data.local_gradients(x)) ** 2).sum(axis=(1, 2)) / N,
            "conservation_error": np.linalg.norm(total - m.sum(axis=1), axis=1) / N,
            "test_accuracy": (data.test @ mean.T > 0).mean(axis=0),
            "bytes_sent": self.bytes * k,
        })

    def curves(self):
        self.measure()
        return {name: np.concatenate([part[name] for part in self.columns]).tolist() for name in self.columns[0]}


def seconds_a_round(work):
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) / ROUNDS


def timings(data, times):
    """{"off": {variant: seconds of each run}, "on": …}; drawing samples is part of the work."""
    w = exponential()
    whole, sparsely = (w, w.copy()), (sparse.csr_matrix(w), sparse.csr_matrix(w))
    random = np.random.default_rng(1)

    def rows():
        return random.integers(0, data.m, size=(ROUNDS + 1, N))

    def measured(together):
        metrics = Metrics(data, whole, together)
        smtpp(whole, Sampled(data, rows()), ROUNDS, metrics)
        metrics.curves()

    work = {
        "off": {
            "plain, sparse mixing": lambda: smtpp_plain(sparsely, data, rows(), ROUNDS),
            "plain, dense mixing": lambda: smtpp_plain(whole, data, rows(), ROUNDS),
            "in place, dense mixing": lambda: smtpp(whole, Sampled(data, rows()), ROUNDS),
            "in place, sparse mixing": lambda: smtpp(sparsely, Sampled(data, rows()), ROUNDS),
        },
        "on": {f"{together} states a pass": lambda t=together: measured(t) for together in TOGETHER},
    }
    seconds = {kind: {name: [] for name in variants} for kind, variants in work.items()}
    for _ in range(times):
        for kind, variants in work.items():
            for name, run in variants.items():
                seconds[kind][name].append(seconds_a_round(run))
    return seconds


def curves(data, rounds):
    mix = exponential(), exponential()
    gradients = {"full": lambda k, x: data.local_gradients(x), "sampled": Sampled(data, samples(rounds + 1, data.m))}
    result = {}
    for name, gradient in gradients.items():
        metrics = Metrics(data, mix, together=8)
        smtpp(mix, gradient, rounds, metrics)
        result[name] = metrics.curves()
    return result


if __name__ == "__main__":
    task, folder, number = sys.argv[1:]
    print(json.dumps({"time": timings, "curves": curves}[task](Data(folder), int(number))))
