"""Mixing: sums over whom an agent hears, of all agents' rows in one tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from oneway._neural.weights import Weights, kept_of

# rows with more links than this are mixed by a product of matrices
MOST_GATHERED = 8


class Stacked:
    """All agents in one process: row i of a tensor is agent i's."""

    def __init__(
        self,
        weights: Weights,
        device: torch.device,
        dtype: torch.dtype,
        by: Literal["auto", "gather", "matmul"] = "auto",
    ) -> None:
        self.agents = weights.agents
        self.rows = weights.agents
        self.first = 0
        made: list[Any] = []
        for pair in weights.period:
            made.append(tuple(_Matrix(rows, device, dtype, by) for rows in pair))
        self.pairs = made
        diagonal = [
            [kept_of(pair[1][agent], agent) for agent in range(self.agents)] for pair in weights.period
        ]
        self._kept = [torch.tensor(column, dtype=dtype, device=device)[:, None] for column in diagonal]

    def pair(self, k: int) -> int:
        """Which matrices of the period are round k's."""
        return k % len(self.pairs)

    def pull(self, k: int, vectors: Sequence[Tensor]) -> list[Tensor]:
        """R times each."""
        return [self.pairs[self.pair(k)][0].times(vector) for vector in vectors]

    def push(self, k: int, vectors: Sequence[Tensor]) -> list[Tensor]:
        """C times each."""
        return [self.pairs[self.pair(k)][1].times(vector) for vector in vectors]

    def exchange(
        self, k: int, phase: int, pulls: Sequence[Tensor], pushes: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """R times each of the first, and C times each of the others."""
        return self.pull(k, pulls), self.push(k, pushes)

    def kept(self, k: int) -> Tensor:
        """C_ii, a column."""
        return self._kept[self.pair(k)]


class _Matrix:
    def __init__(self, rows: list[Any], device: torch.device, dtype: torch.dtype, by: str) -> None:
        n = len(rows)
        self.most = max(len(senders) for senders, _ in rows)
        index, weight = np.zeros((n, self.most), dtype="int64"), np.zeros((n, self.most))
        dense = np.zeros((n, n))
        for agent, (senders, weights) in enumerate(rows):
            index[agent, : len(senders)], weight[agent, : len(senders)] = senders, weights
            dense[agent, senders] = weights
        self.index = torch.from_numpy(index).to(device)
        self.weight = torch.from_numpy(weight).to(device=device, dtype=dtype)
        self.degree = torch.tensor([len(senders) for senders, _ in rows], device=device)
        self.dense = torch.from_numpy(dense).to(device=device, dtype=dtype)
        self.gathers = by == "gather" or (by == "auto" and self.most <= MOST_GATHERED)

    def times(self, vector: Tensor) -> Tensor:
        if not self.gathers:
            return self.dense @ vector
        # the bit contract's order: senders ascending, the first term assigned, multiplied and then added;
        # places without a sender add zero
        total = self.weight[:, :1] * vector.index_select(0, self.index[:, 0])
        for place in range(1, self.most):
            total = total + self.weight[:, place : place + 1] * vector.index_select(0, self.index[:, place])
        return total
