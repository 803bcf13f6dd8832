"""Rounds: what all rows of a tensor do, with gradients from outside."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from oneway._neural.rules import COMMON
from oneway.torch.directions import Direction
from oneway.torch.rules import Rule

Gradients = tuple[Tensor | None, Tensor | None]


@dataclass(frozen=True)
class Asked:
    """Gradients that a rule asks for: at `points`, of samples of `round` and `phase`.

    One point is to have `samples` gradients: the answer is the last, and the sum of those before it. Of two
    points both gradients are of one sample: the first's is the gradient, the second's the other.
    """

    points: tuple[Tensor, ...]
    samples: int
    round: int
    phase: int


class Mixing(Protocol):
    """Where rows are: of all agents here, or of this process's agent."""

    agents: int
    rows: int
    first: int

    def exchange(
        self, k: int, phase: int, pulls: Sequence[Tensor], pushes: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[Tensor]]:
        """R times each of the first, and C times each of the others."""

    def kept(self, k: int) -> Tensor:
        """C_ii, a column."""


class Engine:
    """Agents' states: a tensor for each letter, a row for each agent of this process."""

    def __init__(
        self,
        rule: Rule,
        mixing: Mixing,
        step: Callable[[int], float],
        direction: Direction | None = None,
        kernels: Any = None,
        shrink: float = 0.0,
    ) -> None:
        self.rule, self.mixing, self.step = rule, mixing, step
        self.direction, self.kernels, self.shrink = direction, kernels, shrink
        self.k = 0
        self.states: list[Tensor] = []
        self.carried: Tensor | None = None
        self.point: Tensor | None = None

    def start(self, x: Tensor) -> Generator[Asked, Gradients, None]:
        """Set up state 0 at x, a row for each agent."""
        rule = self.rule
        gradients: Gradients = (None, None)
        if rule.start_asks != "nothing":
            points = (x, x) if rule.start_asks == "both" else (x,)
            gradients = yield Asked(points, rule.start_samples, 0, 0)
        zero = torch.zeros((), dtype=x.dtype)
        given = [*self._at(0, None, x), x, *(zero if g is None else g for g in gradients)]
        self.states = [state.clone() for state in rule.start.run(given, x)]
        self.point = x.clone()
        rows, first = self.mixing.rows, self.mixing.first
        if rule.carries == "weight":
            self.carried = torch.ones((rows, 1), dtype=x.dtype, device=x.device)
        elif rule.carries == "eigenvector":
            every = torch.eye(self.mixing.agents, dtype=x.dtype, device=x.device)
            self.carried = every[first : first + rows].clone()
        self.k = 0

    def round(self) -> Generator[Asked, Gradients, None]:
        """Turn state k into state k + 1."""
        rule, k = self.rule, self.k
        for phase, exchange in enumerate(rule.exchanges):
            like = self.states[0]
            steered = self._steer() if phase == 0 else None
            points = None
            if self.kernels is not None and self.kernels.takes(phase):
                _, _, carried = self._exchange(k, phase, [], [])
                at = self._at(k, carried, like)
                heard, points = self.kernels.hear(phase, k, at, self.states, steered)
            else:
                heard, carried = self._hear(exchange, phase, k, like, steered)
                at = self._at(k, carried, like)
            gradients: Gradients = (None, None)
            if exchange.asks != "nothing":
                if points is None:
                    points = exchange.points.run([*at, *self.states, *heard], like)
                wanted = tuple(points) if exchange.asks == "both" else (points[0],)
                self.point = points[0]
                gradients = yield Asked(wanted, exchange.samples, k + 1, phase)
            if self.kernels is not None and self.kernels.takes(phase):
                self.states = self.kernels.update(phase, k, at, self.states, heard, gradients)
            else:
                zero = torch.zeros((), dtype=like.dtype)
                given = [*at, *self.states, *heard, *(zero if g is None else g for g in gradients)]
                self.states = exchange.update.run(given, like)
            self.carried = carried
        self.k = k + 1

    def _hear(
        self, exchange: Any, phase: int, k: int, like: Tensor, steered: Tensor | None
    ) -> tuple[list[Tensor], Tensor | None]:
        """What every agent hears: what is pulled, then what is pushed; and what is carried besides."""
        at = self._at(k, None, like)
        sent = exchange.send.run([*at, *self.states], like)
        if steered is not None:
            place = self.rule.steered
            assert place is not None
            other = [steered if i == place else state for i, state in enumerate(self.states)]
            along = exchange.send.run([*at, *other], like)
            # what is sent as it is, such as a tracker, stays
            plain = [exchange.send.input_of(i) == COMMON + place for i in range(len(sent))]
            sent = [a if kept else b for a, b, kept in zip(sent, along, plain, strict=True)]
        count = self.rule.sends[0]
        pulls, pushes = exchange.sends
        pulled, pushed, carried = self._exchange(
            k, phase, sent[:count] if pulls else [], sent[count:] if pushes else []
        )
        # on a graph where nothing is sent, zeros are heard
        pulled = pulled if pulls else [torch.zeros_like(one) for one in sent[:count]]
        pushed = pushed if pushes else [torch.zeros_like(one) for one in sent[count:]]
        return [*pulled, *pushed], carried

    def _steer(self) -> Tensor | None:
        if self.rule.steered is None:
            return None
        assert self.direction is not None
        along = self.direction(self.states[self.rule.steered], self.k)
        # weight decay beside the direction, which would take its size away
        return along.add(self.states[0], alpha=self.shrink) if self.shrink else along

    def _exchange(
        self, k: int, phase: int, pulls: list[Tensor], pushes: list[Tensor]
    ) -> tuple[list[Tensor], list[Tensor], Tensor | None]:
        """What these become, and what is carried besides coordinates, which is mixed with them."""
        if self.carried is None:
            return *self.mixing.exchange(k, phase, pulls, pushes), None
        if self.rule.carries == "weight":
            pulled, (*pushed, carried) = self.mixing.exchange(k, phase, pulls, [*pushes, self.carried])
        else:
            (*pulled, carried), pushed = self.mixing.exchange(k, phase, [*pulls, self.carried], pushes)
        return pulled, pushed, carried

    def _weight(self, carried: Tensor | None) -> Tensor | None:
        """The weight w⁺ of each row, a column."""
        if carried is None or self.rule.carries == "weight":
            return carried
        own = torch.arange(self.mixing.first, self.mixing.first + self.mixing.rows, device=carried.device)
        return carried.gather(1, own[:, None])

    def _at(self, k: int, carried: Tensor | None, like: Tensor) -> list[Any]:
        """η, w, C_ii and the two numbers of the round."""
        dtype, weight = like.dtype, self._weight(carried)
        one = torch.ones((), dtype=dtype) if weight is None else weight
        numbers = [torch.tensor(number, dtype=dtype) for number in (self.step(k), *self.rule.of_round(k))]
        return [numbers[0], one, self.mixing.kept(k), *numbers[1:]]


def drive(parts: Generator[Asked, Gradients, None], gradient: Callable[[Asked], Gradients]) -> None:
    """Run to the end, with gradients by a function."""
    try:
        asked = next(parts)
        while True:
            asked = parts.send(gradient(asked))
    except StopIteration:
        return
