"""Models of JAX over networks: the numbers of `oneway.run` to rounding, laws, and digits over a ring."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import needs
from digits import CLASSES, HIDDEN, PIXELS, rows

import oneway as ow

jax: Any = needs("jax", "jax")
if True:  # after JAX is known to be there
    import jax.numpy as jnp
    from jax.flatten_util import ravel_pytree

    import oneway.jax as oj

AGENTS, ROWS, BATCH = 6, 20, 5
# every way to ask for gradients, to send and to carry; the other methods differ in arithmetic alone
KINDS = [
    *("smtpp", "push-pull", "storm-tracking", "r-fast", "sgp", "sgp-momentum", "add-opt", "frost", "abm"),
    *("dsgt", "dsgd", "dsmt", "momentum-tracking", "qg-dsgdm", "adamdos", "csgdm", "central-storm", "adam"),
]


@pytest.fixture(autouse=True)
def double(request: pytest.FixtureRequest) -> Iterator[None]:
    """In double precision, but where a test asks for what JAX does by itself."""
    with jax.enable_x64("single" not in request.keywords):
        yield


def loss(parameters: Any, inputs: Any, targets: Any) -> Any:
    hidden = jnp.tanh(inputs @ parameters["in"] + parameters["bias"])
    scores = jax.nn.log_softmax(hidden @ parameters["out"])
    return -jnp.take_along_axis(scores, targets[:, None], axis=1).mean()


def start() -> Any:
    draws = np.random.default_rng(0)
    return {"in": draws.normal(size=(4, 5)), "bias": np.zeros(5), "out": draws.normal(size=(5, 3))}


def parts() -> list[tuple[Any, Any]]:
    draws = np.random.default_rng(7)
    x = draws.normal(size=(AGENTS * ROWS, 4))
    y = (x @ draws.normal(size=(4, 3))).argmax(1)
    order = np.argsort(y, kind="stable").reshape(AGENTS, ROWS)
    return [(x[mine], y[mine]) for mine in order]


def training(method: Any, topology: Any = "ring", rounds: int = 20, **settings: Any) -> Any:
    given = {"step": 0.05, "batch": BATCH, "seed": 3, **settings}
    return oj.simulate(loss, start(), parts(), rounds=rounds, method=method, topology=topology, **given)


def distance(a: Any, b: Any) -> float:
    return float(np.linalg.norm(np.asarray(a) - np.asarray(b)) / np.linalg.norm(np.asarray(b)))


@pytest.mark.parametrize("kind", KINDS)
def test_the_points_of_a_training_are_those_of_run_to_rounding(kind: str) -> None:
    begun, unravel = ravel_pytree(start())
    x, y = map(np.stack, zip(*parts(), strict=True))
    each = jax.jit(jax.vmap(jax.grad(lambda row, a, b: loss(unravel(row), a, b))))
    places, seen = np.arange(AGENTS)[:, None], []

    def gradient(at: Any, agents: Any, draws: Any) -> Any:
        with jax.enable_x64(True):  # this is another thread
            if draws is None:  # measurements
                return np.asarray(each(np.array(at), x, y))
            seen.append(np.array(at))
            chosen = draws.integers(ROWS, BATCH)
            return np.asarray(each(seen[-1], x[places, chosen], y[places, chosen]))

    problem = ow.Problem(gradient, dim=begun.size, agents=AGENTS, start=np.asarray(begun))
    rounds = 8
    run = training(kind, rounds=rounds)
    topology = "complete" if run.rule.network == "central" else "ring"
    ow.run(problem, topology, kind, step={"size": 0.05, "scaling": "raw"}, iterations=rounds, seed=3)
    # of two points in a round, the newer one is asked for last
    assert distance(run.points, seen[-1]) < 1e-12
    assert distance(seen[-1], np.tile(begun, (AGENTS, 1))) > 1e-3


def test_laws_hold() -> None:
    # SMTPP begins with m = 0 and is a round behind; with full gradients that is all there is between them
    one = training({"kind": "smtpp", "momentum": 1.0}, rounds=51, batch=None)
    assert distance(one.points, training("push-pull", rounds=50, batch=None).points) < 1e-12
    other = training({"kind": "smtpp", "momentum": 0.9}, rounds=51, batch=None)
    assert distance(other.points, one.points) > 1e-4
    ours = training({"kind": "smtpp", "momentum": 0.2}, "complete", rounds=51, batch=None)
    central = training({"kind": "csgdm", "momentum": 0.2}, rounds=50, batch=None)
    assert distance(ours.points, central.points) < 1e-12
    tracked = ours.states["v"].mean(axis=0)
    assert distance(tracked, ours.states["m"].mean(axis=0)) < 1e-10, "the tracker keeps the mean of momenta"


def test_in_pieces_it_is_the_same_and_parameters_are_a_pytree() -> None:
    whole = training("sgp-momentum", "one-peer-exponential", rounds=11, schedule="cosine")
    cut = oj.Simulation(
        loss, start(), parts(), rounds=11, method="sgp-momentum", topology="one-peer-exponential",
        step=0.05, batch=BATCH, seed=3, schedule="cosine",
    )  # fmt: skip
    for rounds in (4, 7):
        cut.advance(rounds)
    assert cut.round == 11
    assert (np.asarray(cut.points) == np.asarray(whole.points)).all()
    assert len(whole.losses) >= 11
    assert whole.losses[-1] < whole.losses[0]
    mean, third = whole.parameters(), whole.parameters(3)
    assert {name: part.shape for name, part in mean.items()} == {"in": (4, 5), "bias": (5,), "out": (5, 3)}
    assert distance(ravel_pytree(third)[0], whole.points[3]) == 0
    assert "6 agents, 40 parameters, sgp-momentum, round 11 of 11" in repr(whole)


@pytest.mark.single
def test_a_directed_ring_learns_what_no_agent_has_seen_alone(tmp_path: Path) -> None:
    images, labels = rows("train", tmp_path)
    tests, answers = rows("test", tmp_path)
    agents = 5
    draws = np.random.default_rng(1)
    begun = {
        "in": jnp.asarray(draws.normal(size=(PIXELS, HIDDEN)) / 8), "bias": jnp.zeros(HIDDEN),
        "out": jnp.asarray(draws.normal(size=(HIDDEN, CLASSES)) / 6),
    }  # fmt: skip
    by_class = [np.flatnonzero(labels // 2 == agent) for agent in range(agents)]  # two digits each
    data = [(images[mine], labels[mine]) for mine in by_class]

    def accuracy(parameters: Any) -> float:
        hidden = jnp.tanh(tests @ parameters["in"] + parameters["bias"])
        return float(((hidden @ parameters["out"]).argmax(axis=1) == answers).mean())

    settings: dict[str, Any] = {"rounds": 800, "step": 1.0, "batch": 32, "schedule": "cosine"}
    ring = oj.simulate(loss, begun, data, topology="ring", **settings)
    assert ring.points.dtype == jnp.float32
    assert min(accuracy(ring.parameters(agent)) for agent in range(agents)) >= 0.9
    single = ow.Network.from_edges([], agents=1)
    alone = [oj.simulate(loss, begun, [mine], topology=single, **settings) for mine in data]
    assert max(accuracy(one.parameters()) for one in alone) < 0.6


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "smtpp-muon"}, "smtpp-muon steps along a direction: that is in oneway.torch only"),
        ({"method": "compressed-smtpp"}, "not coordinate by coordinate"),
        ({"method": "d2"}, "symmetric"),
        ({"topology": "rng"}, "ring"),
        ({"step": 0.0}, "step=0.0 must be above 0"),
        ({"batch": 0}, "batch=0"),
        ({"rounds": 0}, "rounds=0"),
        ({"schedule": "linear"}, "schedule='linear' is unknown"),
        ({"parts": []}, "parts are a list with (inputs, targets) of each agent"),
        ({"parts": [([1.0], [1]), ([], [])]}, "agent 1 has no data"),
        ({"parts": [([1.0], [1, 2])]}, "parts are a list"),
        ({"parameters": {}}, "a pytree of real arrays, and not empty"),
        ({"parameters": [1, 2]}, "a pytree of real arrays"),
        ({"topology": [(0, 1), (1, 0)]}, "the network has 2 agents, and there must be 6"),
    ],
)
def test_what_cannot_be_is_said(settings: dict[str, Any], message: str) -> None:
    given = {"parameters": start(), "parts": parts(), "rounds": 2, "topology": "ring", **settings}
    with pytest.raises(ValueError, match=re.escape(message)):
        oj.simulate(loss, **given)
    uneven = [*parts()[:-1], (np.zeros((2, 4)), np.zeros(2, dtype=int))]
    with pytest.raises(ValueError, match="give batch="):
        oj.simulate(loss, start(), uneven, rounds=1, topology="ring", batch=None)
    with pytest.raises(ValueError, match="agent=6: there are agents 0 to 5"):
        training("dsgd", rounds=1).parameters(6)
