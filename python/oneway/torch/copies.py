"""Copies of a module: n rows of parameters, all gradients at once."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad_and_value, vmap

from oneway.torch.captured import Captured

_CHANGES = "the buffer {} changes while the model runs: it is no parameter, and no method would carry it"

Loss = Callable[[Any, Tensor], Tensor]


class Copies:
    """What a module does with the parameters of a row."""

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        device: torch.device,
        dtype: torch.dtype,
        gradients: torch.dtype | None = None,
        chunk: int | None = None,
        captured: bool = False,
    ) -> None:
        refuse(model)
        if captured and device.type != "cuda":
            raise ValueError(f"captured=True records kernels of CUDA, and the device is {device.type}")
        self.model = copy.deepcopy(model).to(device=device, dtype=dtype)
        self.model.train()
        self.loss, self.device, self.autocast, self.chunk = loss, device, gradients, chunk
        trained = [(name, p) for name, p in self.model.named_parameters() if p.requires_grad]
        if not trained:
            raise ValueError("the model has no parameters to train")
        self.names = [name for name, _ in trained]
        self.shapes = [tuple(p.shape) for _, p in trained]
        self.sizes = [p.numel() for _, p in trained]
        self.dim = sum(self.sizes)
        self.drops = any(isinstance(m, nn.modules.dropout._DropoutNd) for m in self.model.modules())
        self._fixed = {name: p.detach() for name, p in self.model.named_parameters() if not p.requires_grad}
        self._buffers = dict(self.model.named_buffers())
        self._before = {name: buffer.clone() for name, buffer in self._buffers.items()}
        randomness = "different" if self.drops else "error"
        self._each = vmap(
            grad_and_value(self._objective), in_dims=(0, 0, 0), randomness=randomness, chunk_size=chunk
        )
        self._captured = Captured(self._all) if captured else None
        self._looked = False

    def start(self) -> Tensor:
        """The module's own parameters, one row."""
        with torch.no_grad():
            own = dict(self.model.named_parameters())
            return torch.cat([own[name].reshape(-1) for name in self.names])

    def views(self, rows: Tensor) -> dict[str, Tensor]:
        """Parameters by name, of all rows, in the rows' own memory."""
        parts = rows.split(self.sizes, dim=-1)
        shaped = zip(self.names, parts, self.shapes, strict=True)
        return {name: part.view(*rows.shape[:-1], *shape) for name, part, shape in shaped}

    def _call(self, parameters: dict[str, Tensor], inputs: Tensor) -> Any:
        return functional_call(self.model, (parameters, self._fixed, self._buffers), (inputs,))

    def _objective(self, parameters: dict[str, Tensor], inputs: Tensor, targets: Tensor) -> Tensor:
        with self._precision():
            return self.loss(self._call(parameters, inputs), targets)

    def _precision(self) -> Any:
        if self.autocast is None:
            return contextlib.nullcontext()
        return torch.autocast(self.device.type, dtype=self.autocast)

    def gradients(
        self, rows: Tensor, inputs: Tensor, targets: Tensor, seed: int = 0
    ) -> tuple[Tensor, Tensor]:
        """The gradients of all rows on their batches, and the losses there."""
        self.model.train()
        try:
            if self._captured is not None:
                self._captured.prepare(rows, inputs, targets)
            if self.drops:
                torch.manual_seed(seed & 0x7FFF_FFFF_FFFF_FFFF)
            found, losses = (self._captured or self._all)(rows, inputs, targets)
        except RuntimeError as error:
            if "mutate a captured Tensor" in str(error) and self._buffers:
                raise ValueError(_CHANGES.format(", ".join(self._buffers))) from error
            raise
        out = torch.empty_like(rows)
        for name, place in self.views(out).items():
            place.copy_(found[name])
        if not self._looked:
            self._looked = True
            self._refuse_memory()
        return out, losses.detach().clone()

    def _all(self, rows: Tensor, inputs: Tensor, targets: Tensor) -> tuple[dict[str, Tensor], Tensor]:
        found, losses = self._each(self.views(rows), inputs, targets)
        return found, losses

    def outputs(self, rows: Tensor, inputs: Tensor) -> Tensor:
        """What each row's model says of the same inputs, as in evaluation: shape (rows, inputs, …)."""
        self.model.eval()
        with torch.no_grad(), self._precision():
            said: Tensor = vmap(self._call, in_dims=(0, None), chunk_size=self.chunk)(
                self.views(rows), inputs
            )
        self.model.train()
        return said

    def _refuse_memory(self) -> None:
        for name, before in self._before.items():
            if not torch.equal(before, self._buffers[name]):
                raise ValueError(_CHANGES.format(name))


def refuse(model: nn.Module) -> None:
    """Raise an error for modules whose memory the methods do not carry."""
    for name, module in model.named_modules():
        kept = isinstance(module, nn.modules.batchnorm._NormBase) and module.track_running_stats
        if isinstance(module, nn.modules.batchnorm._BatchNorm) or kept:
            raise ValueError(
                f"{name or 'the model'} is a {type(module).__name__}: its statistics are of one agent's "
                "batches, differ where data differ, and are no part of what agents mix. "
                "Use nn.GroupNorm (or LayerNorm)"
            )
