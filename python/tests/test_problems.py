"""Problems that a user defines, and ready ones on arrays."""

from __future__ import annotations

import gc
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import oneway as ow

AGENTS, ROWS, FEATURES, ALPHA = 5, 40, 7, 0.01
RANDOM = np.random.default_rng(3)
X = RANDOM.normal(size=(AGENTS * ROWS, FEATURES)) * (RANDOM.random((AGENTS * ROWS, FEATURES)) < 0.5)
Y = np.where(X @ np.arange(FEATURES) + RANDOM.normal(size=len(X)) > 0, 1.0, -1.0)
SHARES, LABELS = X.reshape(AGENTS, ROWS, FEATURES), Y.reshape(AGENTS, ROWS)


def logistic_loss(x: np.ndarray, agents: np.ndarray) -> np.ndarray:
    margins = LABELS[agents] * np.einsum("arf,af->ar", SHARES[agents], x)
    return np.logaddexp(0, -margins).mean(axis=1) + ALPHA * (x**2 / (1 + x**2)).sum(axis=1)


def logistic_gradient(x: np.ndarray, agents: np.ndarray, draws: ow.Draws | None) -> np.ndarray:
    if draws is None:
        rows, labels = SHARES[agents], LABELS[agents]
    else:
        drawn = draws.integers(ROWS)
        rows = np.take_along_axis(SHARES[agents], drawn[:, :, None], axis=1)
        labels = np.take_along_axis(LABELS[agents], drawn, axis=1)
    margins = labels * np.einsum("arf,af->ar", rows, x)
    weights = -labels / (1 + np.exp(margins)) / labels.shape[1]
    return np.einsum("ar,arf->af", weights, rows) + 2 * ALPHA * x / (1 + x**2) ** 2


def own_logistic() -> ow.Problem:
    return ow.Problem(logistic_gradient, dim=FEATURES, agents=AGENTS, loss=logistic_loss)


@pytest.mark.parametrize("method", ["smtpp", "push-pull", "sgp", "storm-tracking"])
def test_a_numpy_gradient_follows_the_curve_of_the_problem_in_rust(method: str) -> None:
    asked = {"step": 0.05, "iterations": 300, "seed": 4, "measure": ["agents_grad_norm_sq"]}
    own = ow.run(own_logistic(), "exponential", method, **asked).curve()
    rust = ow.run(
        ow.problems.logistic(X, Y, alpha=ALPHA), "exponential", method, agents=AGENTS, **asked
    ).curve()
    assert own.keys() == rust.keys()
    for name in own:
        np.testing.assert_allclose(own[name], rust[name], rtol=1e-12, atol=1e-14, err_msg=name)


def test_rows_of_data_may_be_dense_sparse_or_of_other_types() -> None:
    def run(x: object, y: object) -> object:
        return ow.run(
            ow.problems.logistic(x, y), "ring", "smtpp", agents=5, step=0.1, iterations=30
        ).state_hash

    dense = run(X, Y)
    assert dense == run(scipy.sparse.csr_array(X), Y)
    assert dense == run(scipy.sparse.coo_array(X), Y > 0)
    assert dense == run(np.asfortranarray(X), (Y > 0).astype(int) + 1)
    assert dense != run(X.astype("float32"), Y)


@pytest.mark.parametrize(
    "make", [ow.problems.least_squares, ow.problems.robust, ow.problems.softmax, ow.problems.two_layer]
)
def test_ready_problems_run_on_arrays(make: object) -> None:
    targets = (
        X @ np.ones(FEATURES)
        if make in (ow.problems.least_squares, ow.problems.robust)
        else np.digitize(X[:, 0], [-0.3, 0.3])
    )
    result = ow.run(make(X, targets, batch=4), "ring", "push-pull", agents=5, step=0.01, iterations=200)
    curve = result.curve()
    assert curve["loss"][-1] < curve["loss"][0]


@pytest.mark.parametrize("make", [ow.problems.logistic, ow.problems.least_squares])
def test_rows_may_be_drawn_without_replacement(make: object) -> None:
    def last(**keys: object) -> float:
        asked = {"agents": AGENTS, "step": 0.05, "iterations": ROWS, "seed": 2}
        return ow.run(make(X, Y, **keys), "ring", "sgp", **asked).curve()["loss"][-1]

    drawn, in_passes = last(), last(sampling="without-replacement")
    assert drawn == last(sampling="with-replacement") != in_passes
    whole = last(batch=ROWS, sampling="without-replacement")
    np.testing.assert_allclose(whole, last(batch="full"), rtol=1e-12)
    with pytest.raises(ValueError, match="nothing is drawn"):
        last(batch="full", sampling="without-replacement")


