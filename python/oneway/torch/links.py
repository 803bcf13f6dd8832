"""Links between processes: how an agent's rows get to those that hear it, and come back as sums."""

from __future__ import annotations

import json
import os
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from oneway._neural.weights import Weights, kept_of
from oneway.torch.settings import digest


@dataclass(frozen=True)
class Plan:
    """What a link carries: rows of so many numbers on each graph, so often a round, over which network."""

    weights: Weights
    """R and C of each round."""
    method: str
    """What all agents must have alike, besides the network."""
    dtype: torch.dtype
    """Of the numbers."""
    widths: tuple[int, int]
    """Numbers in a pull row and in a push row, at most."""
    exchanges: int
    """Exchanges in a round."""


class Link(Protocol):
    """One agent's end of all its links: it is ``agent`` of ``agents``.

    Rows may be on any device, and what is returned is there too.
    """

    agent: int
    agents: int

    def open(self, plan: Plan) -> None:
        """Begin a training; called once, before its first exchange."""

    def mix(
        self, k: int, phase: int, pull: Tensor | None, push: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        """Σ_j R_ij·(row of j) of the pull rows, and Σ_j C_ij·(row of j) of the push rows, of round k.

        A graph without a row here is one on which nobody sends in this exchange. Sums go by ascending sender,
        this agent included: the first term is assigned, others are multiplied and then added.
        """


class Distributed:
    """Rows travel between the ranks of a process group of ``torch.distributed``; nothing is asked for twice.

    Parameters
    ----------
    group
        The process group (gloo, or NCCL for CUDA); by default all processes.
    """

    def __init__(self, group: Any = None) -> None:
        import torch.distributed as dist

        if not (dist.is_available() and dist.is_initialized()):
            raise RuntimeError("there is no process group: call oneway.torch.connect first")
        self._dist, self._group = dist, group
        self.agent, self.agents = dist.get_rank(group), dist.get_world_size(group)
        self._weights: Weights | None = None

    def open(self, plan: Plan) -> None:
        """Note the network."""
        self._weights = plan.weights

    def mix(
        self, k: int, phase: int, pull: Tensor | None, push: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        """One graph after the other: all send, all receive, all add up."""
        assert self._weights is not None
        pulls, pushes = self._weights.period[k % len(self._weights.period)]
        return self._sum(pulls, pull), self._sum(pushes, push)

    def _rank(self, agent: int) -> int:
        return self._dist.get_global_rank(self._group, agent) if self._group is not None else agent

    def _sum(self, rows: list[Any], mine: Tensor | None) -> Tensor | None:
        if mine is None:
            return None
        heard: dict[int, Tensor] = {self.agent: mine}
        waits = []
        for agent, (senders, _) in enumerate(rows):
            if agent != self.agent and self.agent in senders:
                waits.append(self._dist.isend(mine, self._rank(agent), group=self._group))
        senders, weights = rows[self.agent]
        for sender in senders:
            if sender != self.agent:
                heard[int(sender)] = torch.empty_like(mine)
                waits.append(self._dist.irecv(heard[int(sender)], self._rank(int(sender)), group=self._group))
        for wait in waits:
            wait.wait()
        total = torch.zeros_like(mine)
        for place, (sender, weight) in enumerate(zip(senders, weights, strict=True)):
            term = torch.tensor(float(weight), dtype=mine.dtype) * heard[int(sender)]
            total = term if place == 0 else total + term
        return total


# what is said over the socket: crates/oneway-agent/src/carry/words.rs has it all
_VERSION = 1
_LENGTH = struct.Struct("=I")
_REQUEST = struct.Struct("=QII")
_PRECISIONS = {torch.float64: "f64", torch.float32: "f32"}


class Carried:
    """Rows travel over the links of ``oneway-agent``, which has started this process: ``oneway-agent carry``.

    What was lost on the way is asked for again, and a process that was started again goes on from its state
    while the others wait. A process has one such training: a program for several is started several times.
    """

    _used = False

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        environment = os.environ if environment is None else environment
        try:
            self._path = environment["ONEWAY_LINK"]
            self.agent, self.agents = (int(environment[name]) for name in ("ONEWAY_AGENT", "ONEWAY_AGENTS"))
        except (KeyError, ValueError) as error:
            raise RuntimeError("this process was not started by `oneway-agent carry`") from error
        self._plan: Plan | None = None
        self._socket: socket.socket | None = None

    def open(self, plan: Plan) -> None:
        """Say which training this is; neighbours of another are refused."""
        if Carried._used:
            raise RuntimeError("a process under `oneway-agent carry` has one training: start one for each")
        if plan.dtype not in _PRECISIONS:
            raise ValueError(f"rows travel in float32 or float64, not in {plan.dtype}")
        Carried._used = True
        self._plan = plan
        self._socket = socket.socket(socket.AF_UNIX)
        tables = plan.weights.tables
        hello = {
            "version": _VERSION,
            "run": digest(plan.method, tables),
            "topology": digest(tables),
            "method": plan.method,
            "precision": _PRECISIONS[plan.dtype],
            "widths": plan.widths,
            "exchanges": plan.exchanges,
            "links": [_links(pair, self.agent) for pair in tables],
        }
        text = json.dumps(hello).encode()
        try:
            self._socket.connect(self._path)
            self._socket.sendall(_LENGTH.pack(len(text)) + text)
        except OSError as error:
            self._socket.close()
            raise RuntimeError(f"oneway-agent has ended: {error}") from error
        self._answered()

    def mix(
        self, k: int, phase: int, pull: Tensor | None, push: Tensor | None
    ) -> tuple[Tensor | None, Tensor | None]:
        """Hand the rows over, and wait for the sums."""
        assert self._socket is not None
        assert self._plan is not None
        rows = [(pull, self._plan.widths[0]), (push, self._plan.widths[1])]
        graphs = sum(1 << graph for graph, (row, _) in enumerate(rows) if row is not None)
        try:
            self._socket.sendall(_REQUEST.pack(k, phase, graphs))
            for row, width in rows:
                if row is not None:
                    whole = torch.nn.functional.pad(row.detach(), (0, width - row.numel()))
                    self._socket.sendall(memoryview(whole.cpu().contiguous().numpy()).cast("B"))
        except BrokenPipeError:
            pass  # why, it may have said before it closed its end
        self._answered()
        pulled, pushed = (self._sum(row, width) for row, width in rows)
        return pulled, pushed

    def _sum(self, row: Tensor | None, width: int) -> Tensor | None:
        if row is None:
            return None
        found = torch.empty(width, dtype=row.dtype)
        self._read(memoryview(found.numpy()).cast("B"))
        return found[: row.numel()].to(row.device)

    def _answered(self) -> None:
        """All is well, or an error with what the other side says."""
        assert self._socket is not None
        length = bytearray(_LENGTH.size)
        self._read(memoryview(length))
        (said,) = _LENGTH.unpack(length)
        if said:
            text = bytearray(said)
            self._read(memoryview(text))
            self._socket.close()
            raise RuntimeError(f"oneway-agent: {text.decode(errors='replace')}")

    def _read(self, place: memoryview) -> None:
        assert self._socket is not None
        filled = 0
        while filled < len(place):
            try:
                more = self._socket.recv_into(place[filled:])
            except ConnectionError:
                more = 0
            if more == 0:
                self._socket.close()
                raise RuntimeError("oneway-agent has ended")
            filled += more


def _links(pair: Any, agent: int) -> dict[str, Any]:
    """An agent's links of one round, of tables by receiver."""
    pulls, pushes = pair
    return {
        "pulls": list(zip(*pulls[agent], strict=True)),
        "pulled_by": [i for i, (senders, _) in enumerate(pulls) if agent in senders],
        "pushes": [
            (i, weights[senders.index(agent)])
            for i, (senders, weights) in enumerate(pushes)
            if agent in senders
        ],
        "pushed_by": list(pushes[agent][0]),
    }


class Linked:
    """The mixing of one agent, whose rows travel over a link."""

    rows = 1

    def __init__(self, link: Link, plan: Plan, device: torch.device) -> None:
        self.agents, self.first = link.agents, link.agent
        self._plan, self._link, self._opened = plan, link, False
        diagonal = [kept_of(pair[1][self.first], self.first) for pair in plan.weights.period]
        self._kept = [torch.tensor([[kept]], dtype=plan.dtype, device=device) for kept in diagonal]

    def kept(self, k: int) -> Tensor:
        """C_ii, a column."""
        return self._kept[k % len(self._kept)]

    def exchange(
        self, k: int, phase: int, pulls: Sequence[Tensor], pushes: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """This agent's row of R times each of the first, and its row of C times each of the others."""
        if not self._opened:
            self._link.open(self._plan)
            self._opened = True
        joined = [torch.cat([one.reshape(-1) for one in part]) if part else None for part in (pulls, pushes)]
        mixed = self._link.mix(k, phase, *joined)
        pulled, pushed = (_parted(row, part) for row, part in zip(mixed, (pulls, pushes), strict=True))
        return pulled, pushed


def _parted(row: Tensor | None, like: Sequence[Tensor]) -> list[Tensor]:
    if row is None:
        return []
    parts = row.split([one.numel() for one in like])
    return [part.view(one.shape) for part, one in zip(parts, like, strict=True)]


def link_of(link: Link | None, group: Any) -> Link:
    """The link that is given; or that of whoever has started this process."""
    if link is not None:
        if group is not None:
            raise ValueError("give link= or group=, not both")
        return link
    if group is None and "ONEWAY_LINK" in os.environ:
        return Carried()
    return Distributed(group)
