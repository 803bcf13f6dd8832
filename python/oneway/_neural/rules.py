"""A method's rule as programs: the engine's straight-line arithmetic, operation by operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from oneway import _native
from oneway._neural.methods import OF_DIRECTIONS, OWN, STEERED, WITH_DIRECTION
from oneway.method import Method

# the inputs that all programs begin with: η, w, C_ii and two numbers of the round
COMMON = 5

_TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


class Arithmetic(Protocol):
    """What arrays of a library do besides +, −, × and ÷."""

    def number(self, value: float, like: Any) -> Any:
        """A number, in the precision of `like`."""

    def root(self, value: Any) -> Any:
        """√, correctly rounded."""

    def choose(self, a: Any, b: Any, c: Any) -> Any:
        """Where a > 0 b, elsewhere c."""

    def rows(self, value: Any, like: Any) -> Any:
        """A result in the shape of `like`: one number for all is one for each coordinate."""


class Program:
    """Straight-line arithmetic: steps, each of which may use those before it, and which of them it gives."""

    def __init__(
        self, arithmetic: Arithmetic, steps: Sequence[tuple[Any, ...]], results: Sequence[int]
    ) -> None:
        self._arithmetic = arithmetic
        self.steps = list(steps)
        self.results = list(results)
        needed = [False] * len(self.steps)
        for at in self.results:
            needed[at] = True
        for at in reversed(range(len(self.steps))):
            if needed[at]:
                for operand in self._operands(at):
                    needed[operand] = True
        self._needed = needed
        self.uses = {
            step[1] for step, used in zip(self.steps, needed, strict=True) if used and step[0] == "input"
        }
        # a step's number of the last one that needs it: then its memory is free
        self._last = list(range(len(self.steps)))
        for at in range(len(self.steps)):
            if needed[at]:
                for operand in self._operands(at):
                    self._last[operand] = at

    def _operands(self, at: int) -> tuple[int, ...]:
        step = self.steps[at]
        return () if step[0] in ("input", "number") else tuple(step[1:])

    def input_of(self, result: int) -> int | None:
        """The input that a result is, if it is nothing else."""
        step = self.steps[self.results[result]]
        return step[1] if step[0] == "input" else None

    def run(self, inputs: Sequence[Any], like: Any) -> list[Any]:
        """Its results of these inputs, in the precision of `like`. An input that is None is not needed."""
        values: list[Any] = [None] * len(self.steps)
        kept = set(self.results)
        for at, step in enumerate(self.steps):
            if not self._needed[at]:
                continue
            kind = step[0]
            if kind == "input":
                values[at] = inputs[step[1]]
            elif kind == "number":
                values[at] = self._arithmetic.number(step[1], like)
            elif kind == "sqrt":
                values[at] = self._arithmetic.root(values[step[1]])
            elif kind == "if-positive":
                values[at] = self._arithmetic.choose(*(values[operand] for operand in step[1:]))
            else:
                values[at] = _TWO[kind](values[step[1]], values[step[2]])
            for operand in self._operands(at):
                if self._last[operand] == at and operand not in kept:
                    values[operand] = None
        return [self._arithmetic.rows(values[at], like) for at in self.results]


class Exchange:
    """One exchange of a round."""

    def __init__(self, arithmetic: Arithmetic, given: Mapping[str, Any]) -> None:
        self.sends: tuple[bool, bool] = tuple(given["sends"])
        self.asks, self.samples = given["asks"]
        self.send, self.points, self.update = (
            Program(arithmetic, *given[part]) for part in ("send", "points", "update")
        )

    def without_idle_parts(self, letters: int, pulls: int, heard: int) -> None:
        """Leave out graphs over which it sends only zeros, and gradients that its update does not use."""

        def idle(results: range) -> bool:
            steps = [self.send.steps[self.send.results[at]] for at in results]
            return all(step[:2] == ("number", 0.0) for step in steps)

        self.sends = (not idle(range(pulls)), not idle(range(pulls, heard)))
        if not self.update.uses & {COMMON + letters + heard, COMMON + letters + heard + 1}:
            self.asks, self.samples = "nothing", 0


class Rule:
    """A method as programs on one coordinate, which arrays of some library run."""

    def __init__(self, method: str | Mapping[str, Any] | Method, arithmetic: Arithmetic) -> None:
        self.direction: str | None = None
        self.of_direction: dict[str, float] = {}
        self.kind = asked = ""
        if isinstance(method, Method):
            self.native = method._traced
        else:
            given = {"kind": method} if isinstance(method, str) else dict(method)
            if "kind" not in given:
                raise ValueError("a method has a kind: {'kind': 'smtpp', 'momentum': 0.1}")
            asked = str(given.pop("kind"))
            kind, self.direction = WITH_DIRECTION.get(asked, (asked, None))
            self.kind = kind
            for name, value in given.items():
                if isinstance(value, (str, dict)) or not hasattr(value, "__float__"):
                    raise ValueError(
                        f"{name}={value!r}: what goes around a method's rule is not part of it here"
                    )
            if self.direction is not None:
                usual = OF_DIRECTIONS[self.direction]
                self.of_direction = {name: float(given.pop(name, default)) for name, default in usual.items()}
            if kind in OWN:
                if unknown := set(given) - {"momentum"}:
                    raise ValueError(f"{asked} has no parameter {min(unknown)}: it has momentum")
                self.native = OWN[kind](**{name: float(value) for name, value in given.items()})._traced
            else:
                self.native = _native.builtin(kind, {name: float(value) for name, value in given.items()})
        found = _native.program(self.native)
        self.description = found
        self.name: str = asked or found["name"]
        self.network: str = found["network"]
        self.carries: str = found["carries"]
        self.letters: list[str] = found["letters"]
        self.sends: tuple[int, int] = tuple(found["sends"])
        self.constants = found["constants"]
        self.start_asks, self.start_samples = found["start_asks"]
        self.start = Program(arithmetic, *found["start"])
        self.exchanges = [Exchange(arithmetic, exchange) for exchange in found["exchanges"]]
        if self.kind in OWN:
            for exchange in self.exchanges:
                exchange.without_idle_parts(len(self.letters), self.sends[0], sum(self.sends))
        asks = {self.start_asks, *(exchange.asks for exchange in self.exchanges)}
        if "components" in asks:
            raise ValueError(f"{self.name} keeps a gradient of each sample: that is not for networks")
        self.steered = self._steered() if self.direction is not None else None

    def _steered(self) -> int:
        """Which vector of the state the direction is made of."""
        if self.kind in STEERED:
            return self.letters.index(STEERED[self.kind])
        tracker = self.description["tracker"]
        at = tracker if tracker is not None else self.description["momentum"]
        if at is None:
            at = self.letters.index("m") if "m" in self.letters else -1
        first = self.exchanges[0]
        steps = (
            any(first.send.input_of(result) != COMMON + at for result in range(len(first.send.results)))
            and COMMON + at in first.send.uses
        )
        again = tracker is not None and COMMON + at in first.update.uses
        if at < 0 or not steps or again or len(self.exchanges) > 1:
            raise ValueError(
                f"{self.name}: a direction needs a method that steps along a vector and then sends"
            )
        return int(at)

    @property
    def graphs(self) -> list[str]:
        """The subgraphs of a network that it can run on, the usual one first: those of ``oneway.run``."""
        known = {method["name"]: method["graphs"] for method in _native.names()["methods"]}
        return list(known.get(self.kind, ("full", "trees", "lazy-trees")))

    def of_round(self, k: int) -> list[float]:
        """The two numbers of the round that turns state k into state k + 1."""
        kinds: dict[str, Callable[[float], float]] = {
            "zero": lambda base: 0.0,
            "count": lambda base: k + 1.0,
            "power": lambda base: base ** (k + 1),
            "one-minus-power": lambda base: 1.0 - base ** (k + 1),
        }
        return [kinds[kind](base) for kind, base in self.constants]

    def __repr__(self) -> str:
        place = type(self).__module__.rpartition(".")[0]
        return f"<{place}.Rule {self.name}: {'; '.join(self.native.equations())}>"
