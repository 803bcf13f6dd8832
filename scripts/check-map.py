#!/usr/bin/env python3
"""Checks the map of the claims by an independent computation.

usage: check-map.py FOLDER PROGRAM [CELLS]

FOLDER is what `PROGRAM claims map --out FOLDER` wrote, with its `cells/`. Four things are done again, with
no code shared:

- the design: how often answers and pairs of answers come in the sample;
- the rules: every p value, every verdict, every share, and the best reading, from the curves of all cells;
- CELLS cells (100 unless given), drawn at random: whole runs of their method on their graph, from the data,
  the mixing matrices and the documented draws (docs/bit-contract.md) to the curves. Readings whose data are
  split by Dirichlet draws are left to the rules: their gamma draws are not done again;
- algebra: what it says of every claim in every reading from the floors that are written, and for as many
  methods as cells the floors and rates themselves, from the matrices of a round (map_algebra.py).

Exit code 1 if anything disagrees. Python 3.11 and NumPy only.
"""

import csv
import itertools
import json
import math
import random
import subprocess
import sys
from pathlib import Path

import tomllib

try:
    import numpy as np
except ImportError:
    sys.exit("check-map: NumPy is missing; `pip install numpy` brings it")

from map_algebra import Algebra, said
from map_runs import Runs

COLUMNS = {"loss": 1, "gradient": 2, "bytes": 8}


