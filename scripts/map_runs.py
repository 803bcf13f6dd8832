"""The five methods of the paper in NumPy, from the data to the curves, for check-map.py."""

import itertools
import math

import numpy as np
from claims_matrices import exponential, flower, full, stationary

MULTIPLIERS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = 0x9E3779B9, 0xBB67AE85
LOW = np.uint64(0xFFFFFFFF)


def philox(counters, seed):
    """Philox4x32-10 of an array of counters [count, 4]: four words for each."""
    words = [counters[:, i].astype(np.uint64) for i in range(4)]
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        products = words[0] * MULTIPLIERS[0], words[2] * MULTIPLIERS[1]
        high, low = (
            [product >> np.uint64(32) for product in products],
            [product & LOW for product in products],
        )
        words = [
            high[1] ^ words[1] ^ np.uint64(key[0]),
            low[1],
            high[0] ^ words[3] ^ np.uint64(key[1]),
            low[0],
        ]
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, WEYL, strict=True)]
    return words


def bits(counters, seed):
    """The two draws of 64 bits of each counter."""
    words = philox(np.atleast_2d(counters), seed)
    return words[0] | words[1] << np.uint64(32), words[2] | words[3] << np.uint64(32)


def below(draws, bound):
    """Draws of 64 bits as numbers below a small bound: the upper half of their products with it."""
    high, low = draws >> np.uint64(32), draws & LOW
    upper = high * np.uint64(bound) + (low * np.uint64(bound) >> np.uint64(32)) >> np.uint64(32)
    return upper.astype(int)


