"""Rates and floors of the five methods from the matrices of a round in NumPy, for check-map.py."""

import math

import numpy as np
from claims_matrices import covariance, stationary

SAME = 1e-6


def said(rules, rule, exact):
    """What floors say of a rule: h, f, o; nothing where they say nothing."""
    graph = rule.get("on", "multi-sub-ring")

    def lower(a, b):
        if a is None or b is None:
            return "o" if a is b else "f" if a is None else "h"
        log = math.log(a / b)
        return "o" if abs(log) <= SAME else "h" if log < 0 else "f"

    def floor(method, on=graph):
        return exact[on][method]["floor"]

    if "lower" in rule:
        found = [lower(floor(a), floor(b)) for a in rule["lower"] for b in rule["than"]]
    elif "lower_on_exponential" in rule:
        found = [
            lower(floor(a, "exponential"), floor(a, "multi-sub-ring")) for a in rule["lower_on_exponential"]
        ]
    elif "close" in rule or "overlap" in rule:
        a, b = (floor(method) for method in rule.get("close", rule.get("overlap")))
        found = ["h" if a is not None and b is not None and abs(math.log(a / b)) <= rules["margin"] else "f"]
    else:
        return None
    return "f" if "f" in found else "o" if "o" in found else "h"


class Algebra:
    """Around the lowest point of F, along the direction in which it curves most."""

    def __init__(self, runs):
        self.runs, self.directions = runs, {}

    def direction(self, partition):
        """h, the noise s of a gradient along it, and the agents' gradients b along it."""
        if partition not in self.directions:
            runs, shard = self.runs, self.runs.shard(partition)
            alpha, rows, labels = (
                runs.run_settings["alpha"],
                runs.rows[shard.ravel()],
                runs.labels[shard.ravel()],
            )

            def slopes(x):
                return -labels / (1 + np.exp(labels * (rows @ x)))

            x = np.zeros(rows.shape[1])
            for _ in range(100):  # Newton's steps, damped where F is not convex
                share = slopes(x)
                gradient = rows.T @ share / len(rows) + 2 * alpha * x / (1 + x**2) ** 2
                curved = 2 * alpha * (1 - 3 * x**2) / (1 + x**2) ** 3
                hessian = (rows * (np.abs(share) * (1 - np.abs(share)))[:, None]).T @ rows / len(
                    rows
                ) + np.diag(curved)
                values, vectors = np.linalg.eigh(hessian)
                if gradient @ gradient < 1e-24:
                    break
                step = vectors @ ((vectors.T @ gradient) / np.maximum(np.abs(values), 1e-3))
                x = x - step / max(1, np.linalg.norm(step))
            top = vectors[:, -1]
            along = (share * (rows @ top)).reshape(shard.shape)
            pulls = along.mean(axis=1) + top @ (2 * alpha * x / (1 + x**2) ** 2)
            self.directions[partition] = values[-1], along.var(axis=1).mean(), pulls
        return self.directions[partition]

    def exact(self, method, graph, setting):
        """Step, rate and floor."""
        pull, push, weights, size, momentum = self.runs.method(method, graph, setting)
        curvature, noise, pulls = self.direction(setting["partition"])
        n, step, memory = len(pull), size * curvature, 1 - (momentum or 1)
        one, none = np.eye(n), np.zeros((n, n))
        # states (x, m, v): m the agents' gradients or their momentum, v what is tracked; of push-sum x is u
        tracks = method in ("SMTPP", "STPP", "Push-DIGing")
        if method == "CSGDM":  # all agents are one, with an n-th of the noise
            fresh = 1 - memory
            matrix = np.array([[1 - step * fresh, -step * memory], [fresh, memory]])
            entry, weights, pulls = fresh * np.array([[-step], [1.0]]) / math.sqrt(n), np.ones(1), np.zeros(1)
        else:
            mix = pull if method in ("SMTPP", "STPP") else push
            shown = one
            if mix is push:  # agents look at u over w, and w comes to rest at n times push's own weights
                shown = np.diag(1 / (n * stationary(push.T)))
            x = np.hstack([mix, none, -step * mix]) if tracks else np.hstack([mix, -step * mix])
            keep = np.hstack([none, one, none]) if tracks else np.hstack([none, one])
            m = (1 - memory) * shown @ x + memory * keep
            rows, entry = [x, m], [none, (1 - memory) * one]
            if tracks:
                rows.append(m + np.hstack([none, -one, push]))
                entry.append((1 - memory) * one)
            matrix, entry = np.vstack(rows), np.vstack(entry)
        if tracks:  # 1'v - 1'm never changes
            left = np.r_[np.zeros(n), -np.ones(n), np.ones(n)]
            values, vectors = np.linalg.eig(matrix)
            right = np.real(vectors[:, np.argmin(abs(values - 1))])
            matrix = matrix - np.outer(right, left) / (left @ right)
        rate = abs(np.linalg.eigvals(matrix)).max()
        if rate >= 1:
            return {"step": step, "rate": rate, "floor": None}
        average = np.r_[weights, np.zeros(len(matrix) - len(weights))]
        floor = noise * (average @ covariance(matrix, entry) @ average)
        rest = np.linalg.solve(np.eye(len(matrix)) - matrix, entry @ (pulls - pulls.mean()))
        return {"step": step, "rate": rate, "floor": floor + (average @ rest) ** 2 * (method == "SGP")}
