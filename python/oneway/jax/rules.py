"""A method's rule on arrays of JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp

from oneway._neural import rules
from oneway.method import Method


class _Arrays:
    """Arithmetic of arrays, also of those that are traced."""

    def number(self, value: float, like: Any) -> Any:
        return jnp.asarray(value, like.dtype)

    def root(self, value: Any) -> Any:
        return jnp.sqrt(value)

    def choose(self, a: Any, b: Any, c: Any) -> Any:
        return jnp.where(a > 0, b, c)

    def rows(self, value: Any, like: Any) -> Any:
        return jnp.broadcast_to(value, like.shape)


class Rule(rules.Rule):
    """A method as programs on one coordinate, for arrays of JAX."""

    def __init__(self, method: str | Mapping[str, Any] | Method) -> None:
        super().__init__(method, _Arrays())
        if self.direction is not None:
            raise ValueError(f"{self.name} steps along a direction: that is in oneway.torch only")
