"""Writes what was measured into docs/neural.md, between `<!-- measured -->` and `<!-- measured: end -->`.

    python benches/neural/table.py [--check]

The figures are those of benches/neural/h200.json, the `all.json` of gpu.py, and of
benches/neural/fashion.json, that of fashion.py. With `--check` nothing is written, and the exit code is 1
where the page says something else.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
RESULTS, ON_CPU, PAGE = HERE / "h200.json", HERE / "fashion.json", HERE.parent.parent / "docs" / "neural.md"
BLOCK = re.compile(r"(?<=<!-- measured -->\n).*?(?=<!-- measured: end -->)", re.DOTALL)
# cells of the table by their heads: graphs at α = 0.1, and the exponential digraph at each α
GRAPHS = {
    "table-exponential": "exponential",
    "table-one-peer": "one-peer exponential",
    "table-flower": "flower, three petals",
    "table-ring": "ring",
    "table-complete": "complete",
}
FASHION = {"fashion-1": "α = 1", "fashion-0.1": "α = 0.1", "fashion-0.01": "α = 0.01"}
ALPHAS = {"table-alpha-1": "α = 1", "table-exponential": "α = 0.1", "table-alpha-0.01": "α = 0.01"}
# RelaySGD's table, SGP and SGP with momentum at α = 0.1
PUBLISHED = {"sgp": "86.7"}
# steps whose accuracy on the validation images is within so much of the best's
NEAR = 0.05


class Tuned(NamedTuple):
    """A method in a cell: what was tried with the first seed, and all trainings with the best step."""

    step: float
    tried: dict[float, float]
    chosen: list[dict[str, Any]]

    @property
    def edge(self) -> bool:
        """Whether the best step is the least or the largest of those tried."""
        return self.step in (min(self.tried), max(self.tried))

    def said(self, key: str, scale: float, digits: int) -> str:
        """Mean ± half the range over seeds; the step."""
        values = [scale * one[key] for one in self.chosen]
        mean, spread = statistics.mean(values), (max(values) - min(values)) / 2
        figure = (
            f"{mean:.{digits}f} ± {spread:.{digits}f}" if len(values) > 1 else f"{mean:.{digits}f}, one seed"
        )
        return f"{figure} ({self.step:g}{'*' if self.edge else ''}, of {len(self.tried)})"


def tuned(found: dict[str, Any], cell: str) -> dict[str, Tuned]:
    """All methods of a cell. The step is the one that is best on the validation data with the first seed."""
    by_method: dict[str, list[tuple[float, int, dict[str, Any]]]] = {}
    for name, piece in found.items():
        match = re.fullmatch(rf"{re.escape(cell)}-([a-z0-9-]*?[a-z])-([\d.]+(?:e-\d+)?)(?:-seed-(\d+))?", name)
        if match:
            by_method.setdefault(match[1], []).append((float(match[2]), int(match[3] or 1), piece))
    made = {}
    for method, entries in by_method.items():
        tried = {step: float(piece["validation"]) for step, seed, piece in entries if seed == 1}
        best = max(tried, key=lambda step: tried[step])
        made[method] = Tuned(best, tried, [piece for step, _, piece in entries if step == best])
    return made


def rows(head: list[str], lines: list[list[str]]) -> list[str]:
    """A table in Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *lines)]


def columns(
    found: dict[str, Any], heads: dict[str, str], by: str = "table-exponential", only: set[str] | None = None
) -> list[str]:
    """Methods by cells, in the order of their mean accuracy in the cell `by`."""
    cells = {cell: tuned(found, cell) for cell in heads}
    first = cells[by]
    order = sorted(first, key=lambda name: -statistics.mean(one["test"] for one in first[name].chosen))
    return rows(
        ["method", *heads.values()],
        [
            [f"`{name}`", *(of[name].said("test", 100, 1) if name in of else "–" for of in cells.values())]
            for name in order
            if only is None or name in only
        ],
    )


