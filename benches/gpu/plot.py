"""Draws docs/images/gpu.svg from benches/gpu/scale.csv: rounds a second of a CPU and of a GPU, and what their memory
allows. The numbers are those of `just gpu scale` (and `cells`), on a machine with an NVIDIA H200 and 16 cores; a
copy reaches 4.3 TB/s on the GPU and 93.5 GB/s on the CPU there. Another file's name as the argument draws to there."""

import csv
import sys
from collections import defaultdict
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parents[2]
INK, MUTED, GRID = "#1a1a1a", "#5c5c5c", "#e4e4e4"
# of each device: name, colour, bytes a second that a copy reads and writes
DEVICES = {"cpu": ("CPU, 16 cores", "#0072b2", 93.5e9), "gpu": ("GPU, one H200", "#d55e00", 4.3e12)}
# Of a coordinate a round reads and writes three numbers and reads the quadratic's centre.
BYTES = 7 * 8


def points():
    """device → [(n·d, rounds a second)], ascending."""
    found = defaultdict(list)
    with open(ROOT / "benches" / "gpu" / "scale.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found[row["device"]].append((int(row["n"]) * int(row["d"]), float(row["rounds_per_second"])))
    return {device: sorted(values) for device, values in found.items()}


def draw(found):
    plt.rcParams |= {"font.size": 9, "font.family": "DejaVu Sans", "svg.fonttype": "path", "svg.hashsalt": "gpu",
                     "text.color": INK, "axes.edgecolor": MUTED, "xtick.color": MUTED, "ytick.color": MUTED}
    figure, axes = plt.subplots(figsize=(7.4, 4.6))
    figure.subplots_adjust(left=0.1, right=0.86, top=0.82, bottom=0.12)
    sizes = [size for size, _ in found["gpu"]]
    for device, (name, colour, bandwidth) in DEVICES.items():
        numbers, rates = zip(*found[device])
        axes.plot(numbers, rates, color=colour, linewidth=1.8, marker="o", markersize=4)
        axes.annotate(name, (numbers[-1], rates[-1]), (7, 0), textcoords="offset points", color=colour, va="center")
        axes.plot(sizes, [bandwidth / (BYTES * size) for size in sizes], color=colour, linewidth=1,
                  linestyle=(0, (4, 3)), alpha=0.7)
    (numbers, rate), = found["cells"]
    axes.plot([numbers], [rate], color=DEVICES["gpu"][1], marker="D", markersize=6, linestyle="none")
    axes.annotate("many runs of 20 agents at once,\nall their rounds (a9a, d = 123)", (numbers, rate), (9, 0),
                  textcoords="offset points", color=DEVICES["gpu"][1], va="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(5, 4e8)
    axes.set_xlabel("numbers in the models, n·d", color=MUTED)
    axes.grid(axis="y", color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(which="both", length=0)
    figure.text(0.02, 0.95, "Rounds of SMTPP a second on a CPU and on a GPU", fontsize=13, fontweight="bold", va="center")
    figure.text(0.02, 0.895, "4-out graphs, d = 10, double precision; dashed: if memory went over every number once",
                color=MUTED, va="center")
    return figure


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "gpu.svg"
    options = {"metadata": {"Date": None}} if target.suffix == ".svg" else {"dpi": 110}
    draw(points()).savefig(target, facecolor="white", **options)
