"""Directions: what an agent makes of the vector that it steps along, looking at whole matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from oneway.torch.rules import Rule


class Direction(Protocol):
    """What makes a step of each row of a vector, in round k. Its memory is replaced, not changed in place."""

    memory: Tensor | None

    def __call__(self, v: Tensor, k: int = 0) -> Tensor:
        """The direction of each row."""


class Muon:
    """The matrix sign of each weight matrix: UVᵀ of its singular value decomposition, by Newton and Schulz.

    A parameter of two or more dimensions is a matrix of its first dimension by the rest; it is given the norm
    that Muon gives it, √max(1, rows/columns) in each singular value. Other parameters are divided by their
    norm.

    Parameters
    ----------
    shapes : sequence of shapes
        The layout of the parameter vector.
    steps : int
        Steps of Newton and Schulz, with the coefficients of Jordan's Muon. Singular values come out between
        0.7 and 1.2: nearer needs more matrix products, and networks do not ask for it.
    precision : torch.dtype, optional
        What the products are computed in: bfloat16 on CUDA, elsewhere the precision of the states.
    """

    coefficients = (3.4445, -4.7750, 2.0315)

    def __init__(
        self, shapes: Sequence[Sequence[int]], steps: int = 5, precision: torch.dtype | None = None
    ) -> None:
        self.steps, self.precision = steps, precision
        self.memory: Tensor | None = None  # it has none
        self.vectors: list[tuple[int, int]] = []
        # matrices of one shape go through the products together
        self.matrices: dict[tuple[int, int], list[int]] = {}
        at = 0
        for shape in shapes:
            size = torch.Size(shape).numel()
            if len(shape) >= 2:
                rows = int(shape[0])
                self.matrices.setdefault((rows, size // rows), []).append(at)
            else:
                self.vectors.append((at, size))
            at += size
        self.dim = at

    def __call__(self, v: Tensor, k: int = 0) -> Tensor:
        """The direction of each row."""
        out = torch.empty_like(v)
        for at, size in self.vectors:
            part = v[:, at : at + size]
            out[:, at : at + size] = part / (torch.linalg.vector_norm(part, dim=1, keepdim=True) + 1e-12)
        for (rows, columns), places in self.matrices.items():
            size = rows * columns
            stacked = torch.stack([v[:, at : at + size].reshape(-1, rows, columns) for at in places])
            signs = self.sign(stacked) * max(1.0, rows / columns) ** 0.5
            for sign, at in zip(signs, places, strict=True):
                out[:, at : at + size] = sign.reshape(-1, size)
        return out

    def sign(self, matrices: Tensor) -> Tensor:
        """The matrix signs of the last two dimensions."""
        precision = self.precision or (torch.bfloat16 if matrices.is_cuda else matrices.dtype)
        a, b, c = self.coefficients
        x = matrices.to(precision)
        tall = x.size(-2) > x.size(-1)
        x = x.mT if tall else x
        x = x / (
            torch.linalg.matrix_norm(x.float() if precision == torch.bfloat16 else x, keepdim=True) + 1e-12
        )
        x = x.to(precision)
        shape, x = x.shape, x.flatten(0, -3)
        for _ in range(self.steps):
            gram = x @ x.mT
            x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
        x = x.view(shape)
        return (x.mT if tall else x).to(matrices.dtype)


class Adam:
    """Adam's scaling, of the vector itself: v / (√ŝ + ε), s⁺ = β₂s + (1 − β₂)v², ŝ = s⁺/(1 − β₂ᵗ).

    Where v tracks momentum, each agent's v comes near to some multiple of one sum, and the multiple goes
    out of the quotient: agents then scale alike, and none needs to know its share.

    Parameters
    ----------
    beta2 : float
        β₂ in [0, 1): 0 is the sign of each coordinate.
    epsilon : float
        ε above 0. If it is much above the entries of v, v is not scaled but divided by ε.
    first : int
        The first round whose v is not zero: t = k − first + 1.
    """

    def __init__(self, beta2: float = 0.99, epsilon: float = 1e-8, first: int = 0) -> None:
        if not 0 <= beta2 < 1:
            raise ValueError(f"beta2={beta2} must be 0 or more and below 1")
        if not 0 < epsilon < float("inf"):
            raise ValueError(f"epsilon={epsilon} must be above 0")
        self.beta2, self.epsilon, self.first = beta2, epsilon, first
        self.memory: Tensor | None = None

    def __call__(self, v: Tensor, k: int = 0) -> Tensor:
        """The direction of each row."""
        if k < self.first:
            return torch.zeros_like(v)
        newest = v * v * (1 - self.beta2)
        self.memory = newest if self.memory is None else self.memory * self.beta2 + newest
        correction = 1 - self.beta2 ** (k - self.first + 1)
        return v / ((self.memory / correction).sqrt() + self.epsilon)


def direction_of(rule: Rule, shapes: Sequence[Sequence[int]]) -> Direction | None:
    """A rule's direction, for parameters of these shapes."""
    if rule.direction == "muon":
        return Muon(shapes)
    if rule.direction == "adam":
        first = 1 if rule.start_asks == "nothing" else 0  # a tracker that starts without a gradient is zero
        return Adam(**rule.of_direction, first=first)
    return None