def bytes_and_steps(found: dict[str, Any]) -> list[str]:
    """Accuracy beside what an agent sends, and how far steps may be off."""
    lines = []
    for cell in ("table-exponential", "table-one-peer"):
        for name, one in tuned(found, cell).items():
            near = [step for step, value in one.tried.items() if value >= max(one.tried.values()) - NEAR]
            accuracy = statistics.mean(100 * piece["test"] for piece in one.chosen)
            sent = one.chosen[0]["bytes"] / 16 / 1e9
            ends = f"{min(near):g} to {max(near):g} of {min(one.tried):g} to {max(one.tried):g}"
            factor = f"{max(near) / min(near):.0f}"
            line = [f"`{name}`", GRAPHS[cell], f"{sent:.2f} GB", f"{accuracy:.1f}", ends, factor]
            lines.append((sent, -accuracy, line))
    head = [
        "method",
        "graph",
        "sent by an agent",
        "accuracy (%)",
        "steps within five points",
        "largest by least",
    ]
    return rows(head, [line for _, _, line in sorted(lines)])


def letters(found: dict[str, Any]) -> list[str]:
    """The character model."""
    methods = tuned(found, "shakespeare")
    order = sorted(methods, key=lambda name: statistics.mean(one["loss"] for one in methods[name].chosen))
    one = methods[order[0]].chosen[0]
    head = (
        f"Shakespeare's characters, n = 16 on the exponential digraph, each agent with works of its own; a"
        f" transformer of {one['weights']:,} weights on {one['length']} characters at a time, batch"
        f" {one['batch']} an agent, {one['rounds']} rounds, cosine step. Loss in nats a character of x̄ on"
        " 2,000 ends of works that nobody trained on (2,000 others chose the step), and how often its"
        " likeliest character is the next:"
    )
    return [
        head,
        "",
        *rows(
            ["method", "loss", "accuracy (%)"],
            [
                [
                    f"`{name}`",
                    methods[name].said("loss", 1, 3),
                    f"{100 * statistics.mean(piece['accuracy'] for piece in methods[name].chosen):.1f}",
                ]
                for name in order
            ],
        ),
    ]


def long(found: dict[str, Any]) -> list[str]:
    """VGG-11: what was trained to the end of its schedule, with the accuracy on the way."""
    lines = []
    for name, piece in found.items():
        match = re.fullmatch(r"vgg-(\d+)-(.+)-([\d.]+(?:e-\d+)?)", name)
        if match:
            way = {round(row["round"] * piece["epochs"] / piece["rounds"]): row for row in piece["history"]}
            seen = ", ".join(f"{100 * row['accuracy']:.1f}" for row in list(way.values())[1:-1:2])
            known = PUBLISHED.get(match[2], "–") if match[1] == "200" else "–"
            line = [f"`{match[2]}`", match[1], match[3], f"**{100 * piece['test']:.1f}**"]
            line += [f"{100 * piece['agents_mean']:.1f}", f"{100 * piece['agents_least']:.1f}", known, seen]
            lines.append([*line, f"{piece['seconds']:.0f} s"])
    head = [
        "method",
        "epochs",
        "step",
        "x̄",
        "agents' mean",
        "the worst agent",
        "published",
        "x̄ on the way",
        "took",
    ]
    return rows(head, lines)


def timings(found: dict[str, Any]) -> list[str]:
    """Rounds, and the engine's share of them."""
    names = {
        "rounds-16-8": "batch 8",
        "rounds-16-32": "batch 32",
        "rounds-32-32": "batch 32",
        "rounds-bf16": "batch 32, gradients in bf16",
    }
    lines = []
    for name, said in names.items():
        for captured in ("", "-captured"):
            if name + captured in found:
                piece = found[name + captured]
                text = (
                    f"six-layer CNN, {piece['weights']:,} weights, {said}{', captured' if captured else ''}"
                )
                times = [f"{piece['round_ms']:.1f} ms", f"{piece['gradients_ms']:.1f} ms"]
                lines.append([text, *times, f"{piece['engine_ms']:.2f} ms"])
    large = found["memory"]
    text = f"ResNet-18, {large['weights']:,} weights, batch {large['batch']}, f32, "
    text += f"{large['agents_at_a_time']} agents at a time"
    by_tensors = f"(by PyTorch's operations {large['engine_by_tensors_ms']:.1f})"
    lines.append([text, f"{large['round_ms']:.0f} ms", "", f"{large['engine_ms']:.1f} ms {by_tensors}"])
    same, captured = found["check"]["same_bits"], found["captured"]
    alike = all(captured[name][law] for name in ("plain", "dropout") for law in ("same_bits", "again"))
    return [
        *rows(["round of 16 agents", "whole", "gradients", "engine"], lines),
        "",
        f"The last needs {large['peak_bytes'] / 1e9:.2f} GB at its peak; three states and a gradient of all"
        f" agents are {large['least_bytes'] / 1e9:.2f} GB. Kernels and CPU tensors have the same bits in"
        f" {sum(same.values())} of {len(same)} comparisons (7 methods, f64 and f32). Gradients by captured"
        f" kernels {'have' if alike else '**do not have**'} the bits of those that are not, also with"
        " dropout.",
    ]


