"""Graphs, and a round of SMTPP as a matrix: floors and stability limits without simulation, for check-claims.py."""

import math

import numpy as np


def flower(n, petals):
    edges, first = [], 1
    for petal in range(petals):
        size = (n - 1) // petals + (petal < (n - 1) % petals)
        cycle = [0, *range(first, first + size), 0]
        edges += list(zip(cycle, cycle[1:]))
        first += size
    return edges


def exponential(n):
    return [(i, (i + 2**j) % n) for i in range(n) for j in range(math.ceil(math.log2(n)))]


def full(n, edges):
    links = np.eye(n)
    for sender, receiver in edges:
        links[receiver, sender] = 1
    return links / links.sum(axis=1, keepdims=True), links / links.sum(axis=0, keepdims=True)


def parents(n, edges):
    heard_by = [sorted(receiver for sender, receiver in edges if sender == i) for i in range(n)]
    parent, queue = {0: 0}, [0]
    for i in queue:
        for child in heard_by[i]:
            if child not in parent:
                parent[child] = i
                queue.append(child)
    return parent


def trees(n, edges):
    pull, push = np.zeros((n, n)), np.zeros((n, n))
    for child, parent in parents(n, edges).items():
        pull[child, parent] = 1
    for child, parent in parents(n, [(b, a) for a, b in edges]).items():
        push[parent, child] = 1
    return pull, push


def stationary(rows):
    """pi with pi R = pi and sum 1."""
    n = len(rows)
    system = np.vstack([rows.T - np.eye(n), np.ones(n)])
    return np.linalg.lstsq(system, np.r_[np.zeros(n), 1.0], rcond=None)[0]


def round_matrix(pull, push, step, momentum):
    """One round of SMTPP on f_i = x^2/2 in (X, M, V), and how the noise enters. Push-Pull is momentum = 1."""
    n = len(pull)
    one, none = np.eye(n), np.zeros((n, n))
    x = np.hstack([pull, none, -step * pull])
    m = momentum * x + (1 - momentum) * np.hstack([none, one, none])
    v = np.hstack([none, -one, push]) + m
    return np.vstack([x, m, v]), momentum * np.vstack([none, one, one])


def without_conserved(matrix):
    """1'V - 1'M never changes: that eigenvalue, 1, is taken out."""
    n = len(matrix) // 3
    left = np.r_[np.zeros(n), -np.ones(n), np.ones(n)]
    values, vectors = np.linalg.eig(matrix)
    right = np.real(vectors[:, np.argmin(abs(values - 1))])
    return matrix - np.outer(right, left) / (left @ right)


def covariance(matrix, noise):
    """S = T S T' + B B', by doubling."""
    total, power = noise @ noise.T, matrix.copy()
    for _ in range(60):
        total, power = total + power @ total @ power.T, power @ power
        if np.abs(power).max() < 1e-100:
            break
    return total


def floors(graph, momentum, step):
    pull, push = graph
    n = len(pull)
    pi_r, pi_c = stationary(pull), stationary(push.T)
    matrix, noise = round_matrix(pull, push, step / (n * pi_r @ pi_c), momentum)
    s = covariance(without_conserved(matrix), noise)
    apart = np.eye(n) - np.outer(pi_c, np.ones(n))
    return pi_r @ s[:n, :n] @ pi_r, np.trace(s[:n, :n]) / n, np.trace(apart @ s[2 * n:, 2 * n:] @ apart.T) / n


def limit(graph, momentum):
    pull, push = graph
    c = len(pull) * stationary(pull) @ stationary(push.T)

    def stable(step):
        matrix, _ = round_matrix(pull, push, step / c, momentum)
        return abs(np.linalg.eigvals(without_conserved(matrix))).max() < 1

    low = high = 0.02
    while stable(high) and high < 64:
        low, high = high, 2 * high
    for _ in range(14):
        middle = (low + high) / 2
        low, high = (middle, high) if stable(middle) else (low, middle)
    return (low + high) / 2


def exponent(x, y):
    """p of y ~ x^p by least squares, and its standard error."""
    x, y = np.log(x), np.log(y)
    p, c = np.polyfit(x, y, 1)
    squares = ((y - p * x - c) ** 2).sum()
    return p, math.sqrt(squares / (len(x) - 2) / ((x - x.mean()) ** 2).sum())