def mixed(z):
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def in_passes(count, size, agent, seed):
    """The rows of an agent that draws one after another without replacement, from `size`."""
    rows = []
    for number in range(-(-count // size)):
        blocks = np.zeros((12, 4), dtype=np.uint64)
        blocks[:, 0], blocks[:, 1], blocks[:, 2] = 2**31 + np.arange(12), agent, number
        keys = np.stack(bits(blocks, seed), axis=1).ravel()
        places = np.arange(size)
        for key, total in zip(keys, below(keys, size), strict=True):
            others = (total - places) % size
            swap = mixed(key + np.maximum(places, others).astype(np.uint64)) >> np.uint64(63)
            places = np.where(swap == 1, others, places)
        rows.append(places)
    return np.concatenate(rows)[:count]


def shuffled(count, seed):
    """Fisher and Yates from the end, with the draws of the partition."""
    blocks = np.zeros((count // 2 + 1, 4), dtype=np.uint64)
    blocks[:, 0], blocks[:, 3] = np.arange(len(blocks)), 2
    draws = np.stack(bits(blocks, seed), axis=1).ravel()
    order = list(range(count))
    for last, draw in zip(range(count - 1, 0, -1), draws, strict=False):
        other = int(draw) * (last + 1) >> 64
        order[last], order[other] = order[other], order[last]
    return order


def normals(count, seed):
    """Standard normals of the problem's stream, by Box and Muller, two of a pair."""
    blocks = np.zeros(((count + 1) // 2, 4), dtype=np.uint64)
    blocks[:, 0], blocks[:, 3] = np.arange(len(blocks)), 3
    first, second = (
        (draws >> np.uint64(12)).astype(float) * 2.0**-52 + 2.0**-53 for draws in bits(blocks, seed)
    )
    radius, angle = np.sqrt(-2 * np.log(first)), 2 * np.pi * second
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).ravel()[:count]


def parents(n, edges, root, chain):
    """Of each agent its parent: breadth first, or depth first."""
    heard_by = [sorted(receiver for sender, receiver in edges if sender == i) for i in range(n)]
    parent = {root: root}
    if chain:
        path = [root]
        while path:
            child = next((j for j in heard_by[path[-1]] if j not in parent), None)
            if child is None:
                path.pop()
            else:
                parent[child] = path[-1]
                path.append(child)
        return parent
    queue = [root]
    for i in queue:
        for child in heard_by[i]:
            if child not in parent:
                parent[child] = i
                queue.append(child)
    return parent


def trees(n, edges, root, chain):
    pull, push = np.zeros((n, n)), np.zeros((n, n))
    for child, parent in parents(n, edges, root, chain).items():
        pull[child, parent] = 1
    for child, parent in parents(n, [(b, a) for a, b in edges], root, chain).items():
        push[parent, child] = 1
    return pull, push


def metropolis(n, edges):
    """1/(1 + the larger degree) on every link, the rest for oneself; degrees of who hears, or is heard."""
    links = np.zeros((n, n))
    for sender, receiver in edges:
        links[receiver, sender] = 1
    pull, push = (
        links / (1 + np.maximum.outer(degrees, degrees)) for degrees in (links.sum(axis=1), links.sum(axis=0))
    )
    return pull + np.diag(1 - pull.sum(axis=1)), push + np.diag(1 - push.sum(axis=0))


def edges_of(n, setting):
    if "cycles" in setting:
        edges, first = [], 1
        for length in setting["cycles"]:
            cycle = [0, *range(first, first + length), 0]
            edges += list(itertools.pairwise(cycle))
            first += length
        return edges
    kind = setting["kind"]
    if kind == "flower":
        return flower(n, setting["petals"])
    ring = [(i, (i + 1) % n) for i in range(n)]
    if kind == "ring":
        return ring
    if kind == "back-chords":
        return ring + [(i, (i - 2) % n) for i in range(n)]
    each = n // setting["rings"]  # ring-of-rings, of equal rings
    inner = [(i, i + 1 if (i + 1) % each else i + 1 - each) for i in range(n)]
    return inner + [(head, (head + each) % n) for head in range(0, n, each)]


class Runs:
    """Runs under one seed."""

    def __init__(self, run, text, seed):
        self.run_settings, self.seed = run, seed
        lines = [line.split() for line in text.splitlines() if line]
        self.labels = np.array([float(line[0]) for line in lines])
        self.rows = np.zeros((len(lines), 123))
        for row, line in zip(self.rows, lines, strict=True):
            for pair in line[1:]:
                index, value = pair.split(":")
                row[int(index) - 1] = float(value)
        self.shards = {}

    def shard(self, partition):
        """The rows of each agent."""
        if partition not in self.shards:
            n, count = self.run_settings["agents"], len(self.labels)
            order = {
                "even": lambda: list(range(count)),
                "shuffled": lambda: shuffled(count, self.seed),
                "by-label": lambda: list(np.argsort(self.labels, kind="stable")),
            }[partition]()
            self.shards[partition] = np.array(order[: count // n * n]).reshape(n, count // n)
        return self.shards[partition]

    def matrices(self, graph, setting, on_trees):
        n = self.run_settings["agents"]
        edges = exponential(n) if graph == "exponential" else edges_of(n, setting)
        if on_trees:
            pull, push = trees(n, edges, setting["root"], setting["trees"] == "chain")
        elif setting["weights"] == "metropolis":
            pull, push = metropolis(n, edges)
        else:
            pull, push = full(n, edges)
        if setting["weights"] == "lazy":
            pull, push = ((np.eye(n) + mixing) / 2 for mixing in (pull, push))
        return pull, push

    def samples(self, rounds, size, repetition, sampling):
        """The row that each agent draws in each round, among its own."""
        n = self.run_settings["agents"]
        seed = int(bits([0, 0, repetition, 4], self.seed)[0][0])
        if sampling == "without-replacement":
            return np.stack([in_passes(rounds + 1, size, agent, seed) for agent in range(n)], axis=1)
        counters = np.zeros((rounds + 1, n, 4), dtype=np.uint64)
        counters[..., 1], counters[..., 2] = np.arange(n), np.arange(rounds + 1)[:, None]
        drawn = bits(counters.reshape(-1, 4), seed)[0]
        return below(drawn, size).reshape(rounds + 1, n)

    def method(self, method, graph, setting):
        """R, C, the weights of the average, the first step and the momentum."""
        settings, n = self.run_settings, self.run_settings["agents"]
        rivals = method in ("STPP", "SGP", "Push-DIGing")
        size = setting["rivals_step"] if rivals else settings["step"]
        on_trees = method == "STPP" or (method == "SMTPP" and setting["links"] == "trees")
        pull, push = self.matrices(graph, setting, on_trees)
        weights = np.full(n, 1 / n)
        if method in ("SMTPP", "STPP"):
            weights = stationary(pull)
            if setting["scaling"] == "effective":
                size /= n * weights @ stationary(push.T)
            elif setting["scaling"] == "over-n" and on_trees:
                size /= n
        has = method in ("SMTPP", "CSGDM") or (
            method in ("SGP", "Push-DIGing") and setting["rivals_momentum"]
        )
        return pull, push, weights, size, setting["momentum"] if has else None

    def run(self, method, graph, setting, repetition):
        """F and its squared slope at the recorded states."""
        settings = self.run_settings
        n, rounds, alpha = settings["agents"], settings["iterations"], settings["alpha"]
        shard = self.shard(setting["partition"])
        samples = self.samples(rounds, shard.shape[1], repetition, setting.get("sampling"))
        kept, labels = self.rows[shard.ravel()], self.labels[shard.ravel()]
        pull, push, weights, size, momentum = self.method(method, graph, setting)

        def slopes(x, k):
            """Each agent's gradient at its own x for its own sample of round k."""
            rows = shard[np.arange(n), samples[k]]
            a, y = self.rows[rows], self.labels[rows]
            margins = np.clip(y * (a * x).sum(axis=1), -700, 700)
            return -(y / (1 + np.exp(margins)))[:, None] * a + 2 * alpha * x / (1 + x**2) ** 2

        def measured(x):
            margins = labels * (kept @ x)
            share = np.exp(-np.logaddexp(0, margins))
            loss = np.logaddexp(0, -margins).mean() + (alpha * x**2 / (1 + x**2)).sum()
            slope = -(kept.T @ (labels * share)) / len(labels) + 2 * alpha * x / (1 + x**2) ** 2
            return loss, slope @ slope

        x = u = np.tile(normals(123, self.seed) if setting["start"] == "random" else np.zeros(123), (n, 1))
        w = np.ones(n)
        m = np.zeros((n, 123)) if momentum else slopes(x, 0)
        v = m.copy()
        points = []
        with np.errstate(all="ignore"):
            for k in range(rounds + 1):
                if k % settings["record_every"] == 0:
                    points.append(measured(weights @ (u if method in ("SGP", "Push-DIGing") else x)))
                    if not math.isfinite(points[-1][0]) or points[-1][0] > 1e6:
                        break
                every = setting.get("every")
                step = size * (settings["decay"] ** (k // every) if every else 1)
                if method in ("SMTPP", "STPP"):
                    x = pull @ (x - step * v)
                elif method == "CSGDM":
                    if k == rounds:
                        break
                    m = (1 - momentum) * m + momentum * slopes(x, k).mean(axis=0)
                    x = x - step * m
                    continue
                else:
                    u, w = push @ (u - step * (v if method == "Push-DIGing" else m)), push @ w
                    x = u / w[:, None]
                if k == rounds:
                    break
                fresh = slopes(x, k + 1)
                after = (1 - momentum) * m + momentum * fresh if momentum else fresh
                v, m = push @ v + after - m, after
        return np.array(points)