def test_what_is_held_out_is_classified() -> None:
    problem = ow.problems.logistic(X[:160], Y[:160], test=(X[160:], Y[160:]))
    result = ow.run(problem, "ring", "smtpp", agents=4, step=0.2, iterations=400)
    assert result.curve()["test_accuracy"][-1] > 0.7


def test_an_exception_comes_through_with_its_traceback_and_what_was_recorded() -> None:
    def broken(x: np.ndarray, agents: np.ndarray, draws: object) -> np.ndarray:
        broken.calls += 1
        if broken.calls > 50:
            raise ZeroDivisionError("in the user's own code")
        return x

    broken.calls = 0
    with pytest.raises(ZeroDivisionError, match="the user's own code") as caught:
        ow.run(
            ow.Problem(broken, dim=2, agents=3, start=[1, 1]),
            "ring",
            "push-pull",
            step=0.1,
            iterations=500,
            record_every=5,
        )
    assert any(
        "def broken" in line or "in broken" in line
        for line in traceback.format_tb(caught.value.__traceback__)
    )
    recorded = caught.value.result
    assert recorded.cells[0]["status"] == "failed"
    assert (
        recorded.cells[0]["reason"].startswith("ZeroDivisionError")
        or "user's own code" in recorded.cells[0]["reason"]
    )
    assert len(recorded.curves["iteration"]) >= 2


def test_a_loss_that_raises_ends_the_run_too() -> None:
    def loss(x: np.ndarray, agents: np.ndarray) -> np.ndarray:
        raise RuntimeError("no loss")

    with pytest.raises(RuntimeError, match="no loss"):
        ow.run(
            ow.Problem(lambda x, a, d: x, dim=2, agents=3, loss=loss),
            "ring",
            "push-pull",
            step=0.1,
            iterations=5,
        )


def test_without_a_loss_the_rest_is_measured() -> None:
    result = ow.run(
        ow.Problem(lambda x, a, d: x - 1, dim=2, agents=3), "ring", "push-pull", step=0.1, iterations=200
    )
    assert result.cells[0]["status"] == "completed"
    assert np.isnan(result.curves["loss"]).all()
    assert result.curves["grad_norm_sq"][-1] < 1e-6


