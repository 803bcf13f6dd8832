"""The notebook and the character model run, and learn."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import pytest
from conftest import needs

torch: Any = needs("torch", "torch")
ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "python" / "examples" / "neural.ipynb"


def test_the_notebook_runs_and_links_are_what_teaches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    found: dict[str, Any] = {"__name__": "notebook"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
            exec(compile("".join(cell["source"]), f"{NOTEBOOK.name}, cell {number}", "exec"), found)
    assert all(run.history[-1]["accuracy"] > 0.9 for run in found["runs"].values())
    assert found["alone"].history[-1]["accuracy"] < 0.6
    assert float(found["share"]) == found["runs"]["smtpp"].history[-1]["accuracy"]
    assert len(found["axes"].get_lines()) == 4
    plt.close("all")


@pytest.mark.parametrize(("method", "step"), [("smtpp-muon", "0.05"), ("smtpp-adam", "0.02")])
def test_the_character_model_learns_over_one_way_links(
    method: str, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    torch.set_num_threads(1)
    file = ROOT / "benches" / "neural" / "shakespeare.py"
    spec = importlib.util.spec_from_file_location("shakespeare_bench", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    last = module.main(["--small", "--method", method, "--step", step])
    said = capsys.readouterr().out.splitlines()
    rows = [json.loads(line) for line in said if line.startswith('{"round"')]
    assert [row["round"] for row in rows] == [20, 40, 60, 80, 100]
    # guessing any of the letters is log(letters), above 4; knowing how often each comes is 3.3
    assert last["loss"] < rows[0]["loss"]
    assert last["loss"] < 3.0
    assert max(last["agents_loss"]) < 3.0
    assert math.isfinite(last["consensus"])
