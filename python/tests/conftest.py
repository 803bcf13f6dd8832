"""What the tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def command(*arguments: object, at: Path) -> subprocess.CompletedProcess[str]:
    """Run the command of the wheel."""
    environment = {**os.environ, "NO_COLOR": "1"}
    line = [sys.executable, "-m", "oneway", *map(str, arguments)]
    return subprocess.run(
        line, cwd=at, env=environment, capture_output=True, text=True, check=False, timeout=300
    )


def needs(module: str, what: str) -> object:
    """Import a module. Without it the test fails where ONEWAY_REQUIRES names `what`, and is skipped
    elsewhere.
    """
    if what in os.environ.get("ONEWAY_REQUIRES", "").split():
        __import__(module)
        return sys.modules[module]
    return pytest.importorskip(module, reason=f"{module} is not installed")
