"""Methods of your own: arithmetic on one coordinate, written in Python, recorded once, and run in Rust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from oneway import _native

__all__ = ["At", "Method", "if_positive", "maximum", "minimum", "sign", "sqrt"]


_NETWORKS = ("push-pull", "push-sum", "pull", "balanced", "central")
_ALLOWED = (
    "what it returns is made of its arguments by +, -, *, /, ** 2, abs, ow.sqrt, ow.maximum, "
    "ow.minimum, ow.sign and "
    "ow.if_positive, coordinate by coordinate"
)


@dataclass(frozen=True)
class At:
    """Where in the run we are, for one coordinate of one agent."""

    step: Any
    """η of this round."""
    weight: Any
    """The weight w that push-sum divides by, after the exchange; 1 if the method carries none."""
    kept: Any
    """C_ii, the share of what it pushes that the agent keeps."""
    round: Any
    """t, which counts rounds from 1."""
    phase: int
    """The exchange within the round, from 0."""


class Method:
    """A method of your own.

    Write what an agent keeps (``state``), what it sends, where it takes its gradient and how it updates, for
    one coordinate. The same lines hold for all coordinates and all agents. They are recorded once, when the
    method is first used, and then run at the speed of the built-in methods, in every in-memory engine, in
    :func:`oneway.tune` and in the theory (:func:`oneway.stability_limit`).

    Attributes
    ----------
    state : sequence of str
        The letters of what an agent keeps of a coordinate; the first is its estimate.
    network : {"push-pull", "push-sum", "pull", "balanced", "central"}
        ``push-pull`` has R for what is pulled and C for what is pushed; ``push-sum`` has C; ``pull`` has R;
        ``balanced`` has one doubly stochastic W for both.
    exchanges : int
        Exchanges a round.
    carries_weight : bool
        Whether push-sum's weight w is carried along, as ``at.weight``.
    gradients : {"one", "both", "nothing"}
        What is asked after an exchange: the gradient at x⁺, or also the one at the last point with the same
        sample. ``start_gradients`` is asked at x₀.
    tracker, tracked, momentum, conserved : str, optional
        Letters of the state that play these roles: (1/n)Σ tracker = (1/n)Σ tracked is checked while running.

    Examples
    --------
    SMTPP: X⁺ = R(X − ηV), M⁺ = (1−λ)M + λG⁺, V⁺ = CV + M⁺ − M.

    >>> import oneway as ow
    >>> class Smtpp(ow.Method):
    ...     state = ("x", "v", "m")
    ...     tracker, tracked, momentum = "v", "m", "m"
    ...     def __init__(self, λ=0.1):
    ...         self.λ = λ
    ...     def start(self, at, x, g):
    ...         return x, 0 * x, 0 * x
    ...     def send(self, at, x, v, m):
    ...         return x - at.step * v, v
    ...     def update(self, at, state, pulled, pushed, g):
    ...         x, v, m = state
    ...         m_next = (1 - self.λ) * m + self.λ * g
    ...         return pulled, pushed + (m_next - m), m_next
    >>> print(*Smtpp().equations(), sep="\\n")
    x⁺ = R(x − ηv)
    v⁺ = Cv + m⁺ − m
    m⁺ = 0.9m + 0.1g⁺
    g⁺ = ∇F(x⁺; ξ⁺)
    >>> problem = ow.problems.quadratic(dim=5)
    >>> result = ow.run(problem, "exponential", Smtpp(), agents=8, step=0.2, iterations=100)
    >>> result.final[0]["method"]
    'Smtpp'
    """

    state: ClassVar[Sequence[str]] = ("x",)
    network: ClassVar[Literal["push-pull", "push-sum", "pull", "balanced", "central"]] = "push-pull"
    exchanges: ClassVar[int] = 1
    carries_weight: ClassVar[bool] = False
    gradients: ClassVar[Literal["one", "both", "nothing"]] = "one"
    start_gradients: ClassVar[Literal["one", "nothing"]] = "one"
    tracker: ClassVar[str | None] = None
    tracked: ClassVar[str | None] = None
    momentum: ClassVar[str | None] = None
    conserved: ClassVar[str | None] = None

    def start(self, at: At, x: Any, g: Any) -> Any:
        """Make the state at x₀, from the gradient there. By default x₀ and zeros."""
        return (x, *(0 * x for _ in self.state[1:]))

    def send(self, at: At, *state: Any) -> Any:
        """Make what is pulled and what is pushed: each one number, a tuple of several, or ``None``.

        A method for a network with one matrix returns what goes over that one.
        """
        raise NotImplementedError(f"{type(self).__name__} has no `send`: what does an agent send?")

    def point(self, at: At, state: Any, pulled: Any, pushed: Any) -> Any:
        """Say where the gradient is taken: x⁺, or x⁺ and the last point. By default what was pulled, or else
        pushed and divided by w.
        """
        here = pulled if pulled is not None else pushed
        here = here[0] if isinstance(here, tuple) else here
        return here / at.weight if self.carries_weight else here

    def update(self, at: At, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        """Make the next state, from what was heard and the gradient (or both gradients)."""
        raise NotImplementedError(f"{type(self).__name__} has no `update`: how does an agent update?")

    @property
    def name(self) -> str:
        """What it is called in results."""
        return type(self).__name__

    def equations(self) -> list[str]:
        """Its equations, as they were recorded."""
        return self._traced.equations()

    def __repr__(self) -> str:
        settings = ", ".join(
            f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_")
        )
        return f"{type(self).__name__}({settings})"

    @property
    def _traced(self) -> _native.Method:
        settings = tuple(
            sorted((name, repr(value)) for name, value in vars(self).items() if name != "_recorded")
        )
        kept: tuple[Any, _native.Method] | None = vars(self).get("_recorded")
        if kept is None or kept[0] != settings:
            try:
                kept = (settings, self._record())
            except TypeError as error:
                if "Symbol" not in str(error):
                    raise
                raise TypeError(f"{type(self).__name__} cannot be recorded ({error}): {_ALLOWED}") from error
            self.__dict__["_recorded"] = kept
        return kept[1]

    def _record(self) -> _native.Method:
        name = type(self).__name__
        if self.network not in _NETWORKS:
            from difflib import get_close_matches

            near = "".join(
                f": did you mean `{known}`?" for known in get_close_matches(self.network, _NETWORKS, 1)
            )
            raise ValueError(
                f"{name}: unknown network `{self.network}`{near} (known: {', '.join(_NETWORKS)})"
            )
        letters = [str(letter) for letter in self.state]
        most = _native.Recording(name, letters, (8, 8))
        sent = [self._sent(self.send(*self._inputs(most, phase)), phase) for phase in range(self.exchanges)]
        counts = (max(len(pull) for pull, _ in sent), max(len(push) for _, push in sent))
        recording = _native.Recording(name, letters, counts)
        zero = recording.constant(0.0)
        at = self._at(recording, 0)
        x = recording.input("start")
        start = self._numbers(
            "start", self.start(at, x, recording.input("gradient")), len(letters), recording
        )
        exchanges = []
        for phase in range(self.exchanges):
            at, *state = self._inputs(recording, phase)
            pull, push = self._sent(self.send(at, *state), phase)
            pull, push = (self._symbols("send", part, recording) for part in (pull, push))
            heard = [
                tuple(recording.input(what, i) for i in range(count))
                for what, count in zip(("pulled", "pushed"), counts, strict=True)
            ]
            pulled, pushed = (part[0] if len(part) == 1 else (part or None) for part in heard)
            shown = tuple(state) if len(state) > 1 else state[0]
            points = self.point(at, shown, pulled, pushed)
            points = points if isinstance(points, tuple) else (points, state[0])
            points = self._numbers("point", points, 2, recording)
            g: Any = recording.input("gradient")
            if self.gradients == "both":
                g = (g, recording.input("other"))
            update = self._numbers(
                "update", self.update(at, shown, pulled, pushed, g), len(letters), recording
            )
            fill = [*pull, *[zero] * (counts[0] - len(pull))], [*push, *[zero] * (counts[1] - len(push))]
            exchanges.append((*fill, points, update))
        return _native.Method.define(
            recording,
            name,
            self.network,
            self.carries_weight,
            (self.start_gradients, self.gradients),
            start,
            exchanges,
            self.tracker,
            self.tracked,
            self.momentum,
            self.conserved,
        )

    @staticmethod
    def _at(recording: _native.Recording, phase: int) -> At:
        step, weight, kept, round_ = (recording.input(what) for what in ("step", "weight", "kept", "round"))
        return At(step, weight, kept, round_, phase)

    def _inputs(self, recording: _native.Recording, phase: int) -> tuple[Any, ...]:
        state = (recording.input("state", i) for i in range(len(self.state)))
        return (self._at(recording, phase), *state)

    def _sent(self, sent: Any, phase: int) -> tuple[list[Any], list[Any]]:
        """What goes over the two graphs."""

        def part(given: Any) -> list[Any]:
            return [] if given is None else list(given) if isinstance(given, (tuple, list)) else [given]

        if self.network in ("push-sum", "central"):
            return [], part(sent)
        if self.network == "pull":
            return part(sent), []
        if not isinstance(sent, tuple) or len(sent) != 2:
            where = f" in exchange {phase}" if self.exchanges > 1 else ""
            raise TypeError(
                f"{type(self).__name__}.send{where} must return what is pulled and what is pushed "
                "(None for nothing)"
            )
        return part(sent[0]), part(sent[1])

    def _numbers(
        self, what: str, given: Any, count: int, recording: _native.Recording
    ) -> list[_native.Symbol]:
        numbers = list(given) if isinstance(given, (tuple, list)) else [given]
        if given is None or len(numbers) != count:
            found = "None" if given is None else f"{len(numbers)} numbers"
            raise TypeError(f"{type(self).__name__}.{what} must return {count} numbers, not {found}")
        return self._symbols(what, numbers, recording)

    def _symbols(
        self, what: str, numbers: Sequence[Any], recording: _native.Recording
    ) -> list[_native.Symbol]:
        symbols = []
        for number in numbers:
            if isinstance(number, _native.Symbol):
                symbols.append(number)
                continue
            try:
                symbols.append(recording.constant(float(number)))
            except TypeError:
                raise TypeError(
                    f"{type(self).__name__}.{what} has returned a {type(number).__name__}: {_ALLOWED}"
                ) from None
        return symbols


def sqrt(a: Any) -> Any:
    """√a, of a number of a method, or of an array."""
    if isinstance(a, _native.Symbol):
        return a.sqrt()
    import numpy as np

    return np.sqrt(a)


def sign(a: Any) -> Any:
    """1 where a > 0, −1 where a < 0, else a itself."""
    if isinstance(a, _native.Symbol):
        return a.sign()
    import numpy as np

    return np.sign(a)


def maximum(a: Any, b: Any) -> Any:
    """The larger of two."""
    if isinstance(a, _native.Symbol):
        return a.maximum(b)
    if isinstance(b, _native.Symbol):
        return b.maximum(a)
    import numpy as np

    return np.maximum(a, b)


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two."""
    if isinstance(a, _native.Symbol):
        return a.minimum(b)
    if isinstance(b, _native.Symbol):
        return b.minimum(a)
    import numpy as np

    return np.minimum(a, b)


def if_positive(a: Any, then: Any, otherwise: Any) -> Any:
    """``then`` where a > 0, else ``otherwise``."""
    if isinstance(a, _native.Symbol):
        return a.if_positive(then, otherwise)
    import numpy as np

    return np.where(np.asarray(a) > 0, then, otherwise)
