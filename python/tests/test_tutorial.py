"""The tutorial notebook runs, from its first cell to its last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "tutorial.ipynb"


def cells() -> list[dict[str, Any]]:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    found: list[dict[str, Any]] = notebook["cells"]
    return found


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "tutorial"}
    for number, cell in enumerate(cells()):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}, cell {number}", "exec"), namespace)
    lines = namespace["axes"].get_lines()
    assert [line.get_label() for line in lines] == namespace["methods"]
    assert len(lines) == 5
    assert namespace["mine"].state_hash == namespace["theirs"].state_hash
    assert all(
        row["status"] == "completed" and row["test_accuracy"] > 0.9 for row in namespace["result"].final
    )
    below, above = (cell["columns"]["grad_norm_sq"][-1] for cell in namespace["edge"].cells)
    assert below < 1e-12 < 1e3 < above
    assert namespace["limits"]["smtpp"] > 5 * namespace["limits"]["push-pull"]
    plt.close("all")


def test_the_tutorial_is_stored_without_outputs() -> None:
    for cell in cells():
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


def test_the_tutorial_is_a_valid_notebook() -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
    nbformat.validate(nbformat.read(NOTEBOOK, as_version=4))
