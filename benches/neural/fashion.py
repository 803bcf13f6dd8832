"""What even and uneven data are worth to each method, on a CPU: a small network on Fashion-MNIST.

  python benches/neural/fashion.py --out DIR              some 160 trainings; less with --alphas 1,0.1

Each training is a file in DIR; those that are there are not done again. All are in DIR/all.json, of which
benches/neural/fashion.json is a copy.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from pieces import Pieces
from torch import nn
from trainings import AGENTS, LOSS, METHODS

import oneway.torch as ot

# steps to begin with, of one order of size for all methods of a kind
STEPS: dict[str, list[float]] = {
    "smtpp-muon": [0.01, 0.03, 0.1],
    "smtpp-adam": [0.001, 0.003, 0.01],
    "smtpp": [0.1, 0.3, 1.0],
    "push-pull": [0.03, 0.1, 0.3],
    "storm-tracking": [0.03, 0.1, 0.3],
    "momentum-tracking": [0.01, 0.03, 0.1],
    "sgp-momentum": [0.01, 0.03, 0.1],
    "sgp-muon": [0.01, 0.03, 0.1],
    "qg-dsgdm": [0.01, 0.03, 0.1],
    "decentlam": [0.01, 0.03, 0.1],
    "sgp": [0.1, 0.3, 1.0],
}


def network() -> nn.Module:
    """One hidden layer: 50,890 weights."""
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))


def table(pieces: Pieces, alphas: list[float], methods: list[str], rounds: int, images: int) -> None:
    """Tuned on a validation split, with three seeds: a file for each training."""
    data = ot.data.fashion_mnist()
    mean, deviation = data.inputs[:images].mean(), data.inputs[:images].std()
    whole, others = (data.inputs - mean) / deviation, (data.test_inputs - mean) / deviation
    inputs, targets = whole[:images], data.targets[:images]
    held = whole[images:][:4000], data.targets[images:][:4000]

    def training(name: str, alpha: float, step: float, seed: int) -> dict[str, Any]:
        torch.manual_seed(seed)
        parts = ot.split(inputs, targets, AGENTS, "dirichlet", alpha=alpha, seed=seed)
        run = ot.simulate(
            network(), LOSS, parts, rounds=rounds, method=METHODS[name], topology="exponential", step=step,
            batch=32, schedule="cosine", seed=seed,
        )  # fmt: skip
        told = {"step": step, "rounds": rounds, "images": images, "weights": run.copies.dim, "seed": seed,
                "alpha": alpha}  # fmt: skip
        if not bool(torch.isfinite(run.points).all()):
            return told | {"diverged": True, "validation": 0.0, "test": 0.0}
        return told | {
            "validation": run.evaluate(*held, each=False)["accuracy"],
            "test": run.evaluate(others, data.test_targets, each=False)["accuracy"],
            "seconds": run.seconds,
        }

    for alpha in alphas:
        for name in methods:
            pieces.search(
                f"fashion-{alpha:g}-{name}", STEPS[name],
                lambda step, seed, name=name, alpha=alpha: training(name, alpha, step, seed),
            )  # fmt: skip


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--alphas", default="1,0.1,0.01")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--images", type=int, default=16_000)
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after so long")
    given = parser.parse_args()
    torch.set_num_threads(1)
    pieces = Pieces(given.out, "cpu", given.seconds, small=False)
    alphas = [float(alpha) for alpha in given.alphas.split(",")]
    table(pieces, alphas, list(STEPS), given.rounds, given.images)
    print(f"{pieces.collect()} pieces")


if __name__ == "__main__":
    main()
