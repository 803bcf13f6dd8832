#!/usr/bin/env python3
"""Checks claims.json by an independent computation.

usage: check-claims.py FOLDER, what `oneway reproduce --out FOLDER` wrote

Every number that comes from curves is computed again from the curves.csv of its experiment (multi-sub-ring, exponential,
and one-step-* where all methods take one step), and so is the verdict. The error floors are computed again from the
discrete Lyapunov equation, and the stability limits from the eigenvalues of the 3n x 3n matrix of a round: no simulation
in either. F* is taken as it is, and must lie below every loss of every curve.
Exit code 1 if anything disagrees. Python 3 and NumPy only.
"""

import csv
import json
import math
import sys

try:
    import numpy as np
except ImportError:
    sys.exit("check-claims: NumPy is missing; `pip install numpy` brings it")

from claims_matrices import exponent, exponential, floors, flower, full, limit, trees

ENDS = [300, 600, 900]
WINDOWS = [(100, 300), (400, 600), (700, 900)]
SMTPP, TREES, STPP, SGP, DIGING, CSGDM = "SMTPP", "SMTPP (trees)", "STPP", "SGP", "Push-DIGing", "CSGDM"
OVERLAP = math.log(10) / 10
COLUMN = {"loss": "loss", "‖∇F‖²": "grad_norm_sq"}
T_975 = {1: 12.706204736, 2: 4.30265273, 3: 3.182446305, 4: 2.776445105, 5: 2.570581836, 6: 2.446911851,
         7: 2.364624252, 8: 2.306004135, 9: 2.262157163}


# ---------------------------------------------------------------------------------------------------- curves