@pytest.mark.parametrize(
    ("returned", "error", "message"),
    [
        (lambda x: None, TypeError, r"gradient has returned None: an array of shape \(3, 2\)"),
        (lambda x: x[:2], ValueError, r"gradient has returned shape \(2, 2\), and \(3, 2\) is asked for"),
        (lambda x: x.ravel(), ValueError, r"gradient has returned shape \(6,\), and \(3, 2\)"),
        (lambda x: "text", TypeError, "no array of numbers"),
        (lambda x: object(), TypeError, "no array of numbers"),
    ],
)
def test_what_a_gradient_returns_is_checked(returned: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ow.run(
            ow.Problem(lambda x, a, d: returned(x), dim=2, agents=3),
            "ring",
            "push-pull",
            step=0.1,
            iterations=5,
        )


def test_other_numbers_and_layouts_are_taken() -> None:
    def hashed(returned: object) -> object:
        problem = ow.Problem(lambda x, a, d: returned(x), dim=2, agents=3, start=[1.5, -2.0])
        return ow.run(problem, "ring", "push-pull", step=0.1, iterations=50).state_hash

    plain = hashed(lambda x: x.copy())
    assert plain == hashed(lambda x: x) == hashed(np.asfortranarray) == hashed(lambda x: x.tolist())
    assert plain != hashed(lambda x: x.astype("float32") * np.float32(0.5))


def test_nan_is_a_divergence_and_no_error() -> None:
    result = ow.run(
        ow.Problem(lambda x, a, d: x * np.nan, dim=2, agents=3, start=[1, 1]),
        "ring",
        "push-pull",
        step=0.1,
        iterations=50,
    )
    assert result.cells[0]["status"] == "diverged"


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"gradient": 3}, TypeError, "gradient must be a function, not a int"),
        ({"loss": "x"}, TypeError, "loss must be a function"),
        ({"dim": 0}, ValueError, "both must be 1 or more"),
        ({"start": [1.0]}, ValueError, "start has 1 numbers, and dim=2"),
        ({"framework": "tensorflow"}, ValueError, 'give one of "numpy", "torch", "jax"'),
        ({"dim": -1}, OverflowError, "."),
    ],
)
def test_problems_that_cannot_be(given: dict[str, object], error: type[Exception], message: str) -> None:
    settings = {"gradient": lambda x, a, d: x, "dim": 2, "agents": 3, **given}
    with pytest.raises(error, match=message):
        ow.Problem(**settings)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (X, Y[:-1], "200 rows, and y has 199 labels"),
        (X[0], Y, "must have a row for each label"),
        (X, X, "one number for each row"),
        (X * np.nan, Y, "not finite"),
        (X, Y * 3, "labels must be -1 and"),
        (X[:0], Y[:0], "at least one"),
    ],
)
def test_rows_that_cannot_be(rows: object, labels: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ow.problems.logistic(rows, labels)


def test_the_number_of_agents_must_fit() -> None:
    with pytest.raises(ValueError, match=r"it is for 3 agents, and `run\.agents` = 4"):
        ow.run(
            ow.Problem(lambda x, a, d: x, dim=2, agents=3),
            "ring",
            "push-pull",
            agents=4,
            step=0.1,
            iterations=5,
        )


def test_points_are_not_copied_where_they_are_many_and_stay_as_they_were() -> None:
    n, d = 4, 250_001
    kept: list[tuple[np.ndarray, float]] = []

    def gradient(x: np.ndarray, agents: np.ndarray, draws: object) -> np.ndarray:
        assert not x.flags.writeable
        assert not x.flags.owndata
        if draws is not None and len(kept) < 3:
            kept.append((x, float(x[0, 0])))
        return x - 1.0

    ow.run(ow.Problem(gradient, dim=d, agents=n), "ring", "push-pull", step=0.1, iterations=6, record_every=6)
    gc.collect()
    assert len({value for _, value in kept}) > 1
    for x, value in kept:  # whoever keeps an array keeps its numbers
        assert (x[:, 0] == x[0, 0]).all()
        assert x[0, 0] == value


def test_draws_are_functions_of_seed_agent_and_round() -> None:
    def seen(seed: int) -> list[list[float]]:
        drawn = []

        def gradient(x: np.ndarray, agents: np.ndarray, draws: ow.Draws | None) -> np.ndarray:
            if draws is not None:
                assert len(draws) == len(agents) == 3
                assert draws.integers(10, size=2).shape == (3, 2)
                drawn.append(draws.normal(size=4).tolist() + draws.uniform().tolist() + draws.bits().tolist())
            return x

        ow.run(ow.Problem(gradient, dim=1, agents=3), "ring", "push-pull", step=0.1, iterations=5, seed=seed)
        return drawn

    assert seen(1) == seen(1) != seen(2)
    with pytest.raises(ValueError, match="high=0 must be 1 or more"):
        ow.run(
            ow.Problem(lambda x, a, d: d.integers(0) if d else x, dim=1, agents=3),
            "ring",
            "push-pull",
            step=0.1,
            iterations=1,
        )


def test_nothing_is_left_behind() -> None:
    problem = ow.Problem(lambda x, a, d: x, dim=1, agents=3)
    before = sys.getrefcount(problem)
    for _ in range(3):
        ow.run(problem, "ring", "push-pull", step=0.1, iterations=10)
    assert sys.getrefcount(problem) == before


def test_files_are_read_as_arrays_are(tmp_path: Path) -> None:
    """A table, an NPZ file and arrays give one trajectory; rows are split and scaled alike."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(60, 3))
    labels = np.where(rows[:, 0] + 0.1 * rng.normal(size=60) > 0, 1.0, -1.0)
    table = np.column_stack([rows, labels])
    np.savetxt(tmp_path / "rows.csv", table, fmt="%.17g", delimiter=",", header="a,b,c,kind", comments="")
    np.save(tmp_path / "rows.npy", np.asfortranarray(table))
    np.savez_compressed(tmp_path / "rows.npz", X=rows, y=labels.astype("int8"))
    shared: dict[str, Any] = {"split": 0.25, "scaling": "standardise"}
    problems = [
        ow.problems.logistic(rows, labels, **shared),
        ow.problems.logistic(dataset=str(tmp_path / "rows.csv"), label="kind", **shared),
        ow.problems.logistic(dataset=str(tmp_path / "rows.npy"), label=4, **shared),
        ow.problems.logistic(dataset=str(tmp_path / "rows.npz"), **shared),
    ]
    results = [ow.run(p, "ring", "smtpp", agents=3, step=0.1, iterations=50) for p in problems]
    assert len({result.cells[0]["state_hash"] for result in results}) == 1
    assert all(result.curve("smtpp")["test_accuracy"][-1] > 0.5 for result in results)
    misspelt = ow.problems.logistic(rows, labels, splitt=0.5)
    with pytest.raises(ValueError, match="unknown key `splitt`"):
        ow.run(misspelt, "ring", "smtpp", agents=3, step=0.1, iterations=1)