def upper_tail(t, freedom):
    """P(T > t), t >= 0, by the finite series of Student's distribution."""
    angle = math.atan2(t, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    term, total = (cosine, 0.0) if freedom % 2 else (1.0, 0.0)
    for j in range(freedom // 2):
        total += term
        term *= cosine**2 * ((2 * j + 2) / (2 * j + 3) if freedom % 2 else (2 * j + 1) / (2 * j + 2))
    middle = 2 / math.pi * (angle + sine * total) if freedom % 2 else sine * total
    return 0.5 * (1 - middle)


def below(numbers, bound):
    """The chance of a mean so far below the bound if it were not."""
    count = len(numbers)
    mean = sum(numbers) / count
    error = math.sqrt(sum((x - mean) ** 2 for x in numbers) / (count - 1) / count)
    if error == 0:
        return 0.0 if mean < bound else 1.0
    t = (bound - mean) / error
    return upper_tail(t, count - 1) if t >= 0 else 1 - upper_tail(-t, count - 1)


class Reading:
    """The curves of a reading, as a view shows them."""

    def __init__(self, reading, store):
        self.optimum = reading["optimum"]
        self.curves = {
            (graph, method): [store[key] for key in keys]
            for graph, methods in reading["cells"].items()
            for method, keys in methods.items()
        }

    def shown(self, graph, method, view):
        return [self.curve(points, view) for points in self.curves[graph, method]]

    def curve(self, points, view):
        """None where the run has no finite value up to the place."""
        place = np.flatnonzero(points[:, 0] == view["place"])
        if len(place) == 0:
            return None
        loss, gradient = (points[: place[0] + 1, COLUMNS[name]] for name in ("loss", "gradient"))
        values = {
            "F": loss,
            "F − F*": loss - self.optimum,
            "‖∇F‖²": gradient,
            "running least ‖∇F‖²": np.minimum.accumulate(gradient),
        }[view["quantity"]]
        sound = np.isfinite(loss).all() and np.isfinite(gradient).all() and (values > 0).all()
        return values if sound else None


def evidence(rules, rule, reading, view, spacing):
    """(p that it holds, p that it fails)."""
    graph = rule.get("on", "multi-sub-ring")

    def compared(a, b, of):
        a, b = (reading.shown(*side, view) for side in (a, b))
        lost = [any(curve is None for curve in side) for side in (a, b)]
        if any(lost):
            return {(True, True): (1.0, 1.0), (True, False): (1.0, 0.0), (False, True): (0.0, 1.0)}[
                tuple(lost)
            ]
        sides = [(of(x), of(y)) for x, y in zip(a, b, strict=True)]
        if any(x <= 0 or y <= 0 for x, y in sides):  # a curve that does not move
            return 1.0, 1.0
        p = below([math.log(x / y) for x, y in sides], 0.0)
        return p, 1 - p

    def variation(curve):
        return np.abs(np.diff(np.log(curve[-(rules["window"] // spacing) - 1 :]))).sum()

    def close(a, b, distance):
        a, b = (reading.shown(graph, method, view) for method in (a, b))
        if any(curve is None for curve in a + b):
            return 1.0, 0.0
        margin = rules["margin_loss" if view["quantity"] == "F" else "margin"]
        if distance:
            first = math.ceil(rules["from"] / spacing)
            if len(a[0]) <= first:  # a place before curves are compared at all
                return 1.0, 1.0
            p = below(
                [np.abs(np.log(x[first:] / y[first:])).mean() for x, y in zip(a, b, strict=True)], margin
            )
            return p, 1 - p
        logs = [math.log(x[-1] / y[-1]) for x, y in zip(a, b, strict=True)]
        sides = below(logs, margin), below([-log for log in logs], margin)
        return max(sides), min(1.0, 2 * min(1 - side for side in sides))

    def sends(a, b):
        a, b = (reading.curves[graph, method][0][1, COLUMNS["bytes"]] for method in (a, b))
        return (0.0, 1.0) if a < b else (1.0, 0.0)

    pairs = [(a, b) for a in next(iter(rule.values())) for b in rule.get("than", [])]
    if "lower" in rule:
        found = [compared((graph, a), (graph, b), lambda curve: curve[-1]) for a, b in pairs]
    elif "smoother" in rule:
        found = [compared((graph, a), (graph, b), variation) for a, b in pairs]
    elif "sends_less" in rule:
        found = [sends(a, b) for a, b in pairs]
    elif "lower_on_exponential" in rule:
        sides = [(("exponential", a), ("multi-sub-ring", a)) for a in rule["lower_on_exponential"]]
        found = [compared(dense, sparse, lambda curve: curve[-1]) for dense, sparse in sides]
    else:
        found = [close(*rule.get("close", rule.get("overlap")), distance="overlap" in rule)]
    return max(p for p, _ in found), min(1.0, len(found) * min(p for _, p in found))


def threshold(p, level):
    """Benjamini and Hochberg's."""
    p = np.sort(p)
    counts = np.flatnonzero(p <= level * np.arange(1, len(p) + 1) / len(p))
    return p[counts[-1]] if len(counts) else -1.0


def wilson(shares, z):
    count, share = len(shares), float(np.mean(shares))
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return share, min(max(middle - half, 0), share), max(min(middle + half, 1), share)


def students(tail, freedom):
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle, freedom) > tail else (low, middle)
    return high


def check_rules(folder, whole, rules, store, wrong):
    views, readings = whole["views"], whole["readings"]
    spacing = int(next(iter(store.values()))[1, 0])
    count = len(readings) * len(views)
    p = np.empty((len(rules["claim"]), count, 2))
    for at, reading in enumerate(readings):
        curves = Reading(reading, store)
        for v, view in enumerate(views):
            for c, claim in enumerate(rules["claim"]):
                p[c, at * len(views) + v] = evidence(rules, claim["rule"], curves, view, spacing)
    with open(folder / "map.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if len(rows) != p.shape[0] * count:
        wrong.append(f"map.csv has {len(rows)} lines")
        return
    stored = np.array([[float(row["p_holds"]), float(row["p_fails"])] for row in rows])
    stored = stored.reshape(count, p.shape[0], 2).transpose(1, 0, 2)
    off = np.abs(stored - p).max()
    if not off <= 1e-9:
        wrong.append(f"p values differ by {off}")
    letters = np.array([list("".join(reading["verdicts"])) for reading in readings])
    letters = letters.reshape(count, p.shape[0]).T
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    z = students(rules["level"] / 2 / len(rules["claim"]), len(whole["sampled"]) - 1)
    for c, claim in enumerate(rules["claim"]):
        limits = [threshold(p[c, :, side], rules["level"]) for side in (0, 1)]
        holds, fails = (p[c, :, side] <= limits[side] for side in (0, 1))
        verdicts = np.where(holds & ~fails, "h", np.where(fails & ~holds, "f", "o"))
        near = np.min(np.abs(p[c] - limits), axis=1) < 1e-9
        if ((verdicts != letters[c]) & ~near).any():
            wrong.append(f"{claim['id']}: {int((verdicts != letters[c]).sum())} verdicts differ")
        told = summary["claims"][c]
        if told["counts"] != [int((letters[c] == letter).sum()) for letter in "hfo"]:
            wrong.append(f"{claim['id']}: counts {told['counts']}")
        by_reading = letters[c].reshape(len(readings), len(views))[whole["sampled"]]
        for name, letter in (("holds", "h"), ("fails", "f")):
            share = wilson((by_reading == letter).mean(axis=1), z)
            if not np.allclose(share, [told[name][key] for key in ("share", "low", "high")], atol=1e-9):
                wrong.append(f"{claim['id']}: {name} in {told[name]}, here {share}")
    check_alone(whole, summary, wrong)
    most = int((letters == "h").sum(axis=0).max())
    if summary["best"]["held"] != most:
        wrong.append(f"the best reading: {summary['best']['held']} claims hold, here {most}")
    print(f"rules: {p.size // 2} verdicts on {len(readings)} readings; p values within {off:.1e}")


def check_alone(whole, summary, wrong):
    """What a question changes while all others stay."""
    answers = np.array([reading["answers"] for reading in whole["readings"]])
    verdicts = np.array([list("".join(reading["verdicts"])) for reading in whole["readings"]])
    found = {factor["name"]: np.zeros(4, dtype=int) for factor in whole["factors"]}
    names = list(found)
    for at in range(len(answers)):
        apart = answers[at + 1 :] != answers[at]
        for other in at + 1 + np.flatnonzero(apart.sum(axis=1) == 1):
            one, two = verdicts[at], verdicts[other]
            turned = (one != two) & (one != "o") & (two != "o")
            factor = names[int(np.flatnonzero(answers[at] != answers[other])[0])]
            found[factor] += [1, len(one), (one != two).sum(), turned.sum()]
    for told in summary["alone"]:
        here = [int(x) for x in found[told["factor"]]]
        if here != [told[key] for key in ("pairs", "verdicts", "changed", "turned")]:
            wrong.append(f"{told['factor']} alone: {told}, here {here}")


def check_design(whole, wrong):
    """Answers and pairs of answers come about as often as is fair in the sample."""
    sample = np.array([whole["readings"][place]["answers"] for place in whole["sampled"]])
    levels = [len(factor["levels"]) for factor in whole["factors"]]
    off = {1: 0.0, 2: 0.0}
    for size in off:
        for chosen in itertools.combinations(range(len(levels)), size):
            counts = np.zeros([levels[at] for at in chosen])
            np.add.at(counts, tuple(sample[:, chosen].T), 1)
            off[size] = max(off[size], np.abs(counts - len(sample) / counts.size).max())
    if not (off[1] < 1 and off[2] < 2):
        wrong.append(f"the sample is uneven: {off}")
    print(f"design: answers within {off[1]:.1f} of a fair share of {len(sample)}, pairs within {off[2]:.1f}")


def check_tried(whole, settings, store, wrong):
    """Of the steps that a rival has tried, the one of lowest mean F at the last place is judged."""
    last = max(place["place"] for place in whole["views"])

    def mean_loss(keys):
        ends = [store[key][store[key][:, 0] == last, COLUMNS["loss"]] for key in keys]
        return float(np.mean(ends)) if all(len(end) and np.isfinite(end[0]) for end in ends) else math.inf

    count = 0
    for at, reading in enumerate(whole["readings"]):
        for graph, tried in reading["tried"].items():
            for method, judged in reading["cells"][graph].items():
                steps = [keys for name, keys in tried.items() if name.split(" at ")[0] == method]
                if steps:
                    count += 1
                    if mean_loss(judged) != min(map(mean_loss, steps)) or judged not in steps:
                        wrong.append(f"reading {at}: {method} on {graph} is not at its best step")
    print(f"rivals: {count} at the best of their steps")


def merged(settings, reading):
    """All that a reading settles."""
    factors = [list(factor["levels"].values()) for factor in settings["factor"]]
    return {
        key: value
        for levels, answer in zip(factors, reading["answers"], strict=True)
        for key, value in levels[answer].items()
    }


def step_of(setting, reading, graph, method):
    """What a rival steps by: as the reading says, or the best of what it has tried."""
    if "rivals_step" in setting:
        return setting["rivals_step"]
    tried = reading["tried"].get(graph, {})
    judged = reading["cells"][graph][method]
    return next((float(name.split(" at ")[1]) for name, keys in tried.items() if keys == judged), None)


def check_cells(whole, settings, store, runs, count, wrong):
    """Whole runs of cells drawn at random, done again."""
    candidates = []
    for reading in whole["readings"]:
        setting = merged(settings, reading)
        if isinstance(setting.get("partition"), dict):
            continue
        for graph, methods in reading["cells"].items():
            for method, keys in methods.items():
                own = setting | {"rivals_step": step_of(setting, reading, graph, method)}
                candidates += [(key, graph, method, r, own) for r, key in enumerate(keys)]
    random.seed(whole["rules_sha256"])
    chosen = random.sample(candidates, min(count, len(candidates)))
    worst = 0.0
    for key, graph, method, repetition, setting in chosen:
        made, kept = runs.run(method, graph, setting, repetition), store[key]
        until = min(len(made), len(kept))
        # a run that grows without bound doubles its rounding with it
        sound = np.abs(kept[:until, 1]) < 1e3
        off = np.abs(made[:until, :2] / kept[:until, 1:3] - 1)[sound].max()
        worst = max(worst, off)
        if not off <= 1e-6:
            wrong.append(f"{method} on {graph}, {setting}, repetition {repetition}: off by {off:.1e}")
    print(f"cells: {len(chosen)} runs done again, within {worst:.1e} of F and of its squared slope")


def check_algebra(whole, settings, rules, runs, count, wrong):
    """Floors, rates and what follows from them."""
    for at, reading in enumerate(whole["readings"]):
        here = "".join(said(rules, claim["rule"], reading["exact"]) or "–" for claim in rules["claim"])
        theory = reading["theory"]
        sent = [i for i, claim in enumerate(rules["claim"]) if "sends_less" in claim["rule"]]
        if any(theory[i] != reading["verdicts"][0][i] for i in sent):
            wrong.append(f"reading {at}: bytes that are counted in two ways")
        if [x for i, x in enumerate(theory) if i not in sent] != [
            x for i, x in enumerate(here) if i not in sent
        ]:
            wrong.append(f"reading {at}: algebra says {theory}, here {here}")
    algebra = Algebra(runs)
    random.seed(whole["readings_sha256"])
    plain = [r for r in whole["readings"] if not isinstance(merged(settings, r).get("partition"), dict)]
    worst, done = 0.0, 0
    while done < count and plain:
        reading = random.choice(plain)
        graph = random.choice(list(reading["cells"]))
        method = random.choice(list(reading["cells"][graph]))
        setting = merged(settings, reading)
        setting |= {"rivals_step": step_of(setting, reading, graph, method)}
        kept, made = reading["exact"][graph][method], algebra.exact(method, graph, setting)
        off = [abs(made[key] / kept[key] - 1) for key in ("step", "rate")]
        if (made["floor"] is None) != (kept["floor"] is None):
            off.append(math.inf)
        elif kept["floor"] is not None:
            off.append(abs(made["floor"] / kept["floor"] - 1))
        worst, done = max(worst, *off), done + 1
        if not max(off) <= 1e-4:
            wrong.append(f"algebra of {method} on {graph}, {setting}: {kept}, here {made}")
    print(f"algebra: {len(whole['readings'])} readings, and {done} floors done again, within {worst:.1e}")


def packs(folder):
    """Entries of files that have many: a list of keys and lengths in the first line, entries behind it."""
    entries = {}
    for file in folder.glob("*.cells"):
        whole = file.read_bytes()
        begin = whole.index(b"\n") + 1
        for key, length in json.loads(whole[:begin]):
            entries[key] = whole[begin : begin + length]
            begin += length
    return entries


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    folder, program = Path(sys.argv[1]), sys.argv[2]
    whole = json.loads((folder / "map.json").read_text(encoding="utf-8"))
    rules = tomllib.loads((folder / "rules.toml").read_text(encoding="utf-8"))
    settings = tomllib.loads((folder / "readings.toml").read_text(encoding="utf-8"))
    kinds = [r[kind] for r in whole["readings"] for kind in ("cells", "tried")]
    keys = {
        key for graphs in kinds for methods in graphs.values() for keys in methods.values() for key in keys
    }
    store, packed = {}, packs(folder / "cells")
    for key in keys:
        file = folder / "cells" / f"{key}.cell"
        entry = file.read_bytes() if file.exists() else packed[key]
        lines = entry.decode().splitlines()[1:]
        numbers = [[float(cell) if cell else math.nan for cell in line.split(",")[:9]] for line in lines]
        store[key] = np.array(numbers)
    wrong = []
    check_rules(folder, whole, rules, store, wrong)
    exported = subprocess.run([program, "data", "export", "a9a"], capture_output=True, check=True)
    count = int(sys.argv[3]) if len(sys.argv) == 4 else 100
    runs = Runs(settings["run"], exported.stdout.decode(), whole["seed"])
    check_design(whole, wrong)
    check_tried(whole, settings, store, wrong)
    check_cells(whole, settings, store, runs, count, wrong)
    check_algebra(whole, settings, rules, runs, count, wrong)
    for complaint in wrong:
        print(f"check-map: {complaint}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
