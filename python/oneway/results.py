"""What came of runs: curves as arrays, final values, figures, pages."""

from __future__ import annotations

import html
import math
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from oneway import _native
from oneway._command import command, flags
from oneway._drawing import QUANTITIES, Axis, Band, curves, picture, sparkline, strokes_of

if TYPE_CHECKING:  # `import oneway` is quick, and NumPy is not
    import numpy as np

__all__ = ["Result", "Tuned"]


class Result:
    """What came of a run.

    Examples
    --------
    >>> import oneway as ow
    >>> problem = ow.problems.quadratic(dim=3)
    >>> result = ow.run(problem, "ring", "smtpp", agents=4, step=0.1, iterations=50, repetitions=2)
    >>> result.curves["loss"].shape  # states 0, 10, …, 50 of two repetitions
    (12,)
    >>> len(result.state_hash)
    2
    """

    def __init__(self, native: _native.RunResult) -> None:
        self._native = native
        self._cells = native.cells()

    @property
    def cells(self) -> list[dict[str, Any]]:
        """Each run: ``topology``, ``method``, ``repetition``, ``status``, ``rounds``, ``state_hash``,
        ``columns``.
        """
        return self._cells

    @property
    def curves(self) -> dict[str, np.ndarray]:
        """The columns of ``curves.csv``: a number for each recorded state of each run. What a method does not
        have is NaN.
        """
        import numpy as np

        names = list(dict.fromkeys(name for cell in self._cells for name in cell["columns"]))
        swept = list(dict.fromkeys(name for cell in self._cells for name, _ in cell["swept"]))
        columns: dict[str, list[Any]] = {
            name: [] for name in ("topology", "method", "repetition", *names, *swept)
        }
        for cell in self._cells:
            points = len(cell["columns"]["iteration"])
            for place in ("topology", "method", "repetition"):
                columns[place].append(np.full(points, cell[place]))
            for name in names:
                columns[name].append(cell["columns"].get(name, np.full(points, np.nan)))
            chosen = dict(cell["swept"])
            for name in swept:
                columns[name].append(np.full(points, chosen.get(name, "")))
        return {name: np.concatenate(parts) if parts else np.array([]) for name, parts in columns.items()}

    def curve(
        self, method: str | None = None, topology: str | None = None, repetition: int = 0
    ) -> dict[str, np.ndarray]:
        """The columns of one run."""
        columns: dict[str, np.ndarray] = self._cell(method, topology, repetition)["columns"]
        return columns

    @property
    def x(self) -> np.ndarray | dict[tuple[str, str, int], np.ndarray]:
        """x̄ at the end: of the one run, or of each (topology, method, repetition).

        Runs that a folder had already (``out=``) do not have it.
        """
        found: dict[tuple[str, str, int], np.ndarray] = {
            _place(cell): cell["x"] for cell in self._cells if "x" in cell
        }
        if self._cells and not found:
            raise ValueError("runs that were kept in a folder do not say where they ended: use fresh=True")
        return next(iter(found.values())) if len(self._cells) == 1 else found

    def estimates(
        self, method: str | None = None, topology: str | None = None, repetition: int = 0
    ) -> np.ndarray:
        """The agents' own estimates x_i at the end of one run: shape (agents, d)."""
        cell = self._cell(method, topology, repetition)
        if "estimates" not in cell:
            raise ValueError("runs that were kept in a folder do not say where they ended: use fresh=True")
        estimates: np.ndarray = cell["estimates"]
        return estimates

    @property
    def state_hash(self) -> str | dict[tuple[str, str, int], str]:
        """SHA-256 of all agents' final states: of the one run, or of each (topology, method, repetition)."""
        hashes: dict[tuple[str, str, int], str] = {_place(cell): cell["state_hash"] for cell in self._cells}
        return next(iter(hashes.values())) if len(hashes) == 1 else hashes

    @property
    def final(self) -> list[dict[str, Any]]:
        """The last measured state of each method on each topology.

        Means over the repetitions that came to their end or were stopped, and standard errors.
        """
        rows = []
        for (topology, method), cells in self._groups().items():
            done = [
                cell
                for cell in cells
                if cell["status"] in ("completed", "starved", "stopped") and cell["rounds"]
            ]
            statuses = list(dict.fromkeys(cell["status"] for cell in cells))
            row: dict[str, Any] = {
                "topology": topology,
                "method": method,
                "status": statuses[0] if len(statuses) == 1 else ", ".join(statuses),
                "repetitions": len(done),
            }
            for name in QUANTITIES:
                values = [float(cell["columns"][name][-1]) for cell in done if name in cell["columns"]]
                if values and not all(math.isnan(value) for value in values):
                    row[name], row[f"{name}_stderr"] = _mean(values)
            rows.append(row)
        return rows

    def _cell(self, method: str | None, topology: str | None, repetition: int) -> dict[str, Any]:
        found = [
            cell
            for cell in self._cells
            if cell["repetition"] == repetition
            and (method is None or cell["method"] == method)
            and (topology is None or cell["topology"] == topology)
        ]
        if len(found) != 1:
            known = ", ".join(sorted({f"{cell['method']} on {cell['topology']}" for cell in self._cells}))
            what = f"method={method!r}, topology={topology!r}, repetition={repetition}"
            raise KeyError(f"{what}: {len(found)} runs have this name; there are {known}")
        return found[0]

    def _groups(self) -> dict[tuple[str, str], list[dict[str, Any]]]:
        groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for cell in self._cells:
            groups.setdefault((cell["topology"], cell["method"]), []).append(cell)
        return groups

    def to_pandas(self) -> Any:
        """The curves as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(self.curves)

    def to_polars(self) -> Any:
        """The curves as a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame(self.curves)

    def to_arrow(self) -> Any:
        """The curves as a ``pyarrow.Table``."""
        import pyarrow

        return pyarrow.table(self.curves)

    def to_csv(self) -> str:
        """What ``curves.csv`` of the command line has, to the last byte."""
        return self._native.csv()

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write ``curves.csv`` and ``summary.json`` into a folder, as ``oneway run`` does."""
        return Path(self._native.save(Path(folder)))

    def report(self, folder: str | os.PathLike[str], *, all: bool = False) -> Path:
        """Save into a folder, draw figures there, and write a page about it; return the page."""
        return Path(_native.report(self.save(folder), all))

    def figures(self, folder: str | os.PathLike[str], **choices: Any) -> list[Path]:
        """Draw figures for a paper into a folder, as ``oneway plot`` does; return the files, captions among
        them.

        Keyword arguments are the flags of that command: ``preset="ieee"``, ``y=["loss", "gradient"]``,
        ``x="bytes"``, ``band="se"``, ``size="8x5"``, ``methods=[…]``, ``format=["pdf", "pgf"]``,
        ``no_title=True``.

        Examples
        --------
        >>> import oneway as ow, tempfile
        >>> result = ow.run(ow.problems.quadratic(dim=3), "ring", "smtpp", agents=4, step=0.1, iterations=50)
        >>> [path.suffix for path in result.figures(tempfile.mkdtemp(), y="loss", format="svg")]
        ['.txt', '.svg']
        """
        with tempfile.TemporaryDirectory() as results, tempfile.TemporaryDirectory() as drawn:
            command(["plot", str(self.save(results)), f"--out={drawn}", *flags(choices)])
            Path(folder).mkdir(parents=True, exist_ok=True)
            return [Path(shutil.copy(path, folder)) for path in sorted(Path(drawn).iterdir())]

    def table(self, **choices: Any) -> str:
        """Final values ± standard errors as text, Markdown, LaTeX or CSV, as ``oneway table`` writes them.

        Keyword arguments are the flags of that command: ``y="loss"``, ``format="latex"``, ``last=5``,
        ``methods=[…]``.
        """
        with tempfile.TemporaryDirectory() as results:
            return command(["table", str(self.save(results)), *flags(choices)])

    def plot(
        self,
        quantity: str = "loss",
        *,
        x: Axis = "iteration",
        topology: str | None = None,
        methods: Sequence[str] | None = None,
        ax: Any = None,
        band: Band = True,
    ) -> Any:
        """Draw the mean over repetitions, with a band: by default from the least to the largest.

        ``"se"`` is the mean ± its standard error, ``"quantiles"`` reaches from the lower to the upper
        quartile. Colours and dashes are those of our figures; :meth:`figures` draws those themselves.

        Returns the ``matplotlib`` axes.
        """
        return curves(self._groups(), quantity, x=x, topology=topology, methods=methods, ax=ax, band=band)

    def __repr__(self) -> str:
        rows = [("topology", "method", "loss", "‖∇F(x̄)‖²", "status")]
        for row in self.final:
            rows.append(
                (
                    row["topology"],
                    row["method"],
                    _shown(row, "loss"),
                    _shown(row, "grad_norm_sq"),
                    row["status"],
                )
            )
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = (
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(
            f"<th>{name}</th>" for name in ("topology", "method", "loss", "‖∇F(x̄)‖²", "", "status")
        )
        body = ""
        groups = self._groups()
        strokes = strokes_of(method for _, method in groups)
        for row in self.final:
            cells = groups[row["topology"], row["method"]]
            line = sparkline(cells[0]["columns"], strokes[row["method"]])
            texts = (row["topology"], row["method"], _shown(row, "loss"), _shown(row, "grad_norm_sq"))
            body += "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in texts)
            body += f"<td>{line}</td><td>{html.escape(row['status'])}</td></tr>"
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{picture(groups, strokes)}"


def _place(cell: dict[str, Any]) -> tuple[str, str, int]:
    return cell["topology"], cell["method"], cell["repetition"]


def _mean(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error."""
    n = len(values)
    mean = sum(values) / n
    spread = math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1)) if n > 1 else math.nan
    return mean, spread / math.sqrt(n)


def _shown(row: dict[str, Any], name: str) -> str:
    if name not in row:
        return "–"
    error = row[f"{name}_stderr"]
    return f"{row[name]:.4g}" if math.isnan(error) else f"{row[name]:.4g} ± {error:.1g}"


@dataclass(frozen=True)
class Tuned:
    """What tuning has found: the best of each method on each topology, and all trials."""

    best: list[dict[str, Any]]
    """``topology``, ``method``, ``step``, ``parameter`` and ``value`` (where there is one besides),
    ``score``, ``edge`` (whether it is at the end of what was tried)."""
    trials: list[dict[str, Any]] = field(repr=False)
    """All that was run."""
    toml: list[str] = field(repr=False)
    """The experiment on each topology with the values found, as a file would have it."""
    comparison: str = field(repr=False)
    """The tuned methods side by side on samples that tuning has not seen, as CSV."""
