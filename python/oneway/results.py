"""What came of runs: curves as arrays, final values, figures, pages."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from oneway import _native

if TYPE_CHECKING:
    import os

    import numpy as np

__all__ = ["Result", "Tuned"]

QUANTITIES = {
    "loss": "F(x̄)",
    "grad_norm_sq": "‖∇F(x̄)‖²",
    "consensus_error": "consensus error",
    "tracking_error": "tracking error",
    "momentum_error": "momentum error",
    "conservation_error": "conservation error",
    "test_accuracy": "test accuracy",
    "loss_gap": "F(x̄) − F*",
    "agents_grad_norm_sq": "mean of ‖∇F(x_i)‖²",
}
AXES = {"iteration": "iteration", "bytes_sent": "bytes sent", "time": "virtual time"}


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

    def plot(
        self,
        quantity: str = "loss",
        *,
        x: Literal["iteration", "bytes_sent", "time"] = "iteration",
        topology: str | None = None,
        methods: Sequence[str] | None = None,
        ax: Any = None,
        band: bool = True,
    ) -> Any:
        """Draw the mean over repetitions, with a band from the least to the largest.

        Colours and dashes are those of our figures.

        Returns the ``matplotlib`` axes.
        """
        import matplotlib.pyplot as plt
        import numpy as np

        if quantity not in QUANTITIES:
            raise ValueError(f"quantity={quantity!r}: give one of {', '.join(QUANTITIES)}")
        topologies = list(dict.fromkeys(cell["topology"] for cell in self._cells))
        if topology is None:
            if len(topologies) != 1:
                raise ValueError(
                    f"there are several topologies: give one of {', '.join(topologies)} as topology="
                )
            topology = topologies[0]
        groups = {method: cells for (where, method), cells in self._groups().items() if where == topology}
        shown = list(groups) if methods is None else list(methods)
        unknown = [name for name in shown if name not in groups]
        if unknown:
            raise ValueError(f"there is no {unknown[0]!r} on {topology!r}: give some of {', '.join(groups)}")
        measured = [cell["columns"] for cell in self._cells]
        have = [
            name for name in QUANTITIES if any(not np.isnan(run.get(name, np.nan)).all() for run in measured)
        ]
        if quantity not in have:
            raise ValueError(f"nothing here has {quantity!r}: there are {', '.join(have)}")
        ax = plt.gca() if ax is None else ax
        styles = dict(zip(groups, _native.styles(list(groups)), strict=True))
        for method in shown:
            runs = [
                cell["columns"]
                for cell in groups[method]
                if quantity in cell["columns"] and x in cell["columns"]
            ]
            runs = [run for run in runs if len(run[x]) and not np.isnan(run[quantity]).all()]
            if not runs:
                continue
            length = min(len(run[x]) for run in runs)
            values = np.array([run[quantity][:length] for run in runs])
            colour, dash = styles[method]
            line = "-" if dash is None else (0, tuple(float(part) for part in dash.split()))
            axis = runs[0][x][:length]
            ax.plot(axis, values.mean(axis=0), color=colour, linestyle=line, linewidth=1.6, label=method)
            if band and len(runs) > 1:
                ax.fill_between(
                    axis, values.min(axis=0), values.max(axis=0), color=colour, alpha=0.15, linewidth=0
                )
        ax.set_xlabel(AXES[x])
        ax.set_ylabel(QUANTITIES[quantity])
        if quantity != "test_accuracy":
            ax.set_yscale("log")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="#e4e4e4", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.legend(frameon=False)
        return ax

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
        strokes = _strokes(method for _, method in groups)
        for row in self.final:
            cells = groups[row["topology"], row["method"]]
            line = _sparkline(cells[0]["columns"], strokes[row["method"]])
            texts = (row["topology"], row["method"], _shown(row, "loss"), _shown(row, "grad_norm_sq"))
            body += "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in texts)
            body += f"<td>{line}</td><td>{html.escape(row['status'])}</td></tr>"
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{_picture(groups, strokes)}"
        )


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


def _strokes(methods: Iterable[str]) -> dict[str, str]:
    """How the line of each method is drawn, as attributes of an SVG."""
    names = list(dict.fromkeys(methods))
    return {
        name: f'fill="none" stroke="{colour}" stroke-width="1.6"'
        + (f' stroke-dasharray="{dash}"' if dash else "")
        for name, (colour, dash) in zip(names, _native.styles(names), strict=True)
    }


def _points(
    columns: dict[str, Any], box: tuple[float, float, float, float], span: tuple[float, float, float, float]
) -> str:
    """The gradient norm over iterations, on a logarithmic scale, as points of an SVG."""
    left, top, width, height = box
    first, last, low, high = span
    points = []
    for k, value in zip(columns["iteration"], columns["grad_norm_sq"], strict=True):
        if value > 0 and math.isfinite(value):
            x = left + width * (float(k) - first) / max(last - first, 1)
            y = top + height * (high - math.log10(value)) / max(high - low, 1e-9)
            points.append(f"{x:.1f},{y:.1f}")
    return " ".join(points)


def _span(curves: Iterable[dict[str, Any]]) -> tuple[float, float, float, float] | None:
    curves = list(curves)
    values = [math.log10(v) for c in curves for v in c["grad_norm_sq"] if v > 0 and math.isfinite(v)]
    iterations = [float(k) for c in curves for k in c["iteration"]]
    return (min(iterations), max(iterations), min(values), max(values)) if values else None


def _sparkline(columns: dict[str, Any], stroke: str) -> str:
    span = _span([columns])
    if span is None:
        return ""
    points = _points(columns, (1, 2, 78, 16), span)
    line = f'<polyline points="{points}" {stroke}/>'
    return f'<svg width="80" height="20">{line}</svg>'


def _picture(groups: dict[tuple[str, str], list[dict[str, Any]]], strokes: dict[str, str]) -> str:
    """‖∇F(x̄)‖² of the first repetition of each, over iterations."""
    span = _span(cells[0]["columns"] for cells in groups.values())
    if span is None:
        return ""
    lines = "".join(
        f'<polyline points="{_points(cells[0]["columns"], (50, 8, 420, 150), span)}" {strokes[method]}>'
        f"<title>{html.escape(f'{method} on {topology}')}</title></polyline>"
        for (topology, method), cells in groups.items()
    )
    text = 'font-size="11" fill="currentColor"'
    return (
        f'<svg width="480" height="190" role="img" aria-label="squared gradient norm over iterations">{lines}'
        f'<text x="46" y="14" text-anchor="end" {text}>{10 ** span[3]:.1e}</text>'
        f'<text x="46" y="158" text-anchor="end" {text}>{10 ** span[2]:.1e}</text>'
        f'<text x="50" y="176" {text}>{span[0]:.0f}</text>'
        f'<text x="470" y="176" text-anchor="end" {text}>{span[1]:.0f}</text>'
        f'<text x="260" y="186" text-anchor="middle" {text}>iteration · ‖∇F(x̄)‖²</text></svg>'
    )


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
