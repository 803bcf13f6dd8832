"""All agents in one process: n copies of a network on one device."""

from __future__ import annotations

import copy
import math
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from oneway import _native
from oneway._neural.schedules import Schedule, factor_of
from oneway._neural.weights import Weights, settings_of
from oneway.method import Method
from oneway.torch.copies import Copies, Loss
from oneway.torch.directions import direction_of
from oneway.torch.engine import Asked, Engine, Gradients, drive
from oneway.torch.kernels import kernels_of
from oneway.torch.mixing import Stacked
from oneway.torch.parts import Parts, placed
from oneway.torch.rules import Rule
from oneway.torch.settings import ClipBy, Shaping, check, digest, digest_of

_FORMAT = 2


class Simulation:
    """Copies of a network, one for each agent, and the rounds that train them. See :func:`simulate`."""

    def __init__(
        self,
        model: nn.Module,
        loss: Loss,
        parts: Any,
        *,
        rounds: int,
        method: str | Mapping[str, Any] | Method = "smtpp",
        topology: Any = "exponential",
        step: float = 0.1,
        schedule: Schedule = "constant",
        scaling: Literal["raw", "effective"] = "raw",
        batch: int | None = 32,
        seed: int = 1,
        weight_decay: float = 0.0,
        decoupled: bool = False,
        clip: float | None = None,
        clip_by: ClipBy = "agent",
        graph: str | None = None,
        device: str | torch.device | None = None,
        dtype: torch.dtype | None = None,
        gradients: torch.dtype | None = None,
        augment: Callable[[Tensor, torch.Generator], Tensor] | None = None,
        chunk: int | None = None,
        captured: bool = False,
        mixing: Literal["auto", "gather", "matmul"] = "auto",
        fused: bool | None = None,
    ) -> None:
        own = next(model.parameters(), None)
        if own is None:
            raise ValueError("the model has no parameters to train")
        where = torch.device(device) if device is not None else own.device
        dtype = dtype or own.dtype
        check(rounds=rounds, step=step, batch=batch, clip=clip, weight_decay=weight_decay, dtype=dtype)
        self.rounds, self.batch, self.seed = rounds, batch, seed
        self.augment = augment
        self.parts = Parts.of(parts).to(where, dtype)
        self.copies = Copies(model, loss, where, dtype, gradients, chunk, captured)
        self.rule = Rule(method)
        if decoupled and self.rule.direction is None:
            raise ValueError(
                f"decoupled weight decay is for methods with a direction, not for {self.rule.name}"
            )
        self._shaped = Shaping(self.copies.sizes, 0.0 if decoupled else weight_decay, clip, clip_by)
        weights = Weights(self.rule, topology, self.parts.agents, graph)
        scaled = step / weights.divisor if scaling == "effective" else step
        factor = factor_of(schedule, rounds)
        stacked = Stacked(weights, where, dtype, mixing)
        kernels = kernels_of(self.rule, weights, where, dtype, fused)
        along = direction_of(self.rule, self.copies.shapes)
        shrink = weight_decay if decoupled else 0.0
        self.engine = Engine(self.rule, stacked, lambda k: scaled * factor(k), along, kernels, shrink)
        links = [
            sum(len(senders) - (agent in senders) for agent, (senders, _) in enumerate(rows))
            for pair in weights.period
            for rows in pair
        ]
        sent = sum(
            sum(links[graph::2]) * self.rule.sends[graph]
            for exchange in self.rule.exchanges
            for graph in (0, 1)
            if exchange.sends[graph]
        )
        #: bytes of vectors that all agents send in a round, on average over the period
        self.bytes_a_round = sent / len(weights.period) * self.copies.dim * dtype.itemsize
        self.history: list[dict[str, Any]] = []
        self.seconds = 0.0
        self._losses: list[Tensor] = []
        self._began = False
        self._values: dict[str, str] | None = None
        self._told = {
            "method": digest(self.rule.description, self.rule.direction, self.rule.of_direction),
            "method_name": self.rule.name,
            "topology": digest(weights.tables),
            "topology_name": settings_of(topology) if isinstance(topology, (str, Mapping)) else "network",
            "step": scaled,
            "schedule": digest([float(factor(k)) for k in range(rounds)]),
            "rounds": rounds,
            "batch": batch,
            "seed": seed,
            "weight_decay": weight_decay,
            "decoupled": decoupled,
            "clip": clip,
            "clip_by": clip_by,
            "dim": self.copies.dim,
            "dtype": str(dtype),
            "gradients": str(gradients),
            "loss": _named(loss),
            "augment": _named(augment),
            "network": digest(repr(self.copies.model)),
        }

    @property
    def _settings(self) -> dict[str, Any]:
        """All that a checkpoint must agree with; data and parameters are looked at when first needed."""
        if self._values is None:
            model = self.copies.model
            begun = [*model.parameters(), *model.buffers()]
            self._values = {
                "data": digest_of(self.parts.rows, self.parts.inputs, self.parts.targets),
                "sizes": digest(self.parts.sizes),
                "start": digest_of(*begun),
            }
        return self._told | self._values

    @property
    def agents(self) -> int:
        """n."""
        return self.parts.agents

    @property
    def round(self) -> int:
        """Rounds done."""
        return self.engine.k

    @property
    def points(self) -> Tensor:
        """The agents' models, a row for each: where each takes its gradients."""
        return self._begin()

    @property
    def states(self) -> dict[str, Tensor]:
        """All of the agents' states, by letter."""
        self._begin()
        return dict(zip(self.rule.letters, self.engine.states, strict=True))

    def _begin(self) -> Tensor:
        if not self._began:
            self._began = True
            rows = self.copies.start().repeat(self.agents, 1)
            drive(self.engine.start(rows), self._gradients)
        assert self.engine.point is not None
        return self.engine.point

    def _gradients(self, asked: Asked) -> Gradients:
        """Stochastic gradients as a rule asks for them."""
        if len(asked.points) == 2:
            batch = self._batch(asked, 0)
            return self._gradient(asked.points[0], batch, asked), self._gradient(
                asked.points[1], batch, asked
            )
        before = None
        for call in range(asked.samples - 1):
            g = self._gradient(asked.points[0], self._batch(asked, call), asked)
            before = g if before is None else before + g
        last = self._gradient(asked.points[0], self._batch(asked, asked.samples - 1), asked)
        return last, before

    def _batch(self, asked: Asked, call: int) -> tuple[Tensor, Tensor]:
        inputs, targets = self.parts.batch(self.seed, asked.round, self.batch, phase=asked.phase, call=call)
        if self.augment is not None:
            generator = torch.Generator()
            generator.manual_seed(_native.noise_bits(self.seed, asked.round, call) >> 1)
            inputs = self.augment(inputs, generator)
        return inputs, targets

    def _gradient(self, rows: Tensor, batch: tuple[Tensor, Tensor], asked: Asked) -> Tensor:
        bits = _native.noise_bits(self.seed, asked.round, self.agents) if self.copies.drops else 0
        g, losses = self.copies.gradients(rows, *batch, seed=bits)
        self._losses.append(losses.mean())
        return self._shaped(g, rows)

    def advance(self, rounds: int) -> None:
        """Run some rounds."""
        began = time.perf_counter()
        self._begin()
        with torch.no_grad():
            for _ in range(rounds):
                drive(self.engine.round(), self._gradients)
        if self.points.is_cuda:
            torch.cuda.synchronize(self.points.device)
        self.seconds += time.perf_counter() - began

    def evaluate(self, inputs: Any, targets: Any, *, each: bool = True, batch: int = 1000) -> dict[str, Any]:
        """How good models are on data: the mean of all agents' models x̄, and each agent's own.

        Returns ``loss`` and, where targets are classes, ``accuracy`` of x̄; with ``each`` also lists of every
        agent's (``agents_loss``, ``agents_accuracy``); and ``consensus``, (1/n) Σ ‖x_i − x̄‖².
        """
        rows = self.points
        mean = rows.mean(dim=0, keepdim=True)
        asked = torch.cat([mean, rows]) if each else mean
        inputs, targets = (placed(part, rows.device, rows.dtype) for part in (inputs, targets))
        if len(inputs) != len(targets) or len(inputs) == 0:
            raise ValueError(f"there are {len(inputs)} inputs and {len(targets)} targets to evaluate on")
        classes = not targets.is_floating_point()  # scores of classes are in the outputs' second dimension
        losses, right = [0.0] * len(asked), [0.0] * len(asked)
        for start in range(0, len(inputs), batch):
            some = targets[start : start + batch]
            said = self.copies.outputs(asked, inputs[start : start + batch])
            for i, outputs in enumerate(said):
                losses[i] += float(self.copies.loss(outputs, some)) * len(some)
            if classes:
                hits = (said.argmax(dim=2) == some).double().flatten(1).mean(dim=1)
                for i, share in enumerate(hits.tolist()):
                    right[i] += share * len(some)
        found: dict[str, Any] = {"loss": losses[0] / len(inputs)}
        if classes:
            found["accuracy"] = right[0] / len(inputs)
        if each:
            found["agents_loss"] = [loss / len(inputs) for loss in losses[1:]]
            if classes:
                found["agents_accuracy"] = [hits / len(inputs) for hits in right[1:]]
        found["consensus"] = float(((rows - mean) ** 2).sum(dim=1).mean())
        return found

    def record(self, evaluation: tuple[Any, Any] | None, each: bool = True) -> dict[str, Any]:
        """Note where training stands, in ``history``."""
        trained = float(torch.stack(self._losses).mean()) if self._losses else math.nan
        self._losses = []
        row: dict[str, Any] = {"round": self.round, "training_loss": trained, "seconds": self.seconds}
        if evaluation is not None:
            row |= self.evaluate(*evaluation, each=each)
        self.history.append(row)
        return row

    def model(self, agent: int | None = None) -> nn.Module:
        """A copy of the network with x̄, or with an agent's parameters."""
        if agent is not None and not 0 <= agent < self.agents:
            raise ValueError(f"agent={agent}: there are agents 0 to {self.agents - 1}")
        row = self.points.mean(dim=0) if agent is None else self.points[agent]
        made = copy.deepcopy(self.copies.model)
        with torch.no_grad():
            own = dict(made.named_parameters())
            for name, value in self.copies.views(row).items():
                own[name].copy_(value)
        return made

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a checkpoint. Training that goes on from it goes as if it had not stopped."""
        self._begin()
        kept = {
            "format": _FORMAT,
            "settings": self._settings,
            "round": self.round,
            "states": self.engine.states,
            "carried": self.engine.carried,
            "direction": None if self.engine.direction is None else self.engine.direction.memory,
            "point": self.engine.point,
            "history": self.history,
            "losses": torch.stack(self._losses) if self._losses else None,
            "seconds": self.seconds,
        }
        target = Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(target.name + ".new")
        torch.save(kept, beside)
        os.replace(beside, target)

    def load(self, path: str | os.PathLike[str]) -> None:
        """Go on from a checkpoint, which must be of the same settings."""
        device = self.copies.device
        try:
            kept = torch.load(path, map_location=device, weights_only=True)
            form, settings = kept["format"], kept["settings"]
        except FileNotFoundError:
            raise
        except Exception as error:
            raise ValueError(f"{os.fspath(path)} is no checkpoint of oneway.torch: {error}") from error
        if form != _FORMAT:
            raise ValueError(f"{os.fspath(path)} has format {form}, and this is {_FORMAT}")
        for name, value in self._settings.items():
            if settings.get(name) != value:
                raise ValueError(
                    f"{os.fspath(path)} is of another training: "
                    f"its {name} is {settings.get(name)}, not {value}"
                )
        self._began = True
        self.engine.k = kept["round"]
        self.engine.states, self.engine.carried = list(kept["states"]), kept["carried"]
        self.engine.point, self.history, self.seconds = kept["point"], kept["history"], kept["seconds"]
        if self.engine.direction is not None:
            self.engine.direction.memory = kept["direction"]
        self._losses = [] if kept["losses"] is None else list(kept["losses"])

    def __repr__(self) -> str:
        return (
            f"<oneway.torch.Simulation: {self.agents} agents, {self.copies.dim} parameters, "
            f"{self.rule.name}, round {self.round} of {self.rounds}>"
        )


def _named(function: Any) -> str:
    """A function as a checkpoint keeps it: what it does cannot be compared."""
    return "" if function is None else str(getattr(function, "__qualname__", type(function).__qualname__))
