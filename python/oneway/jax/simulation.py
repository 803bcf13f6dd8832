"""All agents in one process: n copies of a model's parameters, a row of one array for each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

from oneway import _native
from oneway._neural.rules import Exchange
from oneway._neural.schedules import Schedule, factor_of
from oneway._neural.weights import Weights
from oneway.jax.rules import Rule
from oneway.method import Method

Loss = Callable[[Any, Any, Any], Any]


class Simulation:
    """Copies of a model's parameters, one for each agent, and the rounds that train them.

    The settings are those of :func:`simulate`.

    Attributes
    ----------
    losses : list of float
        The agents' mean training loss in each round that asked for gradients.
    """

    def __init__(
        self,
        loss: Loss,
        parameters: Any,
        parts: Sequence[tuple[Any, Any]],
        *,
        rounds: int,
        method: str | Mapping[str, Any] | Method = "smtpp",
        topology: Any = "exponential",
        step: float = 0.1,
        schedule: Schedule = "constant",
        batch: int | None = 32,
        seed: int = 1,
        graph: str | None = None,
    ) -> None:
        if rounds < 1 or (batch is not None and batch < 1):
            raise ValueError(f"rounds={rounds} and batch={batch} must be 1 or more")
        if not (step > 0 and math.isfinite(step)):
            raise ValueError(f"step={step} must be above 0")
        self.rounds, self.batch, self.seed, self._step = rounds, batch, seed, step
        self._factor = factor_of(schedule, rounds)
        start, self._unravel = ravel_pytree(parameters)
        if start.size == 0 or not jnp.issubdtype(start.dtype, jnp.floating):
            raise ValueError("parameters must be a pytree of real arrays, and not empty")
        self._inputs, self._targets, self._rows = _joined(parts)
        self.rule = Rule(method)
        self.weights = Weights(self.rule, topology, len(parts), graph)
        self.agents, self.round = len(parts), 0
        self._matrices = [tuple(_dense(rows, start.dtype) for rows in pair) for pair in self.weights.period]
        self.losses: list[float] = []
        self._each = jax.vmap(jax.value_and_grad(lambda row, x, y: loss(self._unravel(row), x, y)))
        self._begun = jax.jit(self._start)
        self._turn = jax.jit(self._round)
        #: the agents' parameters, where each takes its gradients: an array of shape (agents, parameters)
        self.points: Any = jnp.tile(start, (self.agents, 1))
        self._states: list[Any] | None = None
        self._carried = {
            "weight": lambda: jnp.ones((self.agents, 1), start.dtype),
            "eigenvector": lambda: jnp.eye(self.agents, dtype=start.dtype),
        }.get(self.rule.carries, lambda: None)()

    def advance(self, rounds: int) -> None:
        """Run some rounds."""
        for _ in range(rounds):
            if self._states is None:
                first = self._draws(0, 0, self.rule.start_samples)
                self._states, losses = self._begun(self.points, self._numbers(0), self._matrices[0], first)
                self._note(losses)
            k = self.round
            drawn = [
                self._draws(k + 1, phase, exchange.samples)
                for phase, exchange in enumerate(self.rule.exchanges)
            ]
            matrices = self._matrices[k % len(self._matrices)]
            self._states, self._carried, self.points, losses = self._turn(
                self._states, self._carried, self.points, self._numbers(k), matrices, drawn
            )
            self._note(losses)
            self.round = k + 1

    def parameters(self, agent: int | None = None) -> Any:
        """The pytree of the plain mean of all agents' parameters, or of one agent's."""
        if agent is not None and not 0 <= agent < self.agents:
            raise ValueError(f"agent={agent}: there are agents 0 to {self.agents - 1}")
        return self._unravel(self.points.mean(axis=0) if agent is None else self.points[agent])

    @property
    def states(self) -> dict[str, Any]:
        """All of the agents' states, by letter; empty before the first round."""
        return dict(zip(self.rule.letters, self._states or [], strict=bool(self._states)))

    def _draws(self, round: int, phase: int, samples: int) -> list[np.ndarray]:
        """Rows of the data that each agent draws, a batch for each sample: as ``oneway.run`` draws them."""
        sizes = [len(rows) for rows in self._rows]
        if self.batch is None:
            if len(set(sizes)) > 1:
                raise ValueError("agents have different numbers of rows: give batch=")
            return [np.stack(self._rows)] * samples
        found = []
        for call in range(samples):
            drawn = _native.sample_rows(self.seed, round, sizes, self.batch, phase, call * self.batch, 0)
            found.append(np.stack([rows[mine] for rows, mine in zip(self._rows, drawn, strict=True)]))
        return found

    def _numbers(self, k: int) -> list[float]:
        """η, and the two numbers of the round."""
        return [self._step * float(self._factor(k)), *self.rule.of_round(k)]

    def _note(self, losses: Any) -> None:
        if losses is not None:
            self.losses.append(float(losses))

    def _gradients(
        self, asks: str, samples: int, points: list[Any], drawn: list[Any]
    ) -> tuple[Any, Any, Any]:
        """The gradient and the other that a rule asks for, and the mean loss of the first."""
        if asks == "nothing":
            return 0.0, 0.0, None
        data = [(self._inputs[rows], self._targets[rows]) for rows in drawn]
        if asks == "both":
            losses, g = self._each(points[0], *data[0])
            return g, self._each(points[1], *data[0])[1], losses.mean()
        before: Any = 0.0
        for batch in data[: samples - 1]:
            before = before + self._each(points[0], *batch)[1]
        losses, g = self._each(points[0], *data[samples - 1])
        return g, before, losses.mean()

    def _start(self, x: Any, numbers: Any, matrices: Any, drawn: list[Any]) -> tuple[list[Any], Any]:
        """State 0 at x, a row for each agent."""
        rule = self.rule
        *g, losses = self._gradients(rule.start_asks, rule.start_samples, [x, x], drawn)
        given = [*_at(numbers, matrices, None), x, *(jnp.asarray(one, x.dtype) for one in g)]
        return rule.start.run(given, x), losses

    def _round(
        self, states: list[Any], carried: Any, point: Any, numbers: Any, matrices: Any, drawn: list[list[Any]]
    ) -> tuple[list[Any], Any, Any, Any]:
        """State k becomes state k + 1."""
        losses = None
        for exchange, batches in zip(self.rule.exchanges, drawn, strict=True):
            like = states[0]
            heard = self._hear(exchange, states, numbers, matrices)
            weight = None
            if carried is not None:
                column = self.rule.carries == "weight"
                carried = matrices[1 if column else 0] @ carried
                weight = carried if column else jnp.diagonal(carried)[:, None]
            at = _at(numbers, matrices, weight)
            g: list[Any] = [0.0, 0.0]
            if exchange.asks != "nothing":
                points = exchange.points.run([*at, *states, *heard], like)
                point = points[0]
                *g, losses = self._gradients(exchange.asks, exchange.samples, points, batches)
            given = [*at, *states, *heard, *(jnp.asarray(one, like.dtype) for one in g)]
            states = exchange.update.run(given, like)
        return states, carried, point, losses

    def _hear(self, exchange: Exchange, states: list[Any], numbers: Any, matrices: Any) -> list[Any]:
        """What every agent hears: what is pulled, then what is pushed."""
        sent = exchange.send.run([*_at(numbers, matrices, None), *states], states[0])
        pulls, which = self.rule.sends[0], exchange.sends
        return [
            matrices[int(place >= pulls)] @ row if which[int(place >= pulls)] else jnp.zeros_like(row)
            for place, row in enumerate(sent)
        ]

    def __repr__(self) -> str:
        return (
            f"<oneway.jax.Simulation: {self.agents} agents, {self.points.shape[1]} parameters, "
            f"{self.rule.name}, round {self.round} of {self.rounds}>"
        )


