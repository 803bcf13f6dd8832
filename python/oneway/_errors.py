"""What is raised besides the exceptions of Python itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oneway.results import Result


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run.

    Attributes
    ----------
    result : Result
        What was recorded until then.
    """

    def __init__(self, result: Result) -> None:
        super().__init__("interrupted: what was recorded until then is the exception's `result`")
        self.result = result
