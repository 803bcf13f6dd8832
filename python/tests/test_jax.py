"""Gradients by JAX: vmap of grad, one network an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conftest import needs
from digits import split, trains


def test_a_network_by_vmap_of_grad_trains_on_the_digits(tmp_path: Path) -> None:
    jax: Any = needs("jax", "jax")

    def objective(x: Any, images: Any, labels: Any) -> Any:
        first, bias, second, last = split(x)
        scores = jax.numpy.tanh(images @ first + bias) @ second + last
        return -jax.numpy.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], axis=1).mean()

    trains(jax.jit(jax.vmap(jax.grad(objective))), jax.jit(jax.vmap(objective)), "jax", tmp_path)