def simulate(
    loss: Loss,
    parameters: Any,
    parts: Sequence[tuple[Any, Any]],
    *,
    rounds: int,
    **settings: Any,
) -> Simulation:
    """Train n copies of a model's parameters over a directed network, in this process.

    Parameters
    ----------
    loss : callable
        ``loss(parameters, inputs, targets)`` of a batch, a number; traced by JAX.
    parameters : pytree of arrays
        Where all agents begin.
    parts : list of (inputs, targets)
        The data of each agent.
    rounds : int
        How many rounds; each draws a batch at each agent.
    method, topology, step, graph
        As for :func:`oneway.torch.simulate`. Methods with a direction (``smtpp-muon``, ``smtpp-adam``) are
        there only.
    schedule : {"constant", "cosine"} or callable
        What η is multiplied by in round k.
    batch : int, optional
        Samples of a batch, drawn with replacement by the draws of ``oneway.run``; None for all.
    seed : int
        Of the draws.

    Examples
    --------
    >>> import jax.numpy as jnp, numpy as np
    >>> import oneway.jax
    >>> x = np.random.default_rng(1).normal(size=(64, 3)).astype("float32")
    >>> parts = [(x[i::4], x[i::4].sum(axis=1)) for i in range(4)]
    >>> def loss(w, inputs, targets):
    ...     return ((inputs @ w - targets) ** 2).mean()
    >>> done = oneway.jax.simulate(loss, jnp.zeros(3), parts, rounds=300, step=0.2, topology="ring")
    >>> bool(jnp.abs(done.parameters() - 1).max() < 1e-3)
    True
    """
    run = Simulation(loss, parameters, parts, rounds=rounds, **settings)
    run.advance(rounds)
    return run


def _joined(parts: Sequence[tuple[Any, Any]]) -> tuple[Any, Any, list[np.ndarray]]:
    """All data in two arrays, and the rows of each agent."""
    if not parts or any(len(pair) != 2 or len(pair[0]) != len(pair[1]) for pair in parts):
        raise ValueError("parts are a list with (inputs, targets) of each agent")
    sizes = [len(inputs) for inputs, _ in parts]
    if 0 in sizes:
        raise ValueError(f"agent {sizes.index(0)} has no data")
    ends = np.cumsum([0, *sizes])
    rows = [np.arange(start, end) for start, end in itertools.pairwise(ends)]
    inputs, targets = (jnp.concatenate([jnp.asarray(pair[i]) for pair in parts]) for i in (0, 1))
    return inputs, targets, rows


def _dense(rows: Any, dtype: Any) -> Any:
    """A matrix of weights, from those by receiver."""
    matrix = np.zeros((len(rows), len(rows)))
    for agent, (senders, weights) in enumerate(rows):
        matrix[agent, senders] = weights
    return jnp.asarray(matrix, dtype)


def _at(numbers: Any, matrices: Any, weight: Any) -> list[Any]:
    """η, w, C_ii and the two numbers of the round."""
    step, *of_round = (jnp.asarray(number, matrices[1].dtype) for number in numbers)
    one = jnp.ones((), matrices[1].dtype) if weight is None else weight
    return [step, one, jnp.diagonal(matrices[1])[:, None], *of_round]
