"""A network with one hidden layer on the digits, for sixteen agents that see three classes at most; tests
bring the gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from conftest import command

import oneway as ow

AGENTS, PIXELS, HIDDEN, CLASSES, BATCH, ROUNDS = 16, 64, 32, 10, 16, 400
SHAPES = ((PIXELS, HIDDEN), (HIDDEN,), (HIDDEN, CLASSES), (CLASSES,))
DIM = sum(int(np.prod(shape)) for shape in SHAPES)


def split(x: Any) -> list[Any]:
    """The two layers of a vector; for arrays of any library."""
    parts, first = [], 0
    for shape in SHAPES:
        size = int(np.prod(shape))
        parts.append(x[first : first + size].reshape(shape))
        first += size
    return parts


def rows(part: str, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels, from the LIBSVM text that the command exports."""
    done = command("data", "export", "digits", "--split", part, at=folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    images, labels = np.zeros((len(lines), PIXELS)), np.zeros(len(lines), dtype="int64")
    for i, line in enumerate(lines):
        label, *entries = line.split()
        labels[i] = int(label)
        for entry in entries:
            column, value = entry.split(":")
            images[i, int(column) - 1] = float(value)
    return images, labels


def accuracy(x: np.ndarray, images: np.ndarray, labels: np.ndarray) -> float:
    first, bias, second, last = split(x)
    scores = np.tanh(images @ first + bias) @ second + last
    return float((scores.argmax(axis=1) == labels).mean())


def trains(gradients: Callable[..., Any], losses: Callable[..., Any], framework: Any, folder: Path) -> None:
    """`gradients` and `losses` take (m, d) points, (m, b, 64) images and (m, b) labels, and have the
    library's own arrays.
    """
    images, labels = rows("train", folder)
    order = np.argsort(labels, kind="stable")
    share = len(labels) // AGENTS
    order = order[: AGENTS * share].reshape(AGENTS, share)
    assert max(len(np.unique(labels[own])) for own in order) <= 3
    images, labels = images[order], labels[order]
    seen: list[np.ndarray] = []

    def gradient(x: Any, agents: np.ndarray, draws: ow.Draws | None) -> Any:
        if draws is None:
            return gradients(x, images[agents], labels[agents])
        chosen = draws.integers(share, BATCH)
        return gradients(x, images[agents[:, None], chosen], labels[agents[:, None], chosen])

    def loss(x: Any, agents: np.ndarray) -> Any:
        seen.append(np.asarray(x).mean(axis=0))
        return losses(x, images[agents], labels[agents])

    start = np.random.default_rng(1).normal(size=DIM) / 8
    problem = ow.Problem(gradient, dim=DIM, agents=AGENTS, loss=loss, start=start, framework=framework)
    asked = {"step": 1.0, "iterations": ROUNDS, "record_every": 200, "seed": 1}
    result = ow.run(problem, "exponential", "smtpp", **asked)
    assert result.final[0]["status"] == "completed"
    test = rows("test", folder)
    before, after = accuracy(seen[0], *test), accuracy(seen[-1], *test)
    assert before < 0.3
    assert after > 0.9, f"{after:.3f} of the test rows are right"
    losses_seen = result.curve()["loss"]
    assert losses_seen[-1] < 0.05 * losses_seen[0]
    assert result.curve()["conservation_error"].max() < 1e-12
    again = ow.run(problem, "exponential", "smtpp", **{**asked, "iterations": 20})
    assert (
        again.state_hash == ow.run(problem, "exponential", "smtpp", **{**asked, "iterations": 20}).state_hash
    )
