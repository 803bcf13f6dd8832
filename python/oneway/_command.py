"""The command line, for what it does with files."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def command(arguments: Sequence[str]) -> str:
    """Run the command ``oneway``; return what it prints.

    What it refuses is a ``ValueError`` with its message.
    """
    done = subprocess.run(
        [sys.executable, "-m", "oneway", *arguments], check=False, capture_output=True, text=True
    )
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode != 0:
        raise ValueError(done.stderr.strip().removeprefix("oneway: "))
    return done.stdout


def flags(choices: Mapping[str, Any]) -> list[str]:
    """Write keyword arguments as the command has them.

    >>> flags({"font_size": 8, "log_x": True, "linear_y": False, "y": ["loss", "gradient"], "size": None})
    ['--font-size=8', '--log-x', '--y=loss,gradient']
    """
    written = []
    for name, value in choices.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            written.append(flag)
        elif isinstance(value, (list, tuple)):
            written.append(f"{flag}={','.join(map(str, value))}")
        elif value is not None and value is not False:
            written.append(f"{flag}={value}")
    return written
