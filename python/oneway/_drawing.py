"""Curves drawn: by matplotlib, and as small pictures for notebooks."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from oneway import _native

if TYPE_CHECKING:  # `import oneway` is quick, and NumPy is not
    import numpy as np

Axis = Literal["iteration", "bytes_sent", "time"]
Band = bool | Literal["minmax", "se", "quantiles", "none"]
Groups = Mapping[tuple[str, str], Sequence[dict[str, Any]]]
"""The runs of each (topology, method)."""

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
    "distance_sq": "‖x̄ − x*‖²",
}


def _quartiles(values: np.ndarray) -> Sequence[np.ndarray]:
    import numpy as np

    return list(np.quantile(values, [0.25, 0.75], axis=0))


BANDS: dict[str, Callable[[np.ndarray], Sequence[np.ndarray]] | None] = {
    "minmax": lambda values: (values.min(axis=0), values.max(axis=0)),
    "se": lambda values: [
        values.mean(axis=0) + side * values.std(axis=0, ddof=1) / math.sqrt(len(values)) for side in (-1, 1)
    ],
    "quantiles": _quartiles,
    "none": None,
}
AXES = {"iteration": "iteration", "bytes_sent": "bytes sent", "time": "virtual time"}


def curves(
    groups: Groups,
    quantity: str,
    *,
    x: Axis,
    topology: str | None,
    methods: Sequence[str] | None,
    ax: Any,
    band: Band,
) -> Any:
    """The mean of each method over repetitions, with a band; see :meth:`oneway.Result.plot`."""
    import matplotlib.pyplot as plt
    import numpy as np

    if quantity not in QUANTITIES:
        raise ValueError(f"quantity={quantity!r}: give one of {', '.join(QUANTITIES)}")
    kind = ("minmax" if band else "none") if isinstance(band, bool) else band
    if kind not in BANDS:
        raise ValueError(f"band={band!r}: give one of {', '.join(BANDS)}")
    ends = BANDS[kind]
    topologies = list(dict.fromkeys(where for where, _ in groups))
    if topology is None:
        if len(topologies) != 1:
            raise ValueError(
                f"there are several topologies: give one of {', '.join(topologies)} as topology="
            )
        topology = topologies[0]
    here = {method: cells for (where, method), cells in groups.items() if where == topology}
    shown = list(here) if methods is None else list(methods)
    unknown = [name for name in shown if name not in here]
    if unknown:
        raise ValueError(f"there is no {unknown[0]!r} on {topology!r}: give some of {', '.join(here)}")
    measured = [cell["columns"] for cells in groups.values() for cell in cells]
    have = [name for name in QUANTITIES if any(not np.isnan(run.get(name, np.nan)).all() for run in measured)]
    if quantity not in have:
        raise ValueError(f"nothing here has {quantity!r}: there are {', '.join(have)}")
    ax = plt.gca() if ax is None else ax
    styles = dict(zip(here, _native.styles(list(here)), strict=True))
    for method in shown:
        runs = [
            cell["columns"] for cell in here[method] if quantity in cell["columns"] and x in cell["columns"]
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
        if ends is not None and len(runs) > 1:
            ax.fill_between(axis, *ends(values), color=colour, alpha=0.15, linewidth=0)
    ax.set_xlabel(AXES[x])
    ax.set_ylabel(QUANTITIES[quantity])
    if quantity != "test_accuracy":
        ax.set_yscale("log")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#e4e4e4", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.legend(frameon=False)
    return ax


def strokes_of(methods: Iterable[str]) -> dict[str, str]:
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


def sparkline(columns: dict[str, Any], stroke: str) -> str:
    """‖∇F(x̄)‖² of a run, as a picture for a line of a table."""
    span = _span([columns])
    if span is None:
        return ""
    points = _points(columns, (1, 2, 78, 16), span)
    line = f'<polyline points="{points}" {stroke}/>'
    return f'<svg width="80" height="20">{line}</svg>'


def picture(groups: Groups, strokes: dict[str, str]) -> str:
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
