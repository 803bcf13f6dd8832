"""What a user tries first: several in one list, slips of the keyboard, runs that are stopped."""

from __future__ import annotations

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
