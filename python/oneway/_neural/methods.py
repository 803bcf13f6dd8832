"""Methods for networks: rules that only make sense there, and rules that step along a direction."""

from __future__ import annotations

from typing import Any

from oneway.method import At, Method


class SmtppNesterov(Method):
    """SMTPP whose tracked vector is Nesterov's: x⁺ = R(x − ηv), v⁺ = Cv + n⁺ − n, with
    m⁺ = (1 − λ)m + λg⁺ and n⁺ = (1 − λ)m⁺ + λg⁺. At one agent it is PyTorch's SGD with ``nesterov=True``,
    momentum 1 − λ and step ηλ.
    """

    state = ("x", "v", "m", "n")
    tracker, tracked, momentum = "v", "n", "m"
    start_gradients = "nothing"

    def __init__(self, momentum: float = 0.1) -> None:
        _within("momentum", momentum)
        self.λ = momentum

    @property
    def name(self) -> str:
        """What it is called in results."""
        return "smtpp-nesterov"

    def start(self, at: At, x: Any, g: Any) -> Any:
        """Nothing is tracked yet."""
        return x, 0 * x, 0 * x, 0 * x

    def send(self, at: At, x: Any, v: Any, m: Any, n: Any) -> Any:
        """The step, and the tracker."""
        return x - at.step * v, v

    def update(self, at: At, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        """Momentum, and the look ahead of it that is tracked."""
        _, _, m, n = state
        after = (1 - self.λ) * m + self.λ * g
        ahead = (1 - self.λ) * after + self.λ * g
        return pulled, pushed + (ahead - n), after, ahead


class DeMuon(Method):
    """DeMuon (arXiv 2510.01377): x⁺ = W(x − η·msgn(v)), m⁺ = (1 − θ)m + θg⁺, v⁺ = W(v + m⁺ − m), with one
    doubly stochastic W; two exchanges a round. The rule here is without the matrix sign, which is its
    direction.
    """

    state = ("x", "v", "m")
    tracker, tracked, momentum = "v", "m", "m"
    network = "balanced"
    exchanges = 2
    start_gradients = "nothing"

    def __init__(self, momentum: float = 0.1) -> None:
        _within("momentum", momentum)
        self.θ = momentum

    @property
    def name(self) -> str:
        """What it is called in results."""
        return "demuon"

    def start(self, at: At, x: Any, g: Any) -> Any:
        """Nothing is tracked yet."""
        return x, 0 * x, 0 * x

    def send(self, at: At, x: Any, v: Any, m: Any) -> Any:
        """First the step; then the tracker, with the newest momentum in it."""
        return (x - at.step * v, None) if at.phase == 0 else (None, v)

    def update(self, at: At, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        """Momentum, then its mean with others."""
        x, v, m = state
        if at.phase == 1:
            return x, pushed, m
        after = (1 - self.θ) * m + self.θ * g
        return pulled, v + (after - m), after


def _within(name: str, value: float) -> None:
    if not 0 < value <= 1:
        raise ValueError(f"{name}={value} must be above 0 and at most 1")


#: methods of this module, by kind
OWN: dict[str, type[Method]] = {"smtpp-nesterov": SmtppNesterov, "demuon": DeMuon}

#: methods made of a rule and a direction: nothing of a paper, except demuon
WITH_DIRECTION = {
    "demuon": ("demuon", "muon"),
    "smtpp-muon": ("smtpp", "muon"),
    "smtpp-nesterov-muon": ("smtpp-nesterov", "muon"),
    "push-pull-muon": ("push-pull", "muon"),
    "dsgt-muon": ("dsgt", "muon"),
    "sgp-muon": ("sgp-momentum", "muon"),
    "smtpp-adam": ("smtpp", "adam"),
    "push-pull-adam": ("push-pull", "adam"),
}

#: parameters of directions, and what they are by default
OF_DIRECTIONS: dict[str, dict[str, float]] = {"muon": {}, "adam": {"beta2": 0.99, "epsilon": 1e-8}}

#: letters that a direction is made of, where a rule's update also needs them
STEERED = {"demuon": "v"}
