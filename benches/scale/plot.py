"""Draws docs/images/scale.svg from out/bench-scale.csv: what a round costs from 20 agents to a million, and the least that
this machine would allow. Run by `just bench-scale`; another file's name as the argument draws to there."""

import csv
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, NullFormatter

ROOT = Path(__file__).resolve().parents[2]
INK, MUTED, GRID, ROOF, ROOF_2 = "#1a1a1a", "#5c5c5c", "#e4e4e4", "#c9c9c9", "#e6e6e6"
# the report's colours: one thread, and two
FAMILIES = {"ring": ("#0072b2", "#4095cb"), "exponential": ("#d55e00", "#d77830"), "k-out": ("#009e73", "#2f9f7c")}
NAMES = {"ring": "Ring", "exponential": "Exponential graph", "k-out": "4-out graph"}
LINKS = {"ring": "1 link each", "exponential": "log₂ n links each", "k-out": "4 random links each"}
DIMENSIONS = (10, 123)


def lines():
    """(d, family, threads) → [(n, nanoseconds, least nanoseconds, bytes touched)], n ascending."""
    found = defaultdict(dict)
    with open(ROOT / "out" / "bench-scale.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["problem"] != "quadratic":
                continue
            d, n = int(row["d"]), int(row["n"])
            touched = sum(float(row[f"{part}_bytes"]) for part in ("matrices", "topology", "problem"))
            times = (float(row[column]) / (n * d) * 1e9 for column in ("round_s", "roofline_s"))
            found[d, row["family"], int(row["threads"])][n] = (n, *times, touched)  # of an appended case, the last
    return {key: sorted(values.values()) for key, values in found.items()}


def caches():
    """Bytes of the second- and third-level cache, where the system tells."""
    for level in (2, 3):
        size = Path(f"/sys/devices/system/cpu/cpu0/cache/index{level}/size")
        if size.exists():
            yield f"L{level}", int(size.read_text().strip().removesuffix("K")) * 1024


def agents_that_fill(size, points):
    """Where the bytes that a round touches outgrow `size`; they grow nearly as n does."""
    n, *_, touched = max((point for point in points if point[-1] <= size), default=points[0])
    return n * size / touched


def count(value, _):
    return f"{value / 1e6:g} M" if value >= 1e6 else f"{value / 1e3:g} k" if value >= 1e3 else f"{value:g}"


def panel(axes, d, family, found):
    colours = FAMILIES[family]
    one, two = found[d, family, 1], found[d, family, 2]
    agents = [point[0] for point in one]
    for points, colour in ((one, ROOF_2), (two, ROOF)):
        axes.fill_between(agents, 1e-3, [point[2] for point in points], color=colour, linewidth=0)
    for points, colour, style, marker in ((one, colours[0], "-", "o"), (two, colours[1], (0, (3, 1.6)), "s")):
        times = [point[1] for point in points]
        axes.plot(agents, times, color=colour, linestyle=style, linewidth=1.8, marker=marker, markersize=4)
    last = agents[-1]
    for points, text, colour in ((one, "1 thread", colours[0]), (two, "2 threads", colours[1])):
        place = (last, points[-1][1])
        axes.annotate(text, place, (7, 0), textcoords="offset points", color=colour, va="center")
    for name, size in caches():
        at = agents_that_fill(size, one)
        axes.axvline(at, color=MUTED, linewidth=0.7, linestyle=(0, (1, 3)), zorder=0.5)
        axes.annotate(name, (at, 0.985), (3, 0), xycoords=("data", "axes fraction"), textcoords="offset points",
                      color=MUTED, fontsize=8, va="top")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(14, 1.5e6)
    axes.set_ylim(0.25, 60)


def draw(found):
    plt.rcParams |= {"font.size": 9, "font.family": "DejaVu Sans", "svg.fonttype": "path", "svg.hashsalt": "scale",
                     "text.color": INK, "axes.edgecolor": MUTED, "xtick.color": MUTED, "ytick.color": MUTED}
    figure, grid = plt.subplots(2, 3, figsize=(10.4, 6.5), sharex=True, sharey=True)
    figure.subplots_adjust(left=0.065, right=0.925, top=0.845, bottom=0.085, wspace=0.27, hspace=0.13)
    for row, d in zip(grid, DIMENSIONS):
        for axes, family in zip(row, FAMILIES):
            panel(axes, d, family, found)
            axes.grid(axis="y", color=GRID, linewidth=0.6)
            axes.set_axisbelow(True)
            axes.spines[["top", "right"]].set_visible(False)
            axes.tick_params(which="both", length=0)
            axes.xaxis.set_major_formatter(FuncFormatter(count))
            axes.set_yticks([0.5, 1, 2, 5, 10, 20, 50], labels=["0.5", "1", "2", "5", "10", "20", "50"])
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.yaxis.set_minor_formatter(NullFormatter())
        for axes in row:
            axes.text(0.03, 0.89, f"d = {d}", transform=axes.transAxes, fontweight="bold", va="top",
                      bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5})
    for axes, family in zip(grid[0], FAMILIES):
        axes.set_title(NAMES[family], loc="left", color=FAMILIES[family][0], fontweight="bold", fontsize=10.5, pad=17)
        axes.text(0, 1.025, LINKS[family], transform=axes.transAxes, color=MUTED, fontsize=8.5)
    for axes in grid[1]:
        axes.set_xlabel("agents", color=MUTED)
    figure.text(0.012, 0.965, "What a round of SMTPP costs, and the least that the machine allows",
                fontsize=13, fontweight="bold", va="center")
    figure.text(0.012, 0.928, "nanoseconds per agent and coordinate; grey is below what bandwidth, gathers and peak allow; "
                "dotted: the data outgrow a cache", color=MUTED, va="center")
    for threads, text in ((1, "limit of 1 thread"), (2, "limit of 2 threads")):
        place = (80, found[10, "exponential", threads][1][2] * 0.9)
        grid[0][1].annotate(text, place, color=MUTED, fontsize=8, va="top")
    return figure


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "scale.svg"
    options = {"metadata": {"Date": None}} if target.suffix == ".svg" else {"dpi": 110}
    draw(lines()).savefig(target, facecolor="white", **options)
