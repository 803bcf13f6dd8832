"""A row of RelaySGD's table: VGG-11 on all of CIFAR-10, n = 16, α = 0.1, and other methods beside it.

Vogels et al. (2021): 200 epochs, batch 32 an agent, steps rise over 5 epochs and fall to a tenth after 150
and 180, weight decay 10⁻⁴, moved and mirrored images; SGP on the exponential graph with two averages a
round, each with one other agent, step 0.2.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import torch
from networks import vgg11
from pieces import Pieces

import oneway as ow
import oneway.torch as ot

AGENTS, BATCH, WHOLE = 16, 32, 200
METHODS: dict[str, Any] = {
    "sgp": "sgp",
    "smtpp": {"kind": "smtpp", "momentum": 0.1},
    "smtpp-muon": {"kind": "smtpp-muon", "momentum": 0.1},
}
# first steps of short trainings that choose the step; SGP's is the paper's
STEPS = {"smtpp": [0.05, 0.1, 0.2], "smtpp-muon": [0.003, 0.01, 0.03]}
SHORT = 10  # epochs


def network() -> ow.Network:
    """Two averages with one other a round, 1 and 2 and then 4 and 8 places on, are one with three."""
    offsets = ((1, 2, 3), (4, 8, 12))
    return ow.Network.from_edges(
        [[(i, (i + offset) % AGENTS) for i in range(AGENTS) for offset in some] for some in offsets]
    )


def factor(rounds: int) -> Callable[[int], float]:
    """What the step is multiplied by: the paper's 5, 150 and 180 of 200 epochs, for any length."""

    def of_round(k: int) -> float:
        done = k / rounds
        return min(1.0, done / 0.025) * (0.1 if done >= 0.75 else 1.0) * (0.1 if done >= 0.9 else 1.0)

    return of_round


def moved_and_mirrored(inputs: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Each image by up to four pixels, and in a mirror with probability ½."""
    return ot.data.flips(ot.data.crops(inputs, generator), generator)


def training(
    pieces: Pieces, data: ot.data.Data, name: str, step: float, epochs: int, held: int = 0, seed: int = 1
) -> dict[str, Any]:
    """One; of `held` training images, which it does not train on, it says the accuracy as `validation`."""
    device, rows = pieces.device, len(data.inputs) - held
    rounds = epochs * rows // (AGENTS * BATCH)
    torch.manual_seed(seed)
    parts = ot.split(data.inputs[:rows], data.targets[:rows], AGENTS, "dirichlet", alpha=0.1, seed=seed)
    label = f"vgg-{epochs}-{name}-{step}"
    noted: list[dict[str, Any]] = []

    def note(row: dict[str, Any]) -> None:
        each = row.pop("agents_accuracy")
        row.pop("agents_loss")
        noted.append(row | {"agents_mean": sum(each) / len(each), "agents_least": min(each)})
        print(label, json.dumps(noted[-1]), flush=True)
        (pieces.out / f"{label}.partial").write_text(json.dumps(noted))

    tests = tuple(part.to(device) for part in data.test)
    run = ot.simulate(
        vgg11(), torch.nn.functional.cross_entropy, parts.to(device, torch.float32), rounds=rounds,
        method=METHODS[name], topology=network(), step=step, batch=BATCH, schedule=factor(rounds),
        weight_decay=1e-4, augment=moved_and_mirrored, device=device, seed=seed,
        gradients=torch.bfloat16, captured=device.type == "cuda",
        **({} if held else {"evaluate": tests, "evaluate_every": max(1, rounds // 10), "progress": note}),
    )  # fmt: skip
    told = {"step": step, "rounds": rounds, "epochs": epochs, "images": rows, "weights": run.copies.dim,
            "seed": seed, "alpha": 0.1, "seconds": run.seconds, "bytes": run.bytes_a_round * rounds,
            "history": noted}  # fmt: skip
    if not bool(torch.isfinite(run.points).all()):
        return told | {"diverged": True, "validation": 0.0, "test": 0.0}
    if held:
        images, targets = data.inputs[rows:].to(device), data.targets[rows:].to(device)
        return told | {"validation": run.evaluate(images, targets, each=False)["accuracy"]}
    return told | {"test": noted[-1]["accuracy"], "agents_mean": noted[-1]["agents_mean"],
                   "agents_least": noted[-1]["agents_least"]}  # fmt: skip


def run(pieces: Pieces, names: list[str], epochs: int) -> None:
    """Steps are chosen by short trainings on nine tenths of the images; then one training of the length,
    or none of length zero.
    """
    data = ot.data.cifar10()
    short, held = SHORT, len(data.inputs) // 10
    if pieces.small:
        data = ot.data.Data(data.inputs[:1000], data.targets[:1000], *(part[:50] for part in data.test))
        short, epochs, held = 1, 1, 100
    for name in names:
        step: float | None = 0.2
        if name in STEPS:
            step = pieces.search(
                f"vgg-choice-{name}", STEPS[name],
                lambda step, seed, name=name: training(pieces, data, name, step, short, held), 15.0, (1,),
            )  # fmt: skip
        if step is not None and epochs > 0:
            pieces.piece(
                f"vgg-{epochs}-{name}-{step}",
                lambda name=name, step=step: training(pieces, data, name, step, epochs), 60.0,
            )  # fmt: skip
