"""The table's trainings: a six-layer CNN on a part of CIFAR-10, and a character model of Shakespeare."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from networks import cnn
from pieces import Pieces
from shakespeare import Transformer

import oneway.torch as ot

LOSS = torch.nn.functional.cross_entropy
AGENTS = 16
# training images of the table, a tenth of them to choose steps by; and test images
IMAGES, TESTS = 18_000, 4_000


class Cell(NamedTuple):
    """A column of the table."""

    topology: Any
    alpha: float
    methods: list[str]


METHODS: dict[str, Any] = {
    "smtpp": {"kind": "smtpp", "momentum": 0.1},
    "push-pull": "push-pull",
    "sgp-momentum": {"kind": "sgp-momentum", "heavy_ball": 0.9},
    "sgp-muon": {"kind": "sgp-muon", "heavy_ball": 0.9},
    "push-pull-muon": "push-pull-muon",
    "smtpp-muon": {"kind": "smtpp-muon", "momentum": 0.1},
    "sgp": "sgp",
    "qg-dsgdm": "qg-dsgdm",
    "momentum-tracking": "momentum-tracking",
    "smtpp-adam": {"kind": "smtpp-adam", "momentum": 0.1},
    "push-pull-adam": "push-pull-adam",
    "decentlam": "decentlam",
    "storm-tracking": "storm-tracking",
}
# first steps to try at α = 0.1 on the first graphs; later cells begin around what was best there
FIRST: dict[str, list[float]] = {
    "smtpp": [0.0125, 0.025, 0.05, 0.1],
    "push-pull": [0.003, 0.006, 0.0125, 0.025],
    "sgp": [0.01, 0.03, 0.1, 0.3],
    "qg-dsgdm": [0.01, 0.03, 0.1, 0.3],
    "smtpp-adam": [0.0003, 0.001, 0.003, 0.01],
}
FOUR = [0.003, 0.01, 0.03, 0.1]
AROUND: dict[str, list[float]] = {
    "smtpp-muon": [0.01, 0.03, 0.1],
    "smtpp": [0.025, 0.05, 0.1],
    "push-pull": [0.006, 0.0125, 0.025],
    "sgp-momentum": [0.001, 0.003, 0.01],
    "qg-dsgdm": [0.001, 0.003, 0.01],
}
BALANCED = ("qg-dsgdm", "momentum-tracking")  # these ask for a doubly stochastic matrix
FLOWER = {"kind": "flower", "petals": 3}
NINE = list(METHODS)[:9]
CELLS = {
    "exponential": Cell("exponential", 0.1, [*NINE, "smtpp-adam", "decentlam", "storm-tracking"]),
    "flower": Cell(FLOWER, 0.1, [name for name in NINE if name not in BALANCED]),
    "complete": Cell("complete", 0.1, ["smtpp", "smtpp-muon"]),
    "ring": Cell(
        "ring", 0.1, ["smtpp-muon", "sgp-muon", "push-pull-muon", "smtpp", "sgp-momentum", "push-pull"]
    ),
    "alpha-0.01": Cell("exponential", 0.01, list(AROUND)),
    "one-peer": Cell("one-peer-exponential", 0.1, list(AROUND)),
    "alpha-1": Cell("exponential", 1.0, list(AROUND)),
}
# the character model: first steps of each method
LETTERS: dict[str, list[float]] = {
    "smtpp-adam": [0.0003, 0.001, 0.003],
    "smtpp-muon": [0.003, 0.01, 0.03],
    "push-pull-adam": [0.0003, 0.001, 0.003],
    "sgp": [0.1, 0.3, 1.0],
    "smtpp": [0.1, 0.3, 1.0],
    "sgp-momentum": [0.03, 0.1, 0.3],
}


def part_of_cifar() -> ot.data.Data:
    """The first images, with mean 0 and deviation 1 over the training images among them."""
    whole = ot.data.cifar10()
    images, others = whole.inputs[:IMAGES], whole.test_inputs[:TESTS]
    mean, deviation = images.mean(dim=(0, 2, 3), keepdim=True), images.std(dim=(0, 2, 3), keepdim=True)
    return ot.data.Data(
        (images - mean) / deviation, whole.targets[:IMAGES], (others - mean) / deviation,
        whole.test_targets[:TESTS],
    )  # fmt: skip


def table(pieces: Pieces, cells: list[str], epochs: int) -> None:
    """Tuned on a validation split: a file for each training."""
    data, device = part_of_cifar(), pieces.device
    rows = len(data.inputs) * 9 // 10
    width, batch = 32, 32
    if pieces.small:
        rows, epochs, width, batch = 640, 1, 4, 8
    held = (data.inputs[rows:][:2000].to(device), data.targets[rows:][:2000].to(device))
    tests = tuple(part.to(device) for part in data.test)
    rounds = epochs * rows // (AGENTS * batch)
    inputs, targets = data.inputs[:rows].to(device), data.targets[:rows].to(device)

    def training(method: Any, cell: Cell, step: float, seed: int) -> dict[str, Any]:
        torch.manual_seed(seed)
        parts = ot.split(inputs, targets, AGENTS, "dirichlet", alpha=cell.alpha, seed=seed)
        run = ot.simulate(
            cnn(width), LOSS, parts, rounds=rounds, method=method, topology=cell.topology, step=step,
            batch=batch, schedule="cosine", augment=ot.data.flips, device=device, seed=seed,
            captured=device.type == "cuda",
        )  # fmt: skip
        told = {"step": step, "rounds": rounds, "epochs": epochs, "images": rows, "weights": run.copies.dim,
                "seed": seed, "alpha": cell.alpha, "bytes": run.bytes_a_round * rounds}  # fmt: skip
        if not bool(torch.isfinite(run.points).all()):
            return told | {"diverged": True, "validation": 0.0, "test": 0.0}
        return told | {
            "validation": run.evaluate(*held, each=False)["accuracy"],
            "test": run.evaluate(*tests, each=False)["accuracy"],
            "seconds": run.seconds,
        }

    for graph in cells:
        cell = CELLS[graph]
        around = graph in ("alpha-0.01", "one-peer", "alpha-1")
        for name in cell.methods:
            steps = AROUND[name] if around else FIRST.get(name, FOUR)
            pieces.search(
                f"table-{graph}-{name}", steps,
                lambda step, seed, name=name, cell=cell: training(METHODS[name], cell, step, seed), 6.0,
            )  # fmt: skip


def shakespeare(pieces: Pieces, rounds: int = 600) -> None:
    """A character model, each agent with works of its own: tuned like the table, by the loss."""
    length, width, depth, batch, device = 64, 128, 2, 16, pieces.device
    if pieces.small:
        length, width, depth, batch, rounds = 16, 16, 1, 4, 30
    data, alphabet = ot.data.shakespeare(length)
    count = 200 if pieces.small else 2000
    places = torch.linspace(0, len(data.test_inputs) - 1, 2 * count).long()
    some = [(data.test_inputs[at].to(device), data.test_targets[at].to(device))
            for at in (places[::2], places[1::2])]  # fmt: skip
    inputs, targets = data.inputs.to(device), data.targets.to(device)

    def training(name: str, step: float, seed: int) -> dict[str, Any]:
        torch.manual_seed(seed)
        run = ot.simulate(
            Transformer(len(alphabet), length, width, depth), LOSS, ot.split(inputs, targets, AGENTS, "even"),
            rounds=rounds, method=METHODS[name], topology="exponential", step=step, batch=batch,
            schedule="cosine", device=device, seed=seed, captured=device.type == "cuda",
        )  # fmt: skip
        told = {"step": step, "rounds": rounds, "pieces": len(inputs), "length": length, "batch": batch,
                "weights": run.copies.dim, "seed": seed, "letters": len(alphabet)}  # fmt: skip
        if not bool(torch.isfinite(run.points).all()):
            return told | {"diverged": True, "validation": -99.0, "loss": 99.0}
        held, tests = (run.evaluate(*part, each=False) for part in some)
        return told | {"validation": -held["loss"], "loss": tests["loss"], "accuracy": tests["accuracy"],
                       "seconds": run.seconds, "bytes": run.bytes_a_round * rounds}  # fmt: skip

    for name, steps in LETTERS.items():
        pieces.search(
            f"shakespeare-{name}", steps, lambda step, seed, name=name: training(name, step, seed), 6.0
        )