def fashion(found: dict[str, Any]) -> list[str]:
    """The small network on Fashion-MNIST."""
    heads = {cell: head for cell, head in FASHION.items() if tuned(found, cell)}
    one = next(iter(found.values()))
    head = (
        f"A smaller task, on a CPU: Fashion-MNIST, {one['images']:,} training images, n = 16 on the"
        f" exponential digraph, batch 32 an agent, {one['rounds']} rounds, cosine step; one hidden layer,"
        f" {one['weights']:,} weights. Accuracy (%) of x̄ on all 10,000 test images; brackets as above."
        f" {len(found)} trainings on one core that was shared with other work, with PyTorch {one['torch']},"
        f" {one['date']} (`benches/neural/fashion.py`):"
    )
    return [head, "", *columns(found, heads, by="fashion-1")]


def block(found: dict[str, Any], on_cpu: dict[str, Any]) -> str:
    """All of it, as Markdown."""
    pieces = [piece for name, piece in found.items() if name.startswith("table-")]
    one = next(piece for piece in pieces if "images" in piece)
    seconds = sum(piece["took_seconds"] for piece in pieces)
    dates = " and ".join(sorted({piece["date"] for piece in pieces}))
    head = (
        f"CIFAR-10, {one['images']:,} training images, n = 16, batch 32 an agent, {one['epochs']} epochs"
        f" ({one['rounds']} rounds), cosine step, flips; a six-layer CNN with GroupNorm ({one['weights']:,}"
        " weights). Accuracy (%) of x̄ on 4,000 test images: mean over three seeds ± half their range. In"
        " brackets the step, chosen on a validation split with the first seed, and how many were tried (at"
        " most six; * where the best was the least or the largest of them). "
        f"{len(pieces)} trainings, {seconds:.0f} s, on one {one['device']} with PyTorch {one['torch']},"
        f" {dates}. By graph, with Dirichlet α = 0.1:"
    )
    others = {name for cell in ALPHAS if cell != "table-exponential" for name in tuned(found, cell)}
    parts = [
        [head],
        columns(found, GRAPHS),
        ["By α, on the exponential digraph:"],
        columns(found, ALPHAS, only=others),
        [
            "The same accuracies at α = 0.1 beside what each agent sent in its training, least first; and"
            " the steps among those tried whose accuracy on the validation images is within five points of"
            " the best's:"
        ],
        bytes_and_steps(found),
        letters(found),
        [
            "VGG-11 without batch norm (9,750,922 weights) on all 50,000 training images, in the setting of"
            " RelaySGD's table (`benches/neural/vgg.py` has it); accuracy (%) on all 10,000 test images, one"
            " seed, gradients in bf16. Steps other than SGP's, which is the paper's, were chosen by trainings"
            " of 10 epochs on nine tenths of the images. x̄ on the way is after 2, 4, 6 and 8 tenths;"
            " those of 200 epochs shared the device with the table's trainings for most of their time:"
        ],
        long(found),
        fashion(on_cpu),
        timings(found),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def main() -> None:
    """Write, or compare."""
    text = PAGE.read_text(encoding="utf-8")
    found, on_cpu = (json.loads(file.read_text(encoding="utf-8")) for file in (RESULTS, ON_CPU))
    made = BLOCK.sub(lambda _: block(found, on_cpu), text)
    if sys.argv[1:] == ["--check"]:
        if made != text:
            sys.exit("docs/neural.md is not what benches/neural/table.py makes of its results")
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        PAGE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
