"""What a user tries first: several in one list, slips of the keyboard, runs that are stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import oneway as ow

RING = [(0, 1), (1, 2), (2, 3), (3, 0)]
QUADRATIC = ow.problems.quadratic(dim=3)


def run(topology: Any = "ring", methods: Any = "smtpp", **settings: Any) -> ow.Result:
    asked = {"agents": 4, "step": 0.1, "iterations": 20, **settings}
    return ow.run(QUADRATIC, topology, methods, **asked)


def test_several_may_be_lists_or_tuples_and_mixed() -> None:
    assert len(run(methods=("smtpp", "sgp")).cells) == 2
    assert len(run(("ring", "complete")).cells) == 2
    result = run(["ring", RING, networkx.DiGraph(RING)])
    assert len({cell["state_hash"] for cell in result.cells}) == 1
    assert len(run([networkx.DiGraph(RING), networkx.DiGraph(RING)]).cells) == 2
    assert len(run(RING).cells) == len(run(tuple(RING)).cells) == 1
    with pytest.raises(ValueError, match="methods is empty"):
        run(methods=[])


def test_names_are_no_links() -> None:
    for edges in ([("a", "b"), ("b", "a")], ["ab"], [(0, "b")]):
        with pytest.raises(ValueError, match="is no link: give"):
            ow.Network.from_edges(edges)


def test_what_was_stopped_has_final_values() -> None:
    stop = ow.callbacks.EarlyStopping("grad_norm_sq", below=1e-3)
    row = run(iterations=5000, callbacks=[stop]).final[0]
    assert row["status"] == "stopped"
    assert row["repetitions"] == 1
    assert row["grad_norm_sq"] <= 1e-3


def test_a_figure_of_what_is_not_there_says_what_is() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    own = ow.Problem(lambda x, agents, draws: x, dim=2, agents=4, start=[1, 2])
    result = ow.run(own, "ring", "smtpp", step=0.1, iterations=20)
    with pytest.raises(ValueError, match="nothing here has 'loss': there are grad_norm_sq, consensus_error"):
        result.plot()
    with pytest.raises(ValueError, match="nothing here has 'test_accuracy'"):
        run().plot("test_accuracy")


class Dgd(ow.Method):
    network = "pull"

    def send(self, at: Any, x: Any) -> Any:
        return x

    def update(self, at: Any, x: Any, pulled: Any, pushed: Any, g: Any) -> Any:
        return pulled - at.step * g


def test_methods_that_cannot_be_recorded_say_what_can() -> None:
    class Root(Dgd):
        def update(self, at: Any, x: Any, pulled: Any, pushed: Any, g: Any) -> Any:
            return pulled - at.step * np.sqrt(g)

    class Compares(Dgd):
        def update(self, at: Any, x: Any, pulled: Any, pushed: Any, g: Any) -> Any:
            return pulled if g > 0 else x

    class Nowhere(Dgd):
        network = "pulll"  # type: ignore[assignment]

    for method in (Root(), Compares()):
        with pytest.raises(TypeError, match=r"ow\.sqrt"):
            run(methods=method)
    with pytest.raises(ValueError, match="did you mean `pull`"):
        run(methods=Nowhere())
    with pytest.raises(TypeError, match=r"Dgd is a class: give a method, Dgd\(\)"):
        run(methods=Dgd)


def test_a_result_says_where_it_ended() -> None:
    centres = np.arange(6.0).reshape(3, 2)
    problem = ow.Problem(lambda x, agents, draws: x - centres[agents], dim=2, agents=3)
    result = ow.run(problem, "ring", "push-pull", step=0.1, iterations=3000)
    np.testing.assert_allclose(result.x, centres.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(result.estimates(), np.tile(result.x, (3, 1)), atol=1e-9)
    two = ow.run(problem, "ring", ["push-pull", "smtpp"], step=0.1, iterations=5)
    assert set(two.x) == {("ring", "push-pull", 0), ("ring", "smtpp", 0)}
    assert two.estimates("smtpp").shape == (3, 2)


def test_kept_runs_do_not_say_where_they_ended(tmp_path: Path) -> None:
    def again() -> ow.Result:
        return ow.run(
            ow.problems.quadratic(dim=2), "ring", "smtpp", agents=3, step=0.1, iterations=9, out=tmp_path
        )

    assert again().x.shape == (2,)
    with pytest.raises(ValueError, match="fresh=True"):
        _ = again().x


def test_a_problem_in_python_can_be_tuned() -> None:
    problem = ow.Problem(
        lambda x, agents, draws: x - 1, dim=2, agents=3, loss=lambda x, a: (x**2).sum(axis=1)
    )
    tuned = ow.tune(problem, "ring", "push-pull", iterations=9)
    assert tuned.best[0]["step"] > 0


def test_the_loss_is_asked_once_a_state() -> None:
    asked = []
    problem = ow.Problem(
        lambda x, a, d: x, dim=2, agents=3, loss=lambda x, a: asked.append(len(x)) or x.sum(axis=1)
    )
    ow.run(problem, "ring", "smtpp", step=0.1, iterations=20)
    assert asked == [3, 3, 3]


class Descent(ow.Method):
    state = ("x", "g")
    network = "pull"

    def start(self, at: ow.At, x: object, g: object) -> object:
        return x, g

    def send(self, at: ow.At, x: object, g: object) -> object:
        return x - at.step * g

    def update(self, at: ow.At, state: object, pulled: object, pushed: object, g: object) -> object:
        return pulled, g**3 / (g * g)


def test_a_method_that_pulls_moves_its_average_by_its_step() -> None:
    class Plain(Descent):
        def update(self, at: ow.At, state: object, pulled: object, pushed: object, g: object) -> object:
            return pulled, g

    for scaling in ("raw", "effective"):
        assert ow.stability_limit(Plain(), "complete", 8, scaling=scaling) == pytest.approx(2.0, rel=1e-4)
    cubed = ow.run(ow.problems.quadratic(dim=2), "ring", Descent(), agents=3, step=0.1, iterations=1)
    assert cubed.cells[0]["status"] == "completed"


def test_links_may_be_an_array_and_parameters_of_a_method_are_told_from_those_of_a_family() -> None:
    edges = np.array([[0, 1], [1, 2], [2, 0]])
    assert ow.inspect(edges)["agents"] == 3
    with pytest.raises(ValueError, match="momentum is a parameter of the method"):
        ow.stability_limit("smtpp", "ring", 10, momentum=0.5)


def test_complex_gradients_are_refused() -> None:
    with pytest.raises(TypeError, match="complex128"):
        ow.run(
            ow.Problem(lambda x, a, d: x * 1j, dim=2, agents=3), "ring", "push-pull", step=0.1, iterations=2
        )
