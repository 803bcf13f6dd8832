"""Methods that a user defines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import oneway as ow


class PushPull(ow.Method):
    state = ("x", "v", "g")
    tracker, tracked = "v", "g"

    def start(self, at: Any, x: Any, g: Any) -> Any:
        return x, g, g

    def send(self, at: Any, x: Any, v: Any, g: Any) -> Any:
        return x - at.step * v, v

    def update(self, at: Any, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        return pulled, pushed + (g - state[2]), g


class Smtpp(PushPull):
    state = ("x", "v", "m")
    tracker, tracked, momentum = "v", "m", "m"

    def __init__(self, momentum_weight: float = 0.1) -> None:
        self.momentum_weight = momentum_weight

    def start(self, at: Any, x: Any, g: Any) -> Any:
        return x, 0 * x, 0 * x

    def update(self, at: Any, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        λ, (_, _, m) = self.momentum_weight, state
        m_next = (1 - λ) * m + λ * g
        return pulled, pushed + (m_next - m), m_next


class Sgp(ow.Method):
    state = ("z", "u")
    network = "push-sum"
    carries_weight = True
    conserved = "u"

    def start(self, at: Any, x: Any, g: Any) -> Any:
        return x, x - at.step * g

    def send(self, at: Any, z: Any, u: Any) -> Any:
        return u

    def update(self, at: Any, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        return pushed / at.weight, pushed - at.step * g


def hashed(method: object, topology: object = "exponential", **more: object) -> object:
    problem = ow.problems.quadratic(dim=6, noise=0.2)
    settings = {"agents": 8, "step": 0.05, "iterations": 80, "seed": 3, **more}
    result = ow.run(problem, topology, method, **settings)
    return result.cells[0]["state_hash"]


@pytest.mark.parametrize("topology", ["ring", "exponential", "one-peer-exponential"])
@pytest.mark.parametrize("precision", ["f64", "f32"])
@pytest.mark.parametrize(
    ("own", "builtin"), [(PushPull(), "push-pull"), (Smtpp(0.2), {"kind": "smtpp", "momentum": 0.2})]
)
def test_a_method_in_python_has_the_bits_of_the_one_in_rust(
    own: ow.Method, builtin: object, precision: str, topology: str
) -> None:
    assert hashed(own, topology, precision=precision) == hashed(builtin, topology, precision=precision)


def test_it_runs_in_every_engine_with_the_same_bits() -> None:
    faulty = {"kind": "exponential", "loss": 0.1}
    assert hashed(Smtpp(), faulty) == hashed("smtpp", faulty)
    for asynchronous in (False, True):
        own, other = (
            ow.run(
                ow.problems.quadratic(dim=6),
                "ring",
                {"it": {**method, "asynchronous": asynchronous}},
                agents=4,
                step=0.01,
                iterations=50,
                clock={"latency": 0.1},
            )
            for method in ({"kind": Smtpp()}, {"kind": "smtpp"})
        )
        assert own.state_hash == other.state_hash


def test_it_is_measured_by_its_laws() -> None:
    curve = ow.run(
        ow.problems.quadratic(dim=6, noise=0.2), "ring", Smtpp(), agents=5, step=0.05, iterations=200
    ).curve()
    assert curve["conservation_error"].max() < 1e-12
    assert curve["tracking_error"][-1] > 0


def test_a_method_with_a_weight_runs_on_digraphs_that_are_not_balanced() -> None:
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (0, 3)]
    curve = ow.run(ow.problems.quadratic(dim=3), edges, Sgp(), step=0.002, iterations=6000).curve()
    assert curve["conservation_error"].max() < 1e-9
    assert curve["grad_norm_sq"][-1] < 1e-6 * curve["grad_norm_sq"][0]


def test_the_theory_takes_it() -> None:
    for network in ("ring", "exponential"):
        own = ow.stability_limit(Smtpp(0.3), network, 6)
        assert own == pytest.approx(
            ow.stability_limit({"kind": "smtpp", "momentum": 0.3}, network, 6), rel=1e-9
        )


def test_it_can_be_tuned() -> None:
    tuned = ow.tune(
        ow.problems.quadratic(dim=3, noise=0.1), "ring", {"mine": PushPull()}, agents=4, iterations=60, seed=2
    )
    builtin = ow.tune(
        ow.problems.quadratic(dim=3, noise=0.1),
        "ring",
        {"mine": "push-pull"},
        agents=4,
        iterations=60,
        seed=2,
    )
    assert tuned.best == builtin.best
    assert tuned.comparison.splitlines()[0].startswith("topology,method,step")


@pytest.mark.parametrize(
    "around", [{"local_steps": 3}, {"gossip": 2}, {"compress": "top-k"}, {"graph": "trees"}]
)
def test_what_goes_around_methods_goes_around_it(around: dict[str, object]) -> None:
    asked = {"step": 0.02}
    assert hashed({"kind": PushPull(), **around}, **asked) == hashed({"kind": "push-pull", **around}, **asked)


def test_parameters_that_change_are_recorded_anew() -> None:
    method = Smtpp(0.1)
    first = hashed(method)
    method.momentum_weight = 0.5
    assert hashed(method) == hashed(Smtpp(0.5)) != first
    assert repr(method) == "Smtpp(momentum_weight=0.5)"


def test_numbers_of_numpy_are_numbers() -> None:
    assert hashed(Smtpp(np.float64(0.1))) == hashed(Smtpp(0.1))


class Incomplete(ow.Method):
    state = ("x",)


class Branches(PushPull):
    def update(self, at: Any, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        return (pulled, pushed, g) if g else (pulled, pushed, pulled)


class Norm(PushPull):
    def update(self, at: Any, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        return pulled, pushed / np.linalg.norm(g), g


class TooFew(PushPull):
    def update(self, at: Any, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        return pulled, pushed


class Nothing(PushPull):
    def update(self, at: Any, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        return None


class Text(PushPull):
    def update(self, at: Any, state: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        return pulled, "v", g


class OneMessage(PushPull):
    def send(self, at: Any, x: Any, v: Any, g: Any) -> Any:
        return x


class WrongNetwork(PushPull):
    network = "push-sump"


class WrongRole(PushPull):
    tracker = "w"


@pytest.mark.parametrize(
    ("method", "error", "message"),
    [
        (Incomplete(), NotImplementedError, "Incomplete has no `send`"),
        (Branches(), TypeError, "choose with ow.if_positive"),
        (Norm(), TypeError, "."),
        (TooFew(), TypeError, "TooFew.update must return 3 numbers, not 2 numbers"),
        (Nothing(), TypeError, "Nothing.update must return 3 numbers, not None"),
        (Text(), (TypeError, ValueError), "."),
        (OneMessage(), TypeError, "must return what is pulled and what is pushed"),
        (WrongNetwork(), ValueError, "did you mean `push-sum`"),
        (WrongRole(), ValueError, 'the state has no "w"'),
        (Smtpp(float("nan")), ValueError, "no number to compute with"),
        (3, TypeError, "a int is no method"),
        ("smtp", ValueError, "did you mean `smtpp`"),
    ],
)
def test_methods_that_cannot_be(method: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        hashed(method)


def test_functions_work_on_arrays_too() -> None:
    a = np.array([-1.0, 4.0])
    assert ow.sqrt(np.abs(a)).tolist() == [1, 2]
    assert ow.sign(a).tolist() == [-1, 1]
    assert ow.maximum(a, 0).tolist() == [0, 4]
    assert ow.minimum(a, 0).tolist() == [-1, 0]
    assert ow.if_positive(a, 1, 2).tolist() == [2, 1]