class Runs:
    """curves.csv as arrays [repetition, point]."""

    def __init__(self, folder):
        rows = {}
        with open(f"{folder}/curves.csv", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                rows.setdefault(row["method"], {}).setdefault(int(row["repetition"]), []).append(row)
        self.rows = {method: [runs[r] for r in sorted(runs)] for method, runs in rows.items()}
        some = next(iter(self.rows.values()))[0]
        self.iterations = np.array([int(row["iteration"]) for row in some])

    def column(self, method, name):
        values = [[float(row[name]) if row[name] else math.nan for row in run] for run in self.rows[method]]
        return np.array(values)

    def at(self, method, name, k):
        return self.column(method, name)[:, np.flatnonzero(self.iterations == k)[0]]

    def best(self):
        return min(self.at(method, "loss", ENDS[-1]).mean() for method in self.rows)

    def above(self, method, name, k, bottom):
        return self.at(method, name, k) - bottom

    def first_below(self, method, name, target):
        reached = [int(np.flatnonzero(loss <= target)[0]) for loss in self.column(method, "loss")]
        if name == "iteration":
            return self.iterations[reached].astype(float)
        return self.column(method, name)[np.arange(len(reached)), reached]

    def window(self, first, last):
        return (self.iterations >= first) & (self.iterations <= last)

    def excess(self, method, bottom):
        return (self.column(method, "loss")[:, self.window(50, 300)] - bottom).mean(axis=1)

    def variation(self, method, first, last):
        logs = np.log(self.column(method, "grad_norm_sq")[:, self.window(first, last)])
        return np.abs(np.diff(logs, axis=1)).sum(axis=1) / (last - first)


def interval(a, b):
    logs = np.log(a / b)
    r = len(logs)
    return logs.mean(), T_975[r - 1] * logs.std(ddof=1) / math.sqrt(r)


def negative(i):
    return "yes" if i[0] + i[1] < 0 else "no" if i[0] - i[1] > 0 else "unclear"


def within(i, margin):
    return "yes" if abs(i[0]) + i[1] <= margin else "no" if abs(i[0]) - i[1] > margin else "unclear"


def every(answers):
    answers = list(answers)
    return "no" if "no" in answers else "unclear" if "unclear" in answers else "yes"


def lower(intervals):
    """Surely lower in half of the places or more, and surely higher in none; no is its mirror."""
    answers = [negative(i) for i in intervals]
    for answer, reverse in [("yes", "no"), ("no", "yes")]:
        if 2 * answers.count(answer) >= len(answers) and reverse not in answers:
            return answer
    return "unclear"


def plain(answer):
    return {"yes": "holds", "no": "does not hold", "unclear": "undecided"}[answer]


def both_ways(full, trees):
    if full == trees:
        return plain(full)
    ways = {"yes": [], "no": [], "unclear": []}
    ways[full].append("the full digraph")
    ways[trees].append("trees")
    if not ways["yes"]:
        return "undecided"
    if ways["unclear"]:
        return f"holds for {ways['yes'][0]}; undecided for {ways['unclear'][0]}"
    return f"holds only if SMTPP uses {ways['yes'][0]}; on {ways['no'][0]} it does not"


def over_steps(cases):
    """The verdict on [(steps, {links: answer})], the paper's steps first."""
    def named(wanted):
        words = []
        for steps, answers in cases:
            if set(answers.values()) == {wanted}:
                words.append(steps)
            else:
                words += [f"{steps} on {links}" for links, answer in answers.items() if answer == wanted]
        return ", ".join(words)

    yes, no, unclear = named("yes"), named("no"), named("unclear")
    if yes and not no:
        return f"holds for {yes}; undecided for {unclear}" if unclear else "holds"
    if yes:
        return f"holds only if taken with {yes}; not with {no}" + (f"; undecided with {unclear}" if unclear else "")
    return plain("no") if set(cases[0][1].values()) == {"no"} else "undecided"


class Numbers(dict):
    def put(self, label, i):
        self[label], self["± " + label] = float(i[0]), float(i[1])
        return i


def plateau_ends(numbers, runs, a, b, prefix=""):
    result = []
    for quantity in ["loss", "‖∇F‖²"]:
        for end in ENDS:
            i = interval(runs.at(a, COLUMN[quantity], end), runs.at(b, COLUMN[quantity], end))
            result.append(numbers.put(f"{prefix}ln({a}/{b}) of {quantity} at {end}", i))
    return result


def variations(numbers, runs, a, windows, prefix=""):
    result = []
    for b in [STPP, SGP, DIGING]:
        for first, last in windows:
            i = interval(runs.variation(a, first, last), runs.variation(b, first, last))
            result.append(numbers.put(f"{prefix}ln({a}/{b}) of variation {first} to {last}", i))
    return result


def curve_claims(sparse, dense, steps, optimum):
    """(id, numbers, verdict) of every claim about curves; steps is [(name, prefix, on sparse, on dense)]."""
    graphs = [("multi-sub-ring", sparse), ("exponential", dense)]

    numbers, answers = Numbers({"F*": optimum}), {}
    for method in [SMTPP, TREES, STPP, SGP, DIGING]:
        places = [(f"ln(sparse/dense) of loss above F* at {k}, {method}",
                   interval(*(runs.above(method, "loss", k, optimum) for runs in [sparse, dense]))) for k in ENDS]
        answers[method] = every(within(numbers.put(*place), OVERLAP) for place in places)
    yield "robust-sparse-dense", numbers, both_ways(answers[SMTPP], answers[TREES])

    numbers = Numbers()
    for graph, runs in graphs:
        for method in [SMTPP, TREES]:
            numbers[f"largest ‖v̄ − m̄‖, {method}, {graph}"] = runs.column(method, "conservation_error").max()
    yield "lemma-2", numbers, plain("yes" if max(numbers.values()) <= 1e-12 else "no")

    numbers, answers = Numbers(), []
    for graph, runs in graphs:
        target = numbers[f"target loss, {graph}"] = 1.02 * runs.best()
        bytes = {m: runs.first_below(m, "bytes_sent", target) for m in [TREES, SGP, DIGING]}
        for m, sent in bytes.items():
            numbers[f"bytes a round, {m}, {graph}"] = runs.at(m, "bytes_sent", 900).mean() / 900
            numbers[f"bytes to target, {m}, {graph}"] = sent.mean()
        answers.append(every(
            negative(numbers.put(f"ln({TREES}/{m}) of bytes to target, {graph}", interval(bytes[TREES], bytes[m])))
            for m in [SGP, DIGING]))
    yield "fewer-links", numbers, plain(answers[0])

    numbers, cases = Numbers(), []
    for name, prefix, runs, _ in steps:
        target = numbers[f"{prefix}target loss"] = 1.02 * runs.best()
        taken = {m: runs.first_below(m, "iteration", target) for m in [STPP, CSGDM, SGP, DIGING]}
        numbers.update({f"{prefix}iterations to target, {m}": k.mean() for m, k in taken.items()})
        cases.append((name, {"": every(
            negative(numbers.put(f"{prefix}ln({a}/{b}) of iterations to target", interval(taken[a], taken[b])))
            for a in [STPP, CSGDM] for b in [SGP, DIGING])}))
    yield "push-sum-slow", numbers, over_steps(cases)

    ways = [("the full digraph", SMTPP), ("trees", TREES)]
    for id, other in [("better-than-stpp", STPP), ("better-than-sgp", SGP), ("better-than-push-diging", DIGING)]:
        numbers = Numbers()
        yield id, numbers, over_steps([
            (name, {links: lower(plateau_ends(numbers, runs, m, other, prefix)) for links, m in ways})
            for name, prefix, runs, _ in steps])

    numbers = Numbers()
    yield "damped-oscillations", numbers, over_steps([
        (name, {links: lower(variations(numbers, runs, m, WINDOWS, prefix)) for links, m in ways})
        for name, prefix, runs, _ in steps])

    numbers, answers = Numbers({"F*": optimum}), []
    central = sparse.excess(CSGDM, optimum)
    numbers["mean loss above F*, CSGDM"] = central.mean()
    for m in [SMTPP, TREES]:
        near = [within(numbers.put(f"ln({m}/CSGDM) of loss above F* at {k}",
                                   interval(*(sparse.above(x, "loss", k, optimum) for x in [m, CSGDM]))), OVERLAP)
                for k in ENDS]
        own = sparse.excess(m, optimum)
        numbers[f"mean loss above F*, {m}"] = own.mean()
        near.append(within(numbers.put(f"ln({m}/CSGDM) of mean loss above F*", interval(own, central)), math.log(1.1)))
        answers.append(every(near))
    yield "comparable-multi-sub-ring", numbers, both_ways(*answers)

    numbers = Numbers()
    yield "stpp-gap-exponential", numbers, over_steps([
        (name, {"": lower(plateau_ends(numbers, runs, CSGDM, STPP, prefix))}) for name, prefix, _, runs in steps])

    numbers, answers = Numbers({"F*": optimum}), []
    for m in [SMTPP, TREES]:
        near = []
        for quantity, column, bottom in [("loss above F*", "loss", optimum), ("‖∇F‖²", "grad_norm_sq", 0.0)]:
            ks = dense.iterations[dense.iterations >= 50]
            intervals = [interval(*(dense.above(x, column, k, bottom) for x in [m, CSGDM])) for k in ks]
            near += [within(i, OVERLAP) for i in intervals]
            farthest = max(range(len(ks)), key=lambda at: abs(intervals[at][0]))
            label = f"ln({m}/CSGDM) of {quantity}, where largest"
            numbers[f"iteration of {label}"] = float(ks[farthest])
            numbers.put(label, intervals[farthest])
        answers.append(every(near))
    yield "overlap-exponential", numbers, both_ways(*answers)


# ---------------------------------------------------------------------------------------------------- studies


def study_claims(n=20, step=0.1, momenta=(0.05, 0.1, 0.2, 0.4, 0.8)):
    """(id, numbers, verdict) of the claims about floors and steps, from matrices alone."""
    edges = {"multi-sub-ring": flower(n, 4), "exponential": exponential(n)}
    links = [("", full), (" on trees", trees)]
    numbers, table, exponents = {}, {}, {}
    for graph, words, build in [(graph, words, build) for words, build in links for graph in edges]:
        place = graph + words
        table[place] = np.array([floors(build(n, edges[graph]), momentum, step) for momentum in momenta])
        for momentum, row in zip(momenta, table[place]):
            for name, value in zip(["floor at x̄/σ²", "floor at the agents/σ²", "tracking error/σ²"], row):
                numbers[f"{name}, {place}, λ = {momentum}"] = value
        for name, column in zip(["floor at x̄", "floor at the agents", "tracking error"], table[place].T):
            p, error = exponent(momenta, column)
            numbers[f"exponent of λ, {name}, {place}"] = p
            doubt = T_975[len(momenta) - 2] * error  # a line takes two of the points' degrees of freedom
            answer = "yes" if p - doubt >= 1.75 else "no" if p + doubt < 1.75 else "unclear"
            exponents.setdefault(name, []).append(answer)
    gradient = every(exponents["floor at x̄"] + exponents["floor at the agents"])
    tracking = every(exponents["tracking error"])
    verdict = {
        ("no", "yes"): "holds only if the floor is that of the tracking error; that of ‖∇F‖² does not go as λ²",
        ("unclear", "yes"): "holds for the tracking error; undecided for ‖∇F‖²",
        ("no", "no"): "does not hold",
    }.get((gradient, tracking), "holds" if gradient == "yes" else "undecided")
    yield "floor-lambda-squared", numbers, verdict

    numbers, same, apart = {}, [], []
    for words, _ in links:
        ratio = table["multi-sub-ring" + words][1] / table["exponential" + words][1]
        for place, r in zip(["at x̄", "at the agents"], ratio):
            place += words or " on full digraphs"
            numbers[f"floor sparse/dense {place}, λ = 0.1"] = r
            (same if 1 / 1.1 <= r <= 1.1 else apart).append(place)
    verdict = "holds" if not apart else "does not hold"
    if same and apart:
        verdict = f"holds only if the error is measured {' or '.join(same)}; not {' or '.join(apart)}"
    yield "decoupled-from-connectivity", numbers, verdict

    numbers = {}
    for graph in edges:
        for kind, build in [("trees", trees), ("full", full)]:
            for name, momentum in [("SMTPP", 0.1), ("Push-Pull", 1.0)]:
                numbers[f"largest η·c_π·h, {name}, {graph}, {kind}"] = limit(build(n, edges[graph]), momentum)
    larger = {}
    for kind in ["full", "trees"]:
        ratio = np.divide(*(numbers[f"largest η·c_π·h, {name}, multi-sub-ring, {kind}"] for name in ["SMTPP", "Push-Pull"]))
        larger[kind] = "yes" if ratio >= 1.05 else "no" if ratio <= 1 / 1.05 else "unclear"
    yield "larger-steps", numbers, both_ways(larger["full"], larger["trees"])

    sizes, numbers, answers = [5, 10, 20, 40], {}, []
    for words, build in links:
        by_size = [floors(build(k, exponential(k)), 0.1, step)[0] for k in sizes]
        numbers.update({f"floor at x̄/σ²{words}, n = {k}": value for k, value in zip(sizes, by_size)})
        p, error = exponent(sizes, by_size)
        numbers[f"exponent of n{words}"] = p
        answers.append(within((p + 1, T_975[len(sizes) - 2] * error), 0.1))
    yield "linear-speed-up", numbers, both_ways(*answers)


# ---------------------------------------------------------------------------------------------------- compare


def agrees(ours, theirs, exact, label):
    if exact:
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-13)
    if label.startswith("exponent"):  # an expectation against a simulation; noise is shared over λ, but not over n
        return abs(ours - theirs) <= (0.05 if label.startswith("exponent of n") else 0.03)
    return math.isclose(ours, theirs, rel_tol=0.01 if label.startswith("largest") else 0.08)


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    folder = arguments[0]
    with open(f"{folder}/claims.json", encoding="utf-8") as file:
        claims = {claim["id"]: claim for claim in json.load(file)}
    sparse, dense = Runs(f"{folder}/multi-sub-ring"), Runs(f"{folder}/exponential")
    steps = [("the paper's steps", "", sparse, dense)]
    for step in ["0.1", "0.2"]:
        one = [Runs(f"{folder}/one-step-{step}{graph}") for graph in ["", "-exponential"]]
        steps.append((f"{step} for all", f"{step} for all: ", *one))
    optimum = dict(claims["overlap-exponential"]["numbers"])["F*"]
    lowest = min(runs.column(method, "loss").min() for *_, a, b in steps for runs in [a, b] for method in runs.rows)
    wrong = checked = 0
    if not optimum < lowest:
        wrong += 1
        print(f"BAD F* = {optimum} is not below the lowest loss, {lowest}")
    judged = [(True, *claim) for claim in curve_claims(sparse, dense, steps, optimum)]
    judged += [(False, *claim) for claim in study_claims()]
    for exact, id, numbers, verdict in judged:
        theirs = dict(claims[id]["numbers"]) if id in claims else {}
        missing = [label for label in theirs if label not in numbers]
        taken = [label for label in missing if not exact and label.startswith("± ")]
        bad = [f"{label}: nowhere here" for label in missing if label not in taken]
        for label, ours in numbers.items():
            if label not in theirs:
                bad.append(f"{label}: not in the file")
            elif not agrees(ours, theirs[label], exact, label):
                bad.append(f"{label}: {theirs[label]} in the file, {ours} here")
        if id in claims and claims[id]["verdict"] != verdict:
            bad.append(f"verdict: “{claims[id]['verdict']}” in the file, “{verdict}” here")
        checked += len(numbers)
        wrong += len(bad)
        note = f", {len(taken)} taken as they are" if taken else ""
        print(f"{'ok ' if not bad else 'BAD'} {id}: {len(numbers)} numbers{note}; {verdict}")
        for line in bad:
            print(f"      {line}")
    others = [id for id in claims if id not in [id for _, id, _, _ in judged]]
    print(f"{checked} numbers and {len(judged)} verdicts computed again, {wrong} disagree; "
          f"not computed again: {', '.join(others) or 'none'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
