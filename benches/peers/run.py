#!/usr/bin/env python3
"""Compares oneway with a NumPy reference and with other packages, on the same work and data, in one run.

usage: run.py [--repeats N]

Makes the environments that it needs in out/peers, checks that all compute the same, times them in turn, prints the
ratios and writes out/bench-peers.json. Exit code 1 if curves disagree.
"""

import argparse
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OUT = ROOT / "out" / "peers"
RELATIVE, ABSOLUTE = 1e-9, 1e-14  # curves agree to the first, or to the second where they are zero but for rounding
GOAL = {("NumPy", "off"): 15, ("NumPy", "on"): 10, ("decent-bench", "off"): 300}
# what is timed of oneway, in words, and which of the peer's it is held against
WORK = {"off": ("metrics off", "off"), "on": ("metrics every 10", "on"), "on_one_thread": (".. one thread", "on")}
# NumPy as one would write it: stacked matrices, SciPy's sparse mixing, every state measured when it comes
REFERENCE = {"off": "plain, sparse mixing", "on": "1 states a pass"}


class Skip(Exception):
    """Why a peer cannot be run here."""


def output(command, **options):
    """Standard output of a command that must succeed; what it says on standard error goes to ours."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, **options).stdout


# ---------------------------------------------------------------------------------------------------- who runs


def write_data():
    """a9a beside the environments, as oneway has it."""
    for split in ["train", "test"]:
        rows = output(["cargo", "run", "--release", "--quiet", "-p", "oneway-lab", "--", "data", "export", "a9a",
                       "--split", split])
        path = OUT / f"a9a-{split}.txt"
        if not path.exists() or path.read_text(encoding="ascii") != rows:
            path.write_text(rows, encoding="ascii")


def oneway():
    """The path of the built bench; the data beside the environments."""
    write_data()
    built = output(["cargo", "bench", "--quiet", "-p", "oneway", "--bench", "peers", "--no-run",
                    "--message-format=json"])
    messages = [json.loads(line) for line in built.splitlines()]
    return next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "peers")


def python(least):
    """A Python that is new enough: the one that runs this, one on the path, or pyenv's."""
    if sys.version_info >= least:
        return sys.executable
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in range(least[1], least[1] + 3):
        for path in [shutil.which(f"python3.{minor}"), *versions.glob(f"3.{minor}.*/bin/python3")]:
            # pyenv puts names on the path that it then refuses to run
            if path and subprocess.run([path, "-c", "import venv"], capture_output=True).returncode == 0:
                return path
    raise Skip(f"it needs Python {least[0]}.{least[1]}, which is not on the path and not in pyenv")


def environment(name, least):
    """The folder with the executables of an environment that has what requirements-NAME.txt says."""
    folder, wanted = OUT / f"venv-{name}", (HERE / f"requirements-{name}.txt").read_text(encoding="ascii")
    stamp = folder / "installed.txt"
    if not stamp.exists() or stamp.read_text(encoding="ascii") != wanted:
        base = python(least)
        print(f"installing {', '.join(wanted.split())} …", file=sys.stderr)
        subprocess.run([base, "-m", "venv", "--clear", folder], check=True)
        pip = [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-r",
               HERE / f"requirements-{name}.txt"]
        installed = subprocess.run(pip, capture_output=True, text=True)
        if installed.returncode:
            raise Skip("pip cannot install it: " + (installed.stderr.strip().splitlines() or ["no reason given"])[-1])
        stamp.write_text(wanted, encoding="ascii")
    return folder / "bin"


class Peer:
    """A script of this folder in an environment of its own, and oneway's run of equal or like work."""

    def __init__(self, name, script, least, against, curve_rounds=200, processes=1):
        self.name, self.against, self.curve_rounds = name, against, curve_rounds
        bin = environment(name.lower(), least)
        launcher = [bin / "mpiexec", "-n", str(processes)] if processes > 1 else []
        self.command = [*launcher, bin / "python", HERE / script]

    def ask(self, task, number, threads=None):
        chosen = {} if threads is None else {"OPENBLAS_NUM_THREADS": str(threads)}
        return json.loads(output([*self.command, task, OUT, str(number)], env=os.environ | chosen, timeout=600))


def peers():
    """All that can be made ready here; a line for each that cannot."""
    wanted = [
        dict(name="NumPy", script="numpy_reference.py", least=(3, 11), against="smtpp"),
        dict(name="decent-bench", script="decent_bench_peer.py", least=(3, 13), against="push-pull"),
        dict(name="disropt", script="disropt_peer.py", least=(3, 11), against="push-pull", curve_rounds=20,
             processes=20),
    ]
    ready = []
    for peer in wanted:
        try:
            ready.append(Peer(**peer))
        except Skip as reason:
            print(f"skipped {peer['name']}: {reason}")
    return ready


# ---------------------------------------------------------------------------------------------------- what they say


