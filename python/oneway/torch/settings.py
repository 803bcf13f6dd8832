"""What trainings are told: checks, schedules, what is done to gradients, and digests for checkpoints."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any, Literal

import torch
from torch import Tensor

ClipBy = Literal["agent", "layer"]


class Shaping:
    """What is done to gradients before a method sees them: weight decay, then clipping.

    By agent, the whole gradient of an agent has at most the norm `clip`; by layer, that of each parameter.
    """

    def __init__(self, sizes: Sequence[int], decay: float, clip: float | None, by: ClipBy = "agent") -> None:
        if by not in ("agent", "layer"):
            raise ValueError(f"clip_by={by!r} is unknown: give 'agent' or 'layer'")
        self.decay, self.clip = decay, clip
        self.sizes = list(sizes) if by == "layer" else [sum(sizes)]

    def __call__(self, g: Tensor, rows: Tensor) -> Tensor:
        """The shaped gradients of all rows, in the memory of g."""
        if self.decay:
            g = g.add_(rows, alpha=self.decay)
        if self.clip is not None:
            for part in g.split(self.sizes, dim=1):
                norms = torch.linalg.vector_norm(part, dim=1, keepdim=True)
                part.mul_((self.clip / (norms + 1e-12)).clamp(max=1.0))
        return g


def check(**given: Any) -> None:
    """Refuse numbers that cannot be."""
    for name in ("rounds", "batch", "evaluate_every", "checkpoint_every"):
        value = given.get(name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise ValueError(f"{name}={value} must be a whole number, 1 or more")
    for name, least in (("step", 0.0), ("clip", 0.0)):
        value = given.get(name)
        if value is not None and not (value > least and math.isfinite(value)):
            raise ValueError(f"{name}={value} must be above 0")
    decay = given.get("weight_decay")
    if decay is not None and not (decay >= 0 and math.isfinite(decay)):
        raise ValueError(f"weight_decay={decay} must be 0 or more")
    dtype = given.get("dtype")
    if dtype is not None and dtype not in (torch.float32, torch.float64):
        raise ValueError(
            f"states are kept in float32 or float64, not {dtype}: gradients= is for lower precision"
        )


def digest(*parts: Any) -> str:
    """Of what JSON can say."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def digest_of(*tensors: Tensor) -> str:
    """Of the values of tensors, and their shapes and types."""
    found = hashlib.sha256()
    for tensor in tensors:
        found.update(f"{tuple(tensor.shape)} {tensor.dtype};".encode())
        flat = tensor.detach().reshape(-1)
        for start in range(0, len(flat), 1 << 24):  # a piece at a time leaves the device
            piece = flat[start : start + (1 << 24)].contiguous().cpu()
            found.update(piece.view(torch.uint8).numpy().data)
    return found.hexdigest()
