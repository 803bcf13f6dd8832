"""A method's rule on tensors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from oneway._neural import rules
from oneway.method import Method


class _Tensors:
    """Arithmetic of tensors, with the bits of the engine's where it is IEEE's."""

    def number(self, value: float, like: Tensor) -> Tensor:
        return torch.tensor(value, dtype=like.dtype)

    def root(self, value: Tensor) -> Tensor:
        if value.device.type != "cpu":
            return torch.sqrt(value)
        return torch.as_tensor(np.sqrt(value.numpy()))  # PyTorch's own on the CPU is not correctly rounded

    def choose(self, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
        return torch.where(a > 0, b, c)

    def rows(self, value: Tensor, like: Tensor) -> Tensor:
        if value.shape == like.shape:
            return value
        return value.to(like.device).expand(like.shape).contiguous()


class Rule(rules.Rule):
    """A method as programs on one coordinate.

    Parameters
    ----------
    method : str, dict or Method
        A method of :func:`oneway.methods` that is coordinate by coordinate, with its parameters; or one of
        your own. For networks there are also ``smtpp-nesterov``, and rules with a direction, which step
        along something made of the vector that the rule steps along: its matrix signs (``smtpp-muon``,
        ``smtpp-nesterov-muon``, ``push-pull-muon``, ``dsgt-muon``, ``sgp-muon``, ``demuon``), or that vector
        over the root of its second moment (``smtpp-adam``, ``push-pull-adam``, with ``beta2`` and
        ``epsilon``).

    Examples
    --------
    >>> import oneway.torch
    >>> oneway.torch.Rule({"kind": "smtpp", "momentum": 0.05}).letters
    ['x', 'v', 'm']
    """

    def __init__(self, method: str | Mapping[str, Any] | Method) -> None:
        super().__init__(method, _Tensors())
