"""What is minimised: problems that run in Rust, on data of your own or built in, and problems with gradients
of your own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from oneway import _native
from oneway._frameworks import framework_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    Gradient = Callable[[Any, np.ndarray, _native.Draws | None], Any]
    Loss = Callable[[Any, np.ndarray], Any]

__all__ = [
    "Problem",
    "ReadyProblem",
    "least_squares",
    "logistic",
    "quadratic",
    "robust",
    "softmax",
    "two_layer",
]


@dataclass(frozen=True)
class ReadyProblem:
    """A problem that runs in Rust: the settings of ``[problem]``, and rows in memory."""

    settings: dict[str, Any]
    datasets: dict[str, _native.Dataset] = field(default_factory=dict)


class Problem:
    """A problem with gradients of your own: NumPy, PyTorch, JAX or anything that makes an array.

    Parameters
    ----------
    gradient : callable
        ``gradient(x, agents, draws)`` gets an (m, d) array of points, the numbers of the m agents they belong
        to, and their draws. It returns the (m, d) stochastic gradients, row by row. It is called once a
        round, for all agents. ``draws`` is ``None`` where the full gradient is asked for, which measurements
        need. ``x`` cannot be written to.
    dim : int
        d, the dimension of x.
    agents : int
        n, the number of agents.
    loss : callable, optional
        ``loss(x, agents)`` returns the m losses f_i(x_i). Without it the column ``loss`` is NaN.
    start : array_like, optional
        Where all agents begin: d numbers. The origin, if it is not given.
    smoothness : float, optional
        L, if it is known: every ∇f_i is L-Lipschitz.
    framework : {"numpy", "torch", "jax", "cupy", "dlpack"}, optional
        What ``x`` is. A tensor shares the array's memory. With ``"dlpack"`` it is an object with
        ``__dlpack__``, for any library with ``from_dlpack``.
    device : {"cpu", "cuda"}, optional
        Where ``x`` and ``agents`` are, and the gradients. With ``"cuda"`` the rounds of
        ``run(…, device="cuda")`` lend their own memory on the GPU, in the run's precision, and read the
        gradients where they were made: nothing is copied. Where losses are measured, and in runs on the CPU,
        ``x`` is a copy in double precision, on the GPU again; with ``framework="dlpack"`` a NumPy array, and
        ``agents`` always is.

    Notes
    -----
    ``x`` is lent for one call: keep a copy of it, if anything. Take random numbers from ``draws``
    (:class:`Draws`), and a run is a function of its seed. With a generator of your own it is not reproducible
    by us; say so where you publish it.

    Examples
    --------
    >>> import numpy as np
    >>> import oneway as ow
    >>> centres = np.arange(5.0)[:, None]
    >>> problem = ow.Problem(
    ...     lambda x, agents, draws: x - centres[agents],
    ...     dim=1, agents=5,
    ...     loss=lambda x, agents: 0.5 * ((x - centres[agents]) ** 2).sum(axis=1),
    ... )
    >>> result = ow.run(problem, "ring", "push-pull", step=0.1, iterations=2000)
    >>> bool(abs(result.curve("push-pull")["loss"][-1] - 1.0) < 1e-9)
    True
    """

    def __init__(
        self,
        gradient: Gradient,
        *,
        dim: int,
        agents: int,
        loss: Loss | None = None,
        start: ArrayLike | None = None,
        smoothness: float | None = None,
        framework: Literal["numpy", "torch", "jax", "cupy", "dlpack"] = "numpy",
        device: Literal["cpu", "cuda"] = "cpu",
    ) -> None:
        for name, given in (("gradient", gradient), ("loss", loss)):
            if given is not None and not callable(given):
                raise TypeError(f"{name} must be a function, not a {type(given).__name__}")
        if start is not None:
            import numpy as np

            start = np.asarray(start, dtype="float64").ravel().tolist()
        arrays = framework_of(framework, device)
        self.agents = agents
        self.dim = dim
        self._native = _native.Problem(
            agents,
            dim,
            arrays.on_arrays(gradient),
            arrays.on_arrays(loss) if loss is not None else None,
            start,
            smoothness,
            (device, arrays.on_points(gradient, agents)),
        )

    def __repr__(self) -> str:
        return f"<oneway.Problem of {self.agents} agents in dimension {self.dim}>"


def _dataset(x: Any, y: Any) -> _native.Dataset:
    import numpy as np

    labels = np.ascontiguousarray(y, dtype="float64")
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}: it must have one number for each row of X")
    if hasattr(x, "tocsr"):  # scipy.sparse
        x = x.tocsr()
        if not x.has_sorted_indices or not x.has_canonical_format:
            x = x.copy()
            x.sum_duplicates()
        parts = (x.data.astype("float64"), x.indices.astype("int64"), x.indptr.astype("int64"))
        return _native.Dataset.sparse(x.shape[1], *parts, labels)
    rows = np.ascontiguousarray(x, dtype="float64")
    if rows.ndim != 2:
        raise ValueError(
            f"X has shape {rows.shape}: it must have a row for each label and a column for each feature"
        )
    if len(rows) != len(labels):
        raise ValueError(f"X has {len(rows)} rows, and y has {len(labels)} labels")
    return _native.Dataset.dense(rows, labels)


def _signs(y: Any) -> Any:
    """Labels of two values as −1 and +1."""
    import numpy as np

    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"y has shape {y.shape}: it must have one number for each row of X")
    values = np.unique(y)
    pairs = ([-1, 1], [0, 1], [1, 2])
    if not any(np.isin(values, pair).all() for pair in pairs) or len(values) > 2:
        shown = ", ".join(str(value) for value in values[:5])
        raise ValueError(f"y: labels must be -1 and +1, 0 and 1, or 1 and 2, not {shown}")
    positive = 2 if 2 in values else 1
    return np.where(y == positive, 1.0, -1.0)


def _on_rows(
    kind: str,
    x: Any,
    y: Any,
    dataset: str | None,
    test: tuple[Any, Any] | str | None,
    signs: bool = False,
    **settings: Any,
) -> ReadyProblem:
    datasets: dict[str, _native.Dataset] = {}
    if (dataset is None) == (x is None) or (x is None) != (y is None):
        raise ValueError(
            "give X and y, or the name of a dataset (a9a, digits, or the path of a file), and not both"
        )

    def supplied(name: str, x: Any, y: Any) -> str:
        datasets[name] = _dataset(x, _signs(y) if signs else y)
        return f"supplied:{name}"

    settings["dataset"] = supplied("train", x, y) if dataset is None else dataset
    if test is not None:
        settings["test"] = test if isinstance(test, str) else supplied("test", *test)
    return ReadyProblem({"kind": kind, **settings}, datasets)


def quadratic(
    dim: int,
    *,
    curvature: float | Sequence[float] = 1.0,
    heterogeneity: float = 1.0,
    noise: float = 0.0,
    seed: int | None = None,
) -> ReadyProblem:
    """Quadratics with a known minimiser: f_i(x) = ½(x − b_i)ᵀA(x − b_i).

    Parameters
    ----------
    dim : int
        d.
    curvature : float or (float, float)
        A's eigenvalues: one for all coordinates, or the smallest and the largest.
    heterogeneity : float
        How far the agents' minimisers b_i are apart.
    noise : float
        σ, the standard deviation of gradients.
    """
    both = [float(c) for c in curvature] if isinstance(curvature, Sequence) else float(curvature)
    settings = {
        "dim": dim,
        "curvature": both,
        "heterogeneity": float(heterogeneity),
        "noise": float(noise),
        "seed": seed,
    }
    return ReadyProblem({"kind": "quadratic", **settings})


def logistic(
    X: Any = None,
    y: Any = None,
    *,
    dataset: str | None = None,
    alpha: float = 0.01,
    batch: int | Literal["full"] = 1,
    sampling: Literal["with-replacement", "without-replacement"] = "with-replacement",
    partition: str | dict[str, float] = "even",
    test: tuple[Any, Any] | str | None = None,
    seed: int | None = None,
    **rows: Any,
) -> ReadyProblem:
    """Logistic regression with the paper's non-convex regulariser α Σ x²/(1 + x²).

    Parameters
    ----------
    X, y : array_like or scipy.sparse, array_like
        Rows and labels: −1 and +1, 0 and 1, or 1 and 2.
    dataset : str
        In place of them: ``"a9a"``, or the path of a file: LIBSVM, CSV, NPY, NPZ.
    alpha : float
        α.
    batch : int or "full"
        Rows of a stochastic gradient.
    sampling : {"with-replacement", "without-replacement"}
        Whether a row may come again before all others of its agent have come.
    partition : {"even", "shuffled", "by-label"} or {"dirichlet": float}
        How rows are split over agents.
    test : (array_like, array_like) or str
        Rows held out, for the column ``test_accuracy``.
    **rows
        How a file is laid out (``label``, ``header``, ``separator``, ``drop``, ``array``, ``features``), and
        what becomes of rows before they are shared out (``classes``, ``split``, ``scaling``): keys of
        ``[problem]``.

    Examples
    --------
    >>> import numpy as np
    >>> import oneway as ow
    >>> X = np.random.default_rng(1).normal(size=(200, 3))
    >>> problem = ow.problems.logistic(X, X[:, 0] > 0)
    >>> result = ow.run(problem, "ring", "smtpp", agents=4, step=0.1, iterations=200)
    >>> result.final[0]["status"]
    'completed'
    """
    if y is not None:
        import numpy as np

        y = np.asarray(y).astype("float64")
    shared = {
        "alpha": float(alpha),
        "batch": batch,
        "sampling": sampling,
        "partition": partition,
        "seed": seed,
    }
    return _on_rows("logistic", X, y, dataset, test, signs="classes" not in rows, **shared, **rows)


def softmax(
    X: Any = None,
    y: Any = None,
    *,
    dataset: str | None = None,
    alpha: float = 0.0001,
    regulariser: Literal["ridge", "non-convex"] = "ridge",
    intercept: bool = True,
    batch: int | Literal["full"] = 1,
    sampling: Literal["with-replacement", "without-replacement"] = "with-replacement",
    partition: str | dict[str, float] = "even",
    test: tuple[Any, Any] | str | None = None,
    seed: int | None = None,
    **rows: Any,
) -> ReadyProblem:
    """Softmax regression; labels are the numbers of classes. Parameters as for :func:`logistic`."""
    shared = _shared(alpha, regulariser, intercept, batch, sampling, partition, seed)
    return _on_rows("softmax", X, y, dataset, test, **shared, **rows)


def two_layer(
    X: Any = None,
    y: Any = None,
    *,
    dataset: str | None = None,
    hidden: int = 32,
    alpha: float = 0.0001,
    regulariser: Literal["ridge", "non-convex"] = "ridge",
    intercept: bool = True,
    batch: int | Literal["full"] = 1,
    sampling: Literal["with-replacement", "without-replacement"] = "with-replacement",
    partition: str | dict[str, float] = "even",
    test: tuple[Any, Any] | str | None = None,
    seed: int | None = None,
    **rows: Any,
) -> ReadyProblem:
    """A network with one hidden layer of ``hidden`` units. Other parameters as for :func:`logistic`."""
    shared = _shared(alpha, regulariser, intercept, batch, sampling, partition, seed)
    return _on_rows("two-layer", X, y, dataset, test, hidden=hidden, **shared, **rows)


def least_squares(
    X: Any = None,
    y: Any = None,
    *,
    dataset: str | None = None,
    alpha: float = 0.0001,
    regulariser: Literal["ridge", "non-convex"] = "ridge",
    intercept: bool = False,
    batch: int | Literal["full"] = 1,
    sampling: Literal["with-replacement", "without-replacement"] = "with-replacement",
    partition: str | dict[str, float] = "even",
    seed: int | None = None,
    **rows: Any,
) -> ReadyProblem:
    """Least squares; ``y`` has real targets. Parameters as for :func:`logistic`."""
    shared = _shared(alpha, regulariser, intercept, batch, sampling, partition, seed)
    return _on_rows("least-squares", X, y, dataset, None, **shared, **rows)


def robust(
    X: Any = None,
    y: Any = None,
    *,
    dataset: str | None = None,
    loss: Literal["cauchy", "welsch"] = "cauchy",
    scale: float = 1.0,
    alpha: float = 0.0001,
    regulariser: Literal["ridge", "non-convex"] = "ridge",
    intercept: bool = False,
    batch: int | Literal["full"] = 1,
    sampling: Literal["with-replacement", "without-replacement"] = "with-replacement",
    partition: str | dict[str, float] = "even",
    seed: int | None = None,
    **rows: Any,
) -> ReadyProblem:
    """Regression whose loss forgives outliers beyond ``scale``. Other parameters as for
    :func:`least_squares`.
    """
    shared = _shared(alpha, regulariser, intercept, batch, sampling, partition, seed)
    return _on_rows("robust", X, y, dataset, None, loss=loss, scale=float(scale), **shared, **rows)


def _shared(
    alpha: float,
    regulariser: str,
    intercept: bool,
    batch: Any,
    sampling: str,
    partition: Any,
    seed: int | None,
) -> dict[str, Any]:
    return {
        "alpha": float(alpha),
        "regulariser": regulariser,
        "intercept": intercept,
        "batch": batch,
        "sampling": sampling,
        "partition": partition,
        "seed": seed,
    }
