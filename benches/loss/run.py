#!/usr/bin/env python3
"""What lost messages do to gradient tracking: decent-bench and oneway on the same work, in one run.

usage: run.py [--rounds N]

Prints F(x̄) after N rounds without loss, with 5 % and with 30 %, and writes out/bench-loss.json: oneway's is the mean of
eight runs, decent-bench's one run. Exit code 1 if one of oneway's is further than 1 % from the same method without loss. decent-bench is skipped, with the reason, where it cannot be
installed.
"""

import argparse
import csv
import json
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "peers"))
from run import OUT, Skip, environment, output, write_data  # noqa: E402

LOSSES = [0.0, 0.05, 0.3]
WITHIN = 0.01


def oneway(rounds):
    """A row for each of oneway's methods: who, where, batch, and F by loss, the mean over the repetitions."""
    folder = ROOT / "out" / "bench-loss"
    output(["cargo", "run", "--release", "--quiet", "-p", "oneway-lab", "--", "run", HERE / "experiment.toml",
            "--no-report", "--out", folder, "--set", f"run.iterations={rounds}"])
    found = {}
    with open(folder / "curves.csv", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if int(row["iteration"]) == rounds:
                name, loss, batch = re.fullmatch(r"(.*) \[loss=(.*)\] \[problem\.batch=(.*)\]", row["topology"]).groups()
                runs = found.setdefault((row["method"], name, batch), {}).setdefault(float(loss), [])
                runs.append(float(row["loss"]))
    means = {key: {loss: sum(runs) / len(runs) for loss, runs in by_loss.items()} for key, by_loss in found.items()}
    return [{"who": "oneway", "method": method, "links": links, "batch": batch, "F": by_loss}
            for (method, links, batch), by_loss in means.items()]


def decent_bench(rounds):
    """The same of decent-bench's."""
    python = environment("decent-bench", (3, 13)) / "python"
    said = output([python, HERE / "decent_bench_peer.py", OUT, str(rounds), *map(str, LOSSES)])
    found = {}
    for row in json.loads(said):
        found.setdefault((row["method"], "both-ways", row["batch"].replace("all", "full")), {})[row["loss"]] = row["F"]
    return [{"who": "decent-bench", "method": method, "links": links, "batch": batch, "F": by_loss}
            for (method, links, batch), by_loss in found.items()]


def off(row, loss):
    """How far F is from F without loss, as a share of it; infinite where it is not a number."""
    with_loss, without = row["F"][loss], row["F"][0.0]
    return abs(with_loss / without - 1) if with_loss is not None and without is not None else float("inf")


def cell(row, loss):
    value = row["F"][loss]
    shown = "not finite" if value is None else f"{value:.4f}"
    return shown if loss == 0 else f"{shown} ({100 * off(row, loss):.2f} %)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=500)
    rounds = parser.parse_args().rounds
    OUT.mkdir(parents=True, exist_ok=True)
    write_data()
    rows = oneway(rounds)
    try:
        rows = decent_bench(rounds) + rows
    except (Skip, subprocess.SubprocessError) as reason:
        print(f"skipped decent-bench: {reason}")
    print(f"F(x̄) after {rounds} rounds, and how far it is from F without loss; at the start F = ln 2 = 0.6931")
    print(f"{'':<13} {'method':<13} {'links':<10} {'batch':<6} {'no loss':>10} {'5 % loss':>20} {'30 % loss':>20}")
    for row in rows:
        cells = [cell(row, loss) for loss in LOSSES]
        print(f"{row['who']:<13} {row['method']:<13} {row['links']:<10} {row['batch']:<6} {cells[0]:>10} {cells[1]:>20} {cells[2]:>20}")
    (ROOT / "out" / "bench-loss.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    far = [row for row in rows if row["who"] == "oneway" and max(off(row, loss) for loss in LOSSES) > WITHIN]
    for row in far:
        print(f"further than {100 * WITHIN:.0f} %: {row['method']} on {row['links']}, batch {row['batch']}")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
