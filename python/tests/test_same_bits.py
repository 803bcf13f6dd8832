"""A run that Python drives has the bits of the command line's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import command

import oneway as ow

HEAD = """
[problem]
kind = "logistic"
dataset = "a9a"
[run]
agents = 6
iterations = 40
repetitions = 2
seed = 9
[[topology]]
name = "{topology}"
kind = "{topology}"
"""


def from_command(
    folder: Path, topology: str, names: list[str]
) -> tuple[dict[tuple[str, str, int], str], str]:
    text = HEAD.format(topology=topology)
    for name in names:
        text += f'[[method]]\nname = "{name}"\nkind = "{name}"\nstep = {{ size = 0.02 }}\n'
    (folder / "file.toml").write_text(text, encoding="utf-8")
    ran = command("run", "file.toml", "--out", "out", "--no-report", at=folder)
    assert ran.returncode == 0, ran.stderr
    summary = json.loads((folder / "out" / "summary.json").read_text(encoding="utf-8"))
    hashes = {
        (cell["topology"], cell["method"], cell["repetition"]): cell["state_hash"]
        for cell in summary["cells"]
    }
    return hashes, (folder / "out" / "curves.csv").read_text(encoding="utf-8")


def from_python(topology: str, names: list[str]) -> ow.Result:
    problem = ow.problems.logistic(dataset="a9a")
    return ow.run(problem, topology, names, agents=6, step=0.02, iterations=40, repetitions=2, seed=9)


@pytest.mark.parametrize("topology", ["exponential", "complete"])
def test_all_methods_have_the_hashes_and_curves_of_the_command_line(tmp_path: Path, topology: str) -> None:
    runs, refused = [], {}
    for name in ow.methods():
        try:
            ow.run(ow.problems.logistic(dataset="a9a"), topology, name, agents=6, step=0.02, iterations=1)
            runs.append(name)
        except ValueError as error:
            refused[name] = str(error)
    assert len(runs) >= 35, refused
    hashes, curves = from_command(tmp_path, topology, runs)
    result = from_python(topology, runs)
    assert result.state_hash == hashes
    assert result.to_csv() == curves
    for name, said in refused.items():  # what the one refuses the other does, in the same words
        (tmp_path / "one.toml").write_text(
            HEAD.format(topology=topology) + f'[[method]]\nkind = "{name}"\nstep = {{ size = 0.02 }}\n',
            encoding="utf-8",
        )
        ran = command("run", "one.toml", "--no-report", at=tmp_path)
        assert ran.returncode == 2
        assert said in ran.stderr


def test_a_file_is_run_as_the_command_line_runs_it(tmp_path: Path) -> None:
    hashes, _ = from_command(tmp_path, "ring", ["smtpp", "sgp"])
    assert ow.run(tmp_path / "file.toml").state_hash == hashes
    other = ow.run(tmp_path / "file.toml", set={"run.seed": 10, "method.sgp.step.size": 0.05})
    assert not set(other.state_hash.values()) & set(hashes.values())
    with pytest.raises(ValueError, match="a file says all itself: change iterations"):
        ow.run(tmp_path / "file.toml", iterations=5)


def test_a_saved_run_can_be_verified_and_shown(tmp_path: Path) -> None:
    result = from_python("ring", ["smtpp"])
    page = result.report(tmp_path / "out")
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert ow.verify(tmp_path / "out") == []
    curves = tmp_path / "out" / "curves.csv"
    curves.write_text(curves.read_text(encoding="utf-8").replace(",1,", ",2,", 1), encoding="utf-8")
    assert any("changed since it was written" in what for what in ow.verify(tmp_path / "out"))


def test_finished_runs_are_kept_in_a_folder(tmp_path: Path) -> None:
    def again(**more: object) -> ow.Result:
        return ow.run(
            ow.problems.quadratic(dim=2),
            "ring",
            "smtpp",
            agents=3,
            step=0.1,
            iterations=50,
            out=tmp_path / "out",
            **more,
        )

    first = again()
    kept = sorted((tmp_path / "out" / "cells").iterdir())
    times = [path.stat().st_mtime_ns for path in kept]
    assert again().state_hash == first.state_hash
    assert [path.stat().st_mtime_ns for path in kept] == times
    again(fresh=True)
    assert [path.stat().st_mtime_ns for path in kept] != times


def test_single_precision_says_so() -> None:
    result = ow.run(
        ow.problems.quadratic(dim=3), "ring", "smtpp", agents=4, step=0.1, iterations=20, precision="f32"
    )
    assert str(result.state_hash).startswith("f32:")


def test_threads_change_no_bit() -> None:
    hashes = [
        ow.run(
            ow.problems.quadratic(dim=40_000), "ring", "smtpp", agents=4, step=0.1, iterations=5, threads=t
        ).state_hash
        for t in (1, 2)
    ]
    assert hashes[0] == hashes[1]
