"""Writes what was measured into docs/neural.md, between `<!-- measured -->` and `<!-- measured: end -->`.

    python benches/neural/table.py [--check]

The figures are those of benches/neural/h200.json, the `all.json` of gpu.py. With `--check` nothing is
written, and the exit code is 1 where the page says something else.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS, PAGE = HERE / "h200.json", HERE.parent.parent / "docs" / "neural.md"
BLOCK = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- measured: end -->)", re.DOTALL)
GRAPHS = {
    "exponential": "exponential",
    "flower": "flower, three petals",
    "ring": "ring",
    "complete": "complete",
}


def trainings(found: dict[str, Any], graph: str) -> dict[str, list[tuple[float, int, dict[str, Any]]]]:
    """All trainings on a graph, by method: step, seed, and what came of it."""
    by_method: dict[str, list[tuple[float, int, dict[str, Any]]]] = {}
    for name, piece in found.items():
        match = re.fullmatch(rf"table-{graph}-(.+?)-([\d.]+)(?:-seed-(\d+))?", name)
        if match:
            entry = (float(match[2]), int(match[3] or 1), piece)
            by_method.setdefault(match[1], []).append(entry)
    return by_method


def chosen(entries: list[tuple[float, int, dict[str, Any]]]) -> tuple[float, list[float], int, bool]:
    """The step that is best on the validation images of the first seed, the test accuracies with it, how many
    steps were tried, and whether the best is the least or the largest of them.
    """
    first = {step: piece["validation"] for step, seed, piece in entries if seed == 1}
    best = max(first, key=lambda step: first[step])
    tests = [100 * piece["test"] for step, _, piece in entries if step == best]
    return best, tests, len(first), best in (min(first), max(first))


def table(found: dict[str, Any]) -> list[str]:
    """Methods by graphs: mean ± half the range over seeds; the step."""
    graphs = {graph: trainings(found, graph) for graph in GRAPHS}
    cells = {
        (method, graph): chosen(entries) for graph, by in graphs.items() for method, entries in by.items()
    }
    methods = sorted(
        {method for method, _ in cells},
        key=lambda method: -statistics.mean(cells[method, "exponential"][1]),
    )
    lines = [
        f"| method | {' | '.join(GRAPHS.values())} |",
        "|---|" + "---|" * len(GRAPHS),
    ]
    for method in methods:
        row = []
        for graph in GRAPHS:
            if (method, graph) not in cells:
                row.append("–")
                continue
            step, tests, tried, edge = cells[method, graph]
            spread = (max(tests) - min(tests)) / 2
            mark = "*" if edge else ""
            row.append(f"{statistics.mean(tests):.1f} ± {spread:.1f} ({step:g}{mark}, of {tried})")
        lines.append(f"| `{method}` | {' | '.join(row)} |")
    return lines


def timings(found: dict[str, Any]) -> list[str]:
    """Rounds, and the engine's share of them."""
    lines = ["| round of 16 agents | whole | gradients | engine |", "|---|---|---|---|"]
    names = {
        "rounds-16-8": "batch 8",
        "rounds-16-32": "batch 32",
        "rounds-32-32": "batch 32",
        "rounds-bf16": "batch 32, gradients in bf16",
    }
    for name, said in names.items():
        piece = found[name]
        lines.append(
            f"| six-layer CNN, {piece['weights']:,} weights, {said} | {piece['round_ms']:.1f} ms"
            f" | {piece['gradients_ms']:.1f} ms | {piece['engine_ms']:.2f} ms |"
        )
    large = found["memory"]
    lines.append(
        f"| ResNet-18, {large['weights']:,} weights, batch {large['batch']}, f32,"
        f" {large['agents_at_a_time']} agents at a time | {large['round_ms']:.0f} ms | "
        f"| {large['engine_ms']:.1f} ms (by PyTorch's operations {large['engine_by_tensors_ms']:.1f}) |"
    )
    return [
        *lines,
        "",
        f"The last needs {large['peak_bytes'] / 1e9:.2f} GB at its peak; three states and a gradient of all"
        f" agents are {large['least_bytes'] / 1e9:.2f} GB. Kernels and CPU tensors have the same bits in"
        f" {sum(found['check']['same_bits'].values())} of {len(found['check']['same_bits'])}"
        " comparisons (7 methods, f64 and f32).",
    ]


def block(found: dict[str, Any]) -> str:
    """All of it, as Markdown."""
    pieces = [piece for name, piece in found.items() if name.startswith("table-")]
    one = next(piece for piece in pieces if "images" in piece)
    seconds = sum(piece["took_seconds"] for piece in pieces)
    head = (
        f"CIFAR-10, {one['images']:,} training images, n = 16, Dirichlet α = {one['alpha']}, batch 32 an"
        f" agent, {one['epochs']} epochs ({one['rounds']} rounds), cosine step, flips; a six-layer CNN with"
        f" GroupNorm ({one['weights']:,} weights). Accuracy (%) of x̄ on 4,000 test images: mean over three"
        " seeds ± half their range. In brackets the step, chosen on a validation split with the first seed,"
        " and how many were tried (at most six; * where the best was the least or the largest of them). "
        f"{len(pieces)} trainings, {seconds:.0f} s, on one {one['device']} with PyTorch {one['torch']},"
        f" {one['date']}."
    )
    return "\n".join([head, "", *table(found), "", *timings(found), ""])


def main() -> None:
    """Write, or compare."""
    text = PAGE.read_text(encoding="utf-8")
    made = BLOCK.sub(lambda _: block(json.loads(RESULTS.read_text(encoding="utf-8"))), text)
    if sys.argv[1:] == ["--check"]:
        if made != text:
            sys.exit("docs/neural.md is not what benches/neural/table.py makes of h200.json")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
