"""Mixing: sums over whom an agent hears, of all agents' rows in one tensor or between processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from oneway import _native
from oneway.networks import Network, as_network
from oneway.torch.rules import Rule

# rows with more links than this are mixed by a product of matrices
MOST_GATHERED = 8


class Weights:
    """R and C of each round of a network's period, once it has what a rule needs."""

    def __init__(self, rule: Rule, topology: Any, agents: int | None, graph: str | None = None) -> None:
        graph = graph or rule.graphs[0]
        if graph not in rule.graphs:
            raise ValueError(f"{rule.name} runs on graph {' or '.join(rule.graphs)}, not on {graph!r}")
        network = as_network(topology)
        if network is None:
            given = {"kind": topology} if isinstance(topology, str) else dict(topology)
            if rule.network == "central":
                given = {"kind": "complete"}
            if agents is None:
                raise ValueError("give agents=, the number of agents")
            network = Network.family(agents=agents, **given)
        if agents is not None and network.agents != agents:
            raise ValueError(f"the network has {network.agents} agents, and the data are for {agents}")
        self.agents = network.agents
        period, self.divisor = _native.network_of(rule.native, network._native, graph)
        # by receiver, senders ascending: the order of the sums
        self.period = [tuple(_by_receiver(triples, self.agents) for triples in pair) for pair in period]

    @property
    def tables(self) -> list[Any]:
        """Senders and weights of all agents, as plain lists: what a checkpoint compares."""
        return [
            [[(list(map(int, s)), list(map(float, w))) for s, w in rows] for rows in pair]
            for pair in self.period
        ]


def _by_receiver(triples: Sequence[Any], agents: int) -> list[tuple[np.ndarray, np.ndarray]]:
    sender, receiver, weight = (np.asarray(part) for part in triples)
    rows = []
    for agent in range(agents):
        mine = np.flatnonzero(receiver == agent)
        mine = mine[np.argsort(sender[mine], kind="stable")]
        rows.append((sender[mine], weight[mine]))
    return rows


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
        diagonal = [[_kept(pair[1][agent], agent) for agent in range(self.agents)] for pair in weights.period]
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

    def kept(self, k: int) -> Tensor:
        """C_ii, a column."""
        return self._kept[self.pair(k)]


def _kept(row: tuple[np.ndarray, np.ndarray], agent: int) -> float:
    senders, weights = row
    found = np.flatnonzero(senders == agent)
    return float(weights[found[0]]) if len(found) else 0.0


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


class Linked:
    """One agent a process: rows travel between the ranks of a process group."""

    def __init__(self, weights: Weights, group: Any, device: torch.device, dtype: torch.dtype) -> None:
        import torch.distributed as dist

        self._dist, self._group = dist, group
        self.first = dist.get_rank(group)
        self.rows, self.agents = 1, weights.agents
        if dist.get_world_size(group) != weights.agents:
            raise ValueError(
                f"the network has {weights.agents} agents, and there are "
                f"{dist.get_world_size(group)} processes"
            )
        self._period, self._dtype, self._device = weights.period, dtype, device
        diagonal = [_kept(pair[1][self.first], self.first) for pair in weights.period]
        self._kept = [torch.tensor([[kept]], dtype=dtype, device=device) for kept in diagonal]

    def pair(self, k: int) -> int:
        """Which matrices of the period are round k's."""
        return k % len(self._period)

    def pull(self, k: int, vectors: Sequence[Tensor]) -> list[Tensor]:
        """This agent's row of R times each."""
        return self._mix(self._period[self.pair(k)][0], vectors)

    def push(self, k: int, vectors: Sequence[Tensor]) -> list[Tensor]:
        """This agent's row of C times each."""
        return self._mix(self._period[self.pair(k)][1], vectors)

    def kept(self, k: int) -> Tensor:
        """C_ii, a column."""
        return self._kept[self.pair(k)]

    def _rank(self, agent: int) -> int:
        return self._dist.get_global_rank(self._group, agent) if self._group is not None else agent

    def _mix(self, rows: list[Any], vectors: Sequence[Tensor]) -> list[Tensor]:
        if not vectors:
            return []
        mine = torch.cat([vector.reshape(-1) for vector in vectors])
        heard: dict[int, Tensor] = {self.first: mine}
        waits = []
        for agent, (senders, _) in enumerate(rows):
            if agent != self.first and self.first in senders:
                waits.append(self._dist.isend(mine, self._rank(agent), group=self._group))
        senders, weights = rows[self.first]
        for sender in senders:
            if sender != self.first:
                heard[int(sender)] = torch.empty_like(mine)
                waits.append(self._dist.irecv(heard[int(sender)], self._rank(int(sender)), group=self._group))
        for wait in waits:
            wait.wait()
        total = torch.zeros_like(mine)
        for place, (sender, weight) in enumerate(zip(senders, weights, strict=True)):
            term = torch.tensor(float(weight), dtype=self._dtype) * heard[int(sender)]
            total = term if place == 0 else total + term
        sizes = [vector.numel() for vector in vectors]
        return [part.view(vector.shape) for part, vector in zip(total.split(sizes), vectors, strict=True)]


def settings_of(given: Any) -> Any:
    """A topology as a checkpoint keeps it, for messages."""
    return dict(given) if isinstance(given, Mapping) else str(given)
