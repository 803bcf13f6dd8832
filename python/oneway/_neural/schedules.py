"""How the step changes from round to round."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

Schedule = Literal["constant", "cosine"] | Callable[[int], float]


def factor_of(schedule: Schedule, rounds: int) -> Callable[[int], float]:
    """What the step is multiplied by in round k."""
    if callable(schedule):
        return schedule
    if schedule == "constant":
        return lambda k: 1.0
    if schedule == "cosine":
        return lambda k: 0.5 * (1.0 + math.cos(math.pi * k / rounds))
    raise ValueError(
        f"schedule={schedule!r} is unknown: give 'constant', 'cosine' or a function of the round"
    )
