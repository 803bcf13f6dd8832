#!/usr/bin/env python3
"""Checks claims.json by an independent computation.

usage: check-claims.py DIR_MSR DIR_EXP CLAIMS_JSON [DIR_EQUAL]

Every number that comes from curves is computed again from curves.csv, and so is the verdict. The error floors are
computed again from the discrete Lyapunov equation, and the stability limits from the eigenvalues of the 3n x 3n matrix
of a round: no simulation in either. DIR_EQUAL, if given, has the results of

    oneway run experiments/paper/multi-sub-ring.toml --out DIR_EQUAL \\
        --set method.SMTPP.step.size=0.2 --set "method.SMTPP (trees).step.size=0.2"

and is what the numbers "one step: ..." are computed from; without it they are taken as they are.
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

    def first_below(self, method, name, target):
        reached = [int(np.flatnonzero(loss <= target)[0]) for loss in self.column(method, "loss")]
        if name == "iteration":
            return self.iterations[reached].astype(float)
        return self.column(method, name)[np.arange(len(reached)), reached]

    def window(self, first, last):
        return (self.iterations >= first) & (self.iterations <= last)

    def excess(self, method, best):
        return (self.column(method, "loss")[:, self.window(50, 300)] - best).mean(axis=1)

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
    """Surely lower in half of the places or more, and surely higher in none."""
    answers = [negative(i) for i in intervals]
    if "no" in answers:
        return "no"
    return "yes" if 2 * answers.count("yes") >= len(answers) else "unclear"


def plain(answer):
    return {"yes": "holds", "no": "does not hold", "unclear": "undecided"}[answer]


def both_ways(full, trees):
    if full == trees:
        return plain(full)
    rest = {"no": "it does not", "unclear": "it is undecided"}
    if full == "yes":
        return f"holds only if SMTPP uses the full digraph; on trees {rest[trees]}"
    if trees == "yes":
        return f"holds only if SMTPP uses trees; on the full digraph {rest[full]}"
    return "undecided"


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


def given_one_step(claim, method):
    """The intervals of `one step:` as they stand in the file, for want of the runs."""
    known = dict(claim["numbers"])
    labels = [label for label in known if label.startswith(f"one step: ln({method}/")]
    return [(known[label], known["one step: ± " + label[len("one step: "):]]) for label in labels]


def move_signs(numbers):
    """`one step:` comes before the sign in the file."""
    for label in [label for label in numbers if label.startswith("± one step: ")]:
        numbers["one step: ± " + label[len("± one step: "):]] = numbers.pop(label)


def curve_claims(sparse, dense, equal, claims):
    """(id, numbers, verdict) of every claim about curves."""
    graphs = [("multi-sub-ring", sparse), ("exponential", dense)]

    numbers, answers = Numbers(), {}
    for method in [SMTPP, TREES, STPP, SGP, DIGING]:
        places = [(f"ln(sparse/dense) of loss at {k}, {method}",
                   interval(sparse.at(method, "loss", k), dense.at(method, "loss", k))) for k in ENDS]
        answers[method] = every(within(numbers.put(*place), 0.01) for place in places)
    yield "robust-sparse-dense", numbers, both_ways(answers[SMTPP], answers[TREES])

    numbers = Numbers()
    for graph, runs in graphs:
        for method in [SMTPP, TREES]:
            numbers[f"largest ‖v̄ − m̄‖, {method}, {graph}"] = runs.column(method, "conservation_error").max()
    yield "lemma-2", numbers, plain("yes" if max(numbers.values()) <= 1e-12 else "no")

    numbers, answers = Numbers(), []
    for graph, runs in graphs:
        target = numbers[f"target loss, {graph}"] = 1.02 * runs.best()
        floats = {m: runs.first_below(m, "floats_sent", target) for m in [TREES, SGP, DIGING]}
        for m, sent in floats.items():
            numbers[f"floats a round, {m}, {graph}"] = runs.at(m, "floats_sent", 900).mean() / 900
            numbers[f"floats to target, {m}, {graph}"] = sent.mean()
        answers.append(every(
            negative(numbers.put(f"ln({TREES}/{m}) of floats to target, {graph}", interval(floats[TREES], floats[m])))
            for m in [SGP, DIGING]))
    on_sparse, on_dense = answers
    verdict = plain(on_sparse) if on_sparse == on_dense else "undecided"
    if on_sparse == "yes" != on_dense:
        verdict = "holds only if the graph is sparse (Multi-Sub-Ring)"
    elif on_dense == "yes" != on_sparse:
        rest = "it does not" if on_sparse == "no" else "it is undecided"
        verdict = f"holds only if the graph is dense (exponential); on Multi-Sub-Ring {rest}"
    yield "fewer-links", numbers, verdict

    numbers = Numbers()
    target = numbers["target loss"] = 1.02 * sparse.best()
    taken = {m: sparse.first_below(m, "iteration", target) for m in [STPP, CSGDM, SGP, DIGING]}
    numbers.update({f"iterations to target, {m}": k.mean() for m, k in taken.items()})
    yield "push-sum-slow", numbers, plain(every(
        negative(numbers.put(f"ln({a}/{b}) of iterations to target", interval(taken[a], taken[b])))
        for a in [STPP, CSGDM] for b in [SGP, DIGING]))

    for id, other in [("better-than-stpp", STPP), ("better-than-sgp", SGP), ("better-than-push-diging", DIGING)]:
        numbers = Numbers()
        given = both_ways(*(lower(plateau_ends(numbers, sparse, m, other)) for m in [SMTPP, TREES]))
        if equal:
            one = both_ways(*(lower(plateau_ends(numbers, equal, m, other, "one step: ")) for m in [SMTPP, TREES]))
            move_signs(numbers)
        else:
            one = both_ways(*(lower(given_one_step(claims[id], m)) for m in [SMTPP, TREES]))
        if not given.startswith("holds") and one.startswith("holds"):
            way = one.removeprefix("holds").removeprefix(" only if ")
            given = "holds only if all take the same step" + (f" and {way}" if way else "")
        yield id, numbers, given

    numbers = Numbers()
    given = both_ways(*(lower(variations(numbers, sparse, m, WINDOWS)) for m in [SMTPP, TREES]))
    if equal:
        one = both_ways(*(lower(variations(numbers, equal, m, WINDOWS[:1], "one step: ")) for m in [SMTPP, TREES]))
        move_signs(numbers)
    else:
        one = both_ways(*(lower(given_one_step(claims["damped-oscillations"], m)) for m in [SMTPP, TREES]))
    if given == "holds" != one:
        rest = {"does not hold": "it does not", "undecided": "it is undecided"}.get(one) or one.removeprefix("holds ")
        given = f"holds only if SMTPP takes a smaller step than the others; with the same step {rest}"
    yield "damped-oscillations", numbers, given

    numbers, answers = Numbers(), []
    best = numbers["best final loss"] = sparse.best()
    central = sparse.excess(CSGDM, best)
    numbers["mean excess loss, CSGDM"] = central.mean()
    for m in [SMTPP, TREES]:
        near = [within(numbers.put(f"ln({m}/CSGDM) of loss at {k}",
                                   interval(sparse.at(m, "loss", k), sparse.at(CSGDM, "loss", k))), 0.01)
                for k in ENDS]
        own = sparse.excess(m, best)
        numbers[f"mean excess loss, {m}"] = own.mean()
        near.append(within(numbers.put(f"ln({m}/CSGDM) of mean excess loss", interval(own, central)), math.log(1.1)))
        answers.append(every(near))
    yield "comparable-multi-sub-ring", numbers, both_ways(*answers)

    numbers = Numbers()
    yield "stpp-gap-exponential", numbers, plain(lower(plateau_ends(numbers, dense, CSGDM, STPP)))

    numbers, answers = Numbers(), []
    for m in [SMTPP, TREES]:
        near = []
        for quantity, margin in [("loss", 0.01), ("‖∇F‖²", math.log(10) / 10)]:
            intervals = [interval(dense.at(m, COLUMN[quantity], k), dense.at(CSGDM, COLUMN[quantity], k))
                         for k in dense.iterations[dense.iterations >= 50]]
            near += [within(i, margin) for i in intervals]
            numbers.put(f"ln({m}/CSGDM) of {quantity}, where largest", max(intervals, key=lambda i: abs(i[0])))
        answers.append(every(near))
    yield "overlap-exponential", numbers, both_ways(*answers)


# ---------------------------------------------------------------------------------------------------- studies


def study_claims(n=20, step=0.1, momenta=(0.05, 0.1, 0.2, 0.4, 0.8)):
    """(id, numbers, verdict) of the claims about floors and steps, from matrices alone."""
    edges = {"multi-sub-ring": flower(n, 4), "exponential": exponential(n)}
    numbers, table = {}, {}
    for graph in edges:
        table[graph] = np.array([floors(full(n, edges[graph]), momentum, step) for momentum in momenta])
        for momentum, row in zip(momenta, table[graph]):
            for name, value in zip(["floor at x̄/σ²", "floor at the agents/σ²", "tracking error/σ²"], row):
                numbers[f"{name}, {graph}, λ = {momentum}"] = value
        for name, column in zip(["floor at x̄", "floor at the agents", "tracking error"], table[graph].T):
            numbers[f"exponent of λ, {name}, {graph}"] = exponent(momenta, column)
    least = {name: min(numbers[f"exponent of λ, {name}, {graph}"] for graph in edges)
             for name in ["floor at x̄", "floor at the agents", "tracking error"]}
    if min(least["floor at x̄"], least["floor at the agents"]) >= 1.75:
        verdict = "holds"
    elif least["tracking error"] >= 1.75:
        verdict = "holds only if the floor is that of the tracking error; that of ‖∇F‖² does not go as λ²"
    else:
        verdict = "does not hold"
    yield "floor-lambda-squared", numbers, verdict

    ratio = table["multi-sub-ring"][1] / table["exponential"][1]
    numbers = {"floor sparse/dense at x̄, λ = 0.1": ratio[0], "floor sparse/dense at the agents, λ = 0.1": ratio[1]}
    same = [1 / 1.1 <= r <= 1.1 for r in ratio[:2]]
    verdict = {
        (True, True): "holds",
        (True, False): "holds only if the error is that of the weighted average x̄; that of the agents' own models "
                       "depends on the graph",
        (False, True): "holds only if the error is that of the agents' own models",
        (False, False): "does not hold",
    }[tuple(same)]
    yield "decoupled-from-connectivity", numbers, verdict

    numbers = {}
    for graph in edges:
        for kind, build in [("trees", trees), ("full", full)]:
            for name, momentum in [("SMTPP", 0.1), ("Push-Pull", 1.0)]:
                numbers[f"largest η·c_π·h, {name}, {graph}, {kind}"] = limit(build(n, edges[graph]), momentum)
    larger = {kind: "yes" if numbers[f"largest η·c_π·h, SMTPP, multi-sub-ring, {kind}"]
              >= 1.05 * numbers[f"largest η·c_π·h, Push-Pull, multi-sub-ring, {kind}"] else "no"
              for kind in ["full", "trees"]}
    yield "larger-steps", numbers, both_ways(larger["full"], larger["trees"])

    sizes = [5, 10, 20, 40]
    by_size = [floors(full(k, exponential(k)), 0.1, step)[0] for k in sizes]
    numbers = {f"floor at x̄/σ², n = {k}": value for k, value in zip(sizes, by_size)}
    numbers["exponent of n"] = exponent(sizes, by_size)
    yield "linear-speed-up", numbers, plain("yes" if abs(numbers["exponent of n"] + 1) <= 0.1 else "no")


# ---------------------------------------------------------------------------------------------------- compare


def agrees(ours, theirs, exact, label):
    if exact:
        return math.isclose(ours, theirs, rel_tol=1e-9, abs_tol=1e-13)
    if label.startswith("exponent"):  # an expectation against a simulation; noise is shared over λ, but not over n
        return abs(ours - theirs) <= (0.05 if label == "exponent of n" else 0.03)
    return math.isclose(ours, theirs, rel_tol=0.01 if label.startswith("largest") else 0.08)


def main(arguments):
    if len(arguments) not in (3, 4):
        sys.exit(__doc__)
    with open(arguments[2], encoding="utf-8") as file:
        claims = {claim["id"]: claim for claim in json.load(file)}
    sparse, dense = Runs(arguments[0]), Runs(arguments[1])
    equal = Runs(arguments[3]) if len(arguments) == 4 else None
    wrong = checked = 0
    judged = [(True, *claim) for claim in curve_claims(sparse, dense, equal, claims)]
    judged += [(False, *claim) for claim in study_claims()]
    for exact, id, numbers, verdict in judged:
        theirs = dict(claims[id]["numbers"]) if id in claims else {}
        missing = [label for label in theirs if label not in numbers]
        taken = [label for label in missing if label.startswith("one step: ") or not exact and label.startswith("± ")]
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
