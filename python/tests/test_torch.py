"""Gradients by PyTorch: vmap of grad, one network an agent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from conftest import needs
from digits import split, trains


def test_a_network_by_vmap_of_grad_trains_on_the_digits(tmp_path: Path) -> None:
    torch: Any = needs("torch", "torch")

    def objective(x: Any, images: Any, labels: Any) -> Any:
        first, bias, second, last = split(x)
        scores = torch.tanh(images @ first + bias) @ second + last
        return -torch.log_softmax(scores, dim=1).gather(1, labels[:, None]).mean()

    def gradients(x: Any, images: Any, labels: Any) -> Any:
        return each(x, torch.from_numpy(images), torch.from_numpy(labels))

    def losses(x: Any, images: Any, labels: Any) -> Any:
        return every(x, torch.from_numpy(images), torch.from_numpy(labels))

    each, every = torch.func.vmap(torch.func.grad(objective)), torch.func.vmap(objective)
    trains(gradients, losses, "torch", tmp_path)
