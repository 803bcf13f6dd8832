"""Every ```python block of the pages runs as printed; a ```text block after it is what it prints."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("matplotlib").use("Agg")
ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "python/README.md", "docs/python.md")
OPTIONAL = (
    "jax",
    "torch",
)  # a block that imports one of them is left out where it is not installed, unless ONEWAY_REQUIRES has it
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<printed>.*?)^```\n)?", re.DOTALL | re.MULTILINE
)


def missing(code: str) -> bool:
    """Whether a block needs what is not installed here and need not be."""
    required = os.environ.get("ONEWAY_REQUIRES", "").split()
    needed = [name for name in OPTIONAL if re.search(rf"^(import|from) {name}\b", code, re.MULTILINE)]
    return any(name not in required and importlib.util.find_spec(name) is None for name in needed)


def blocks(page: Path) -> Iterator[tuple[int, str, str | None]]:
    """The line before each block, the block, and what it is said to print."""
    text = page.read_text(encoding="utf-8")
    for found in BLOCK.finditer(text):
        yield text.count("\n", 0, found.start("code")), found["code"], found["printed"]


@pytest.mark.parametrize("name", PAGES)
def test_blocks_run_as_printed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    for before, code, said in blocks(ROOT / name):
        if missing(code):
            continue
        program = compile("\n" * before + code, name, "exec")  # tracebacks have the page's lines
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, namespace)
        assert said is None or printed.getvalue() == said, (
            f"{name}, line {before}: it prints\n{printed.getvalue()}"
        )
    plt.close("all")


def test_pages_have_blocks() -> None:
    for name in PAGES[1:]:
        assert len(list(blocks(ROOT / name))) >= 3


def test_links_lead_somewhere() -> None:
    for name in PAGES[1:]:
        page = ROOT / name
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), f"{name}: {target}"


def test_the_reference_is_what_the_docstrings_say() -> None:
    script = [sys.executable, ROOT / "scripts" / "python-reference.py", "-"]
    made = subprocess.run(script, capture_output=True, check=True).stdout.decode()
    assert made == (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8"), (
        "run scripts/python-reference.py"
    )
