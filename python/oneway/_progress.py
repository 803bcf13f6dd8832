"""A bar on the terminal or in a notebook."""

from __future__ import annotations

import sys
import time
from types import TracebackType


class Bar:
    """Shows how many rounds are done. Nothing where nobody looks, and nothing for what takes less than half a
    second.
    """

    def __init__(self, wanted: bool | None) -> None:
        in_notebook = "ipykernel" in sys.modules
        self._shows = (sys.stderr.isatty() or in_notebook) if wanted is None else wanted
        self._began = time.monotonic()
        self._drawn = 0

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar."""
        passed = time.monotonic() - self._began
        if not self._shows or passed < 0.5 or total == 0:
            return
        width = 30
        filled = width * done // total
        left = f"{_time(passed * (total - done) / done)} left" if done else ""
        bar = "█" * filled + " " * (width - filled)
        line = f"{100 * done // total:3d}%|{bar}| {done:,}/{total:,} rounds  {left}"
        sys.stderr.write("\r" + line.ljust(self._drawn))
        sys.stderr.flush()
        self._drawn = len(line)

    def __enter__(self) -> Bar:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self._drawn:
            sys.stderr.write("\r" + " " * self._drawn + "\r")
            sys.stderr.flush()


def _time(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02d}"
