"""Every ```python block of the pages runs as printed; a ```text block after it is what it prints.

Which pages and blocks there are is said by scripts/docs/documents.py, the same for all languages.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import needs

pytest.importorskip("matplotlib").use("Agg")
ROOT = Path(__file__).resolve().parents[2]
OPTIONAL = (
    "jax",
    "torch",
)  # a block that imports one of them is left out where it is not installed, unless ONEWAY_REQUIRES has it


def documents() -> Any:
    """The module that knows the pages."""
    path = ROOT / "scripts" / "docs" / "documents.py"
    spec = importlib.util.spec_from_file_location("documents", path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["documents"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


DOCUMENTS = documents()


def blocks(page: Path) -> list[Any]:
    """The blocks of a page that are run."""
    found = (block for block in DOCUMENTS.blocks(page) if block.language == "python")
    return [block for block in found if "not run" not in block.instructions]


PAGES = [page for page in DOCUMENTS.pages() if blocks(page)]


def missing(code: str) -> bool:
    """Whether a block needs what is not installed here and need not be."""
    required = os.environ.get("ONEWAY_REQUIRES", "").split()
    needed = [name for name in OPTIONAL if re.search(rf"^(import|from) {name}\b", code, re.MULTILINE)]
    return any(name not in required and importlib.util.find_spec(name) is None for name in needed)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_blocks_run_as_printed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    for block in blocks(page):
        if missing(block.code):
            continue
        # tracebacks have the page's lines
        program = compile("\n" * (block.line - 1) + block.code, str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(program, namespace)
        assert block.after is None or printed.getvalue() == block.after, (
            f"{block.place}: it prints\n{printed.getvalue()}"
        )
    plt.close("all")


def test_the_pages_that_should_have_blocks_do() -> None:
    names = {str(page.relative_to(ROOT)) for page in PAGES}
    assert names >= {"README.md", "python/README.md", "docs/python.md", "docs/tutorials/own-method-python.md"}


def test_the_reference_is_what_the_docstrings_say() -> None:
    needs("torch", "torch")  # the page has oneway.torch
    script = [sys.executable, ROOT / "scripts" / "python-reference.py", "-"]
    made = subprocess.run(script, capture_output=True, check=True).stdout.decode()
    assert made == (ROOT / "docs" / "python-api.md").read_text(encoding="utf-8"), (
        "run scripts/python-reference.py"
    )