def farthest(ours, theirs):
    """(largest difference over what is allowed, where) of a peer's columns and ours."""
    worst = (0.0, "")
    for mode, columns in theirs.items():
        for name, column in columns.items():
            mine = ours[mode].get(name, [0.0] * len(column))  # disropt says a difference, which must be none
            assert len(mine) == len(column), f"{mode} {name}: {len(mine)} points and {len(column)}"
            for a, b in zip(mine, column):
                share = abs(a - b) / max(RELATIVE * max(abs(a), abs(b)), ABSOLUTE)
                worst = max(worst, (math.inf if math.isnan(share) else share, f"{mode} {name}"))
    return worst


def agree(executable, all_peers):
    """Prints how far the curves are apart; those that could be compared, and whether they all agree."""
    print(f"curves, full batches and batch 1: the same to {RELATIVE:g} of their size, or to {ABSOLUTE:g}?")
    good, compared = True, []
    for peer in all_peers:
        ours = json.loads(output([executable, "curves", peer.against, str(peer.curve_rounds)]))
        try:
            share, where = farthest(ours, peer.ask("curves", peer.curve_rounds))
        except subprocess.SubprocessError as error:
            print(f"  skipped {peer.name}, which does not run here: {error}")
            good &= peer.name != "NumPy"  # the one that must be there
            continue
        good &= share <= 1
        compared.append(peer)
        print(f"  {'ok ' if share <= 1 else 'BAD'} {peer.name}: at most {share:.1e} of that apart ({where})")
    return good, compared


def timed(executable, all_peers, repeats):
    """{who: {kind: {variant: seconds of every run}}}, everyone in turn, so that noise hits all."""
    seconds = {}

    def add(who, more, suffix=""):
        for kind, variants in more.items():
            for variant, values in variants.items():
                seconds.setdefault(who, {}).setdefault(kind, {}).setdefault(variant + suffix, []).extend(values)

    for turn in range(repeats):
        for peer in all_peers:
            if peer.name == "disropt" and turn:
                continue  # once: it takes all cores for seconds
            ours = json.loads(output([executable, "time", peer.against, "5"]))
            add(peer.against, {kind: {"": values} for kind, values in ours.items()})
            if peer.name == "NumPy":
                add(peer.name, peer.ask("time", 2, threads=1), ", one BLAS thread")
                add(peer.name, peer.ask("time", 2), ", default threads")
            else:
                add(peer.name, peer.ask("time", 2))
    return seconds


def fastest(variants):
    """(name, seconds of its runs) of the variant with the best run."""
    return min(variants.items(), key=lambda item: min(item[1]))


def ratios(all_peers, seconds):
    """A row for each kind of work: against a peer's reference, and against the best that could be made of it."""
    for peer in all_peers:
        for kind, (work, theirs) in WORK.items():
            variants = seconds[peer.name].get(theirs)
            if not variants:
                continue
            reference = {name: runs for name, runs in variants.items() if name.startswith(REFERENCE[theirs])}
            for which, among in [("reference", reference), ("fastest", variants)]:
                if among:
                    yield ratio(peer, kind, work, which, *fastest(among), fastest(seconds[peer.against][kind])[1])


def ratio(peer, kind, work, which, variant, theirs, ours):
    best = [1e6 * min(values) for values in [ours, theirs]]
    median = [1e6 * statistics.median(values) for values in [ours, theirs]]
    return {"peer": peer.name, "which": which, "variant": variant, "against": peer.against, "work": work,
            "oneway_us": best[0], "peer_us": best[1], "ratio": best[1] / best[0],
            "oneway_us_median": median[0], "peer_us_median": median[1], "ratio_of_medians": median[1] / median[0],
            "goal": GOAL.get((peer.name, kind))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="how often everyone has a turn")
    repeats = parser.parse_args().repeats
    OUT.mkdir(parents=True, exist_ok=True)
    executable = oneway()
    good, all_peers = agree(executable, peers())
    seconds = timed(executable, all_peers, repeats)
    rows = list(ratios(all_peers, seconds))
    print("\nµs a round, best and median of all runs; ratio of the bests, of the medians")
    print(f"{'peer':<13} {'work':<17} {'oneway':>15} {'peer':>17} {'ratio':>13}  goal")
    for row in rows:
        goal = row["goal"] and f"≥ {row['goal']}: {'reached' if row['ratio'] >= row['goal'] else 'missed'}"
        print(f"{row['peer']:<13} {row['work']:<17} {row['oneway_us']:>7.2f} {row['oneway_us_median']:>7.2f} "
              f"{row['peer_us']:>8.1f} {row['peer_us_median']:>8.1f} {row['ratio']:>6.1f} "
              f"{row['ratio_of_medians']:>6.1f}  {goal or '':<15}  ({row['which']}: {row['variant']}; {row['against']})")
    result = {"ratios": rows, "seconds_a_round": seconds}
    (ROOT / "out" / "bench-peers.json").write_text(json.dumps(result, indent=1, ensure_ascii=False), encoding="utf-8")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
