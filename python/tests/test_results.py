"""What a result is and shows."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from conftest import command
from matplotlib.figure import Figure

import oneway as ow

mpl.use("Agg")


@pytest.fixture(scope="module")
def result() -> ow.Result:
    problem = ow.problems.quadratic(dim=4, noise=0.3)
    return ow.run(
        problem, ["ring", "exponential"], ["smtpp", "sgp"], agents=5, step=0.05, iterations=60, repetitions=3
    )


def test_curves_are_those_of_the_csv(result: ow.Result) -> None:
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    curves = result.curves
    assert len(rows) == len(curves["loss"]) == 2 * 2 * 3 * 7
    for name in ("loss", "grad_norm_sq", "consensus_error", "loss_gap"):
        np.testing.assert_array_equal(curves[name], [float(row[name]) for row in rows])
    assert curves["method"].tolist() == [row["method"] for row in rows]


def test_frames_of_all_kinds_have_the_same_columns(result: ow.Result) -> None:
    pandas, polars, arrow = result.to_pandas(), result.to_polars(), result.to_arrow()
    assert list(pandas.columns) == polars.columns == arrow.column_names
    assert pandas["loss"].tolist() == polars["loss"].to_list() == arrow["loss"].to_pylist()
    assert pandas.groupby("method")["loss"].count()["smtpp"] == 42


def test_final_values_are_means_with_standard_errors(result: ow.Result) -> None:
    row = next(row for row in result.final if (row["topology"], row["method"]) == ("ring", "smtpp"))
    last = [result.curve("smtpp", "ring", repetition)["loss"][-1] for repetition in range(3)]
    assert row["loss"] == pytest.approx(np.mean(last))
    assert row["loss_stderr"] == pytest.approx(np.std(last, ddof=1) / np.sqrt(3))
    assert "smtpp" in repr(result)
    assert " ± " in repr(result)


def test_a_curve_that_is_not_there_is_named(result: ow.Result) -> None:
    with pytest.raises(KeyError, match="smtpp on ring"):
        result.curve("adam")
    with pytest.raises(KeyError, match="2 runs have this name"):
        result.curve("smtpp")


def test_a_plot_has_a_line_and_a_band_for_each_method(result: ow.Result) -> None:
    axes = result.plot("grad_norm_sq", topology="ring")
    assert [line.get_label() for line in axes.get_lines()] == ["smtpp", "sgp"]
    assert axes.get_lines()[0].get_color() == "#0072b2"
    assert len(axes.collections) == 2
    assert axes.get_yscale() == "log"
    mpl.pyplot.close("all")
    by_bytes = result.plot(x="bytes_sent", topology="exponential", methods=["sgp"], band=False)
    assert len(by_bytes.get_lines()) == 1
    mpl.pyplot.close("all")
    for wrong in ({"quantity": "los"}, {}, {"topology": "ring", "methods": ["adam"]}):
        with pytest.raises(ValueError, match="give"):
            result.plot(**wrong)


def test_it_shows_itself_in_a_notebook(result: ow.Result) -> None:
    shown = result._repr_html_()
    assert shown.count("<tr>") == 5
    assert shown.count("<polyline") == 8
    assert "#0072b2" in shown
    named = ow.run(ow.problems.quadratic(dim=2), {"<b>": "ring"}, "smtpp", agents=3, step=0.1, iterations=5)
    assert "<b>" not in named._repr_html_()
    assert "&lt;b&gt;" in named._repr_html_()


def test_a_diverged_run_has_no_final_values_but_a_curve() -> None:
    result = ow.run(ow.problems.quadratic(dim=2), "ring", "push-pull", agents=4, step=50.0, iterations=2000)
    assert result.final[0]["status"] == "diverged"
    assert "loss" not in result.final[0]
    assert len(result.curves["loss"]) > 1
    assert "diverged" in repr(result)


def test_certify_says_what_the_command_line_says(tmp_path: Path) -> None:
    text = '[problem]\nkind = "quadratic"\ndim = 2\nnoise = 0.1\n[run]\nagents = 4\niterations = 50\n'
    text += '[[topology]]\nkind = "ring"\n[[method]]\nkind = "smtpp"\nstep = { size = 0.05 }\n'
    (tmp_path / "file.toml").write_text(text, encoding="utf-8")
    ran = command("certify", "file.toml", "--rounds", 0, "--json", at=tmp_path)
    assert ran.returncode == 0, ran.stderr
    problem = ow.problems.quadratic(dim=2, noise=0.1)
    assert ow.certify(problem, "ring", "smtpp", agents=4, step=0.05, iterations=50, rounds=0) == json.loads(
        ran.stdout
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"step": None}, "step"),
        ({"iterations": 0}, "`iterations` = 0 is not possible"),
        ({"agents": None}, "agents= is missing"),
        ({"topology": None}, "topology= is missing"),
        ({"methods": []}, "methods is empty"),
        ({"step": -0.1}, "step"),
        ({"methods": {"kind": "smtpp", "momentun": 0.1}}, "did you mean `momentum`"),
        ({"precision": "f16"}, "f16"),
        ({"set": {"run.iteratons": 3}}, "iteratons"),
        ({"threads": 0}, "."),
    ],
)
def test_runs_that_cannot_be(given: dict[str, object], message: str) -> None:
    asked: dict[str, object] = {
        "topology": "ring",
        "methods": "smtpp",
        "agents": 4,
        "step": 0.1,
        "iterations": 5,
        **given,
    }
    with pytest.raises(ValueError, match=message):
        ow.run(ow.problems.quadratic(dim=2), asked.pop("topology"), asked.pop("methods"), **asked)


def test_files_that_are_not_there_are_file_errors() -> None:
    with pytest.raises(FileNotFoundError):
        ow.run("nowhere.toml")
    with pytest.raises(TypeError, match="a int is no problem"):
        ow.run(3, "ring", "smtpp", agents=3, step=0.1, iterations=5)


def test_figures_and_tables_are_those_of_the_command(result: ow.Result, tmp_path: Path) -> None:
    drawn = result.figures(tmp_path / "here", y="loss", band="se", preset="ieee", format=["svg", "csv"])
    saved = result.save(tmp_path / "saved")
    choices = ["--y=loss", "--band=se", "--preset=ieee", "--format=svg,csv"]
    assert command("plot", saved, "--out=there", *choices, at=tmp_path).returncode == 0
    there = sorted((tmp_path / "there").iterdir())
    assert [path.name for path in drawn] == [path.name for path in there]
    assert [path.read_bytes() for path in drawn] == [path.read_bytes() for path in there]
    assert result.figures(tmp_path / "here", y="loss", format="svg")  # once more, over the first
    assert result.table(y="loss", format="csv").count("smtpp") == 2  # on each topology
    with pytest.raises(ValueError, match="unknown quantity `nonsense`"):
        result.table(y="nonsense")
    with pytest.raises(ValueError, match="unexpected argument '--colour'"):
        result.figures(tmp_path / "none", colour="red")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("band", ["minmax", "se", "quantiles"])
def test_a_band_holds_the_line_and_unknown_ones_are_refused(result: ow.Result, band: str) -> None:
    ax = result.plot(band=band, topology="ring", methods=["smtpp"], ax=Figure().subplots())  # type: ignore[arg-type]
    (line,), (area,) = ax.lines, ax.collections
    ends = area.get_paths()[0].vertices
    for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True):
        column = ends[ends[:, 0] == x, 1]
        assert column.min() <= y <= column.max()
    with pytest.raises(ValueError, match="give one of minmax, se, quantiles, none"):
        result.plot(band="wide", topology="ring")  # type: ignore[arg-type]
