"""Who has which rows of the data, and which of them a round draws."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from oneway import _native


class Parts:
    """Data, and the rows of each agent.

    Made by :func:`split`, or of a list with inputs and targets of each agent.
    """

    def __init__(self, inputs: Tensor, targets: Tensor, rows: Sequence[Any]) -> None:
        self.inputs, self.targets = inputs, targets
        self.sizes = [len(mine) for mine in rows]
        if not self.sizes:
            raise ValueError("there must be at least one agent")
        empty = [agent for agent, size in enumerate(self.sizes) if size == 0]
        if empty:
            raise ValueError(f"agent {empty[0]} has no data")
        if len(inputs) != len(targets):
            raise ValueError(f"there are {len(inputs)} inputs and {len(targets)} targets")
        # a row for each agent; places behind its last are never drawn
        table = np.zeros((len(rows), max(self.sizes)), dtype="int64")
        for agent, mine in enumerate(rows):
            table[agent, : len(mine)] = np.asarray(mine)
        if table.min() < 0 or table.max() >= len(inputs):
            raise ValueError(f"rows must be from 0 to {len(inputs) - 1}")
        self.rows = torch.from_numpy(table)

    @property
    def agents(self) -> int:
        """n."""
        return len(self.sizes)

    @classmethod
    def of(cls, given: Any) -> Parts:
        """Parts as they are, or a list of (inputs, targets), one pair for each agent."""
        if isinstance(given, Parts):
            return given
        pairs = list(given)
        if not pairs or any(len(pair) != 2 or len(pair[0]) != len(pair[1]) for pair in pairs):
            raise ValueError(
                "parts are a list with (inputs, targets) of each agent, or what oneway.torch.split returns"
            )
        ends = np.cumsum([0, *(len(pair[0]) for pair in pairs)])
        rows = [np.arange(start, end) for start, end in itertools.pairwise(ends)]
        inputs, targets = (torch.cat([torch.as_tensor(pair[i]) for pair in pairs]) for i in (0, 1))
        return cls(inputs, targets, rows)

    def to(self, device: torch.device, dtype: torch.dtype) -> Parts:
        """The same on a device, with real numbers in a precision."""
        moved = object.__new__(Parts)
        moved.inputs, moved.targets = placed(self.inputs, device, dtype), placed(self.targets, device, dtype)
        moved.rows = self.rows.to(device)
        moved.sizes = self.sizes
        return moved

    def batch(
        self,
        seed: int,
        round: int,
        size: int | None,
        *,
        phase: int = 0,
        call: int = 0,
        agent: int | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Inputs and targets that agents draw in a round, with replacement: shapes (agents, size, …).

        The draws are those that ``oneway.run`` gives a gradient. Without a size all rows are taken, and every
        agent must have the same number.
        """
        which = slice(None) if agent is None else slice(agent, agent + 1)
        rows, sizes = self.rows[which], self.sizes[which]
        if size is None:
            if len(set(self.sizes)) > 1:
                raise ValueError("agents have different numbers of rows: give batch=")
            return self.inputs[rows], self.targets[rows]
        drawn = _native.sample_rows(seed, round, sizes, size, phase, call * size, which.start or 0)
        chosen = rows.gather(1, torch.from_numpy(drawn).to(rows.device, non_blocking=True))
        return self.inputs[chosen], self.targets[chosen]


def placed(data: Any, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Data on a device; real numbers in a precision, whole ones as they are."""
    given = torch.as_tensor(data)
    return given.to(device, dtype) if given.is_floating_point() else given.to(device)


def split(
    inputs: Any,
    targets: Any,
    agents: int,
    by: Literal["even", "shuffled", "by-class", "dirichlet"] = "shuffled",
    *,
    alpha: float = 1.0,
    seed: int = 1,
) -> Parts:
    """Split data over agents, the same number of rows for each; a remainder is left out.

    Parameters
    ----------
    inputs, targets : array_like
        Data, a row for each sample; targets are numbers of classes, except for ``"even"`` and ``"shuffled"``.
    agents : int
        n.
    by : {"even", "shuffled", "by-class", "dirichlet"}
        In the order of the data, after a shuffle, sorted by class, or in proportions that each agent draws.
    alpha : float
        The concentration of ``"dirichlet"``: 0.1 is very uneven, 100 nearly even.
    seed : int
        Of the shuffle or the proportions. The rows are those that ``oneway run`` gives its agents.

    Examples
    --------
    >>> import torch
    >>> import oneway.torch
    >>> inputs, targets = torch.arange(6.0)[:, None], torch.tensor([1, 0, 1, 0, 1, 0])
    >>> parts = oneway.torch.split(inputs, targets, 2, "by-class")
    >>> parts.rows.tolist()
    [[1, 3, 5], [0, 2, 4]]
    """
    inputs, targets = torch.as_tensor(inputs), torch.as_tensor(targets)
    if by in ("by-class", "dirichlet") and targets.dim() != 1:
        raise ValueError(
            f"by={by!r} needs one class for each row, and targets have shape {tuple(targets.shape)}"
        )
    labels = targets if targets.dim() == 1 else torch.zeros(len(targets))
    rows = _native.partition(labels.to(torch.float64).cpu().numpy(), agents, by, alpha, seed)
    return Parts(inputs, targets, rows)
