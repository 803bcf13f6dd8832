"""One agent a process: the ordinary loop of PyTorch, with rows that travel between processes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from oneway._neural.weights import Weights
from oneway.method import Method
from oneway.torch.directions import direction_of
from oneway.torch.engine import Asked, Engine, Gradients
from oneway.torch.links import Link, Linked, Plan, link_of
from oneway.torch.rules import Rule
from oneway.torch.settings import ClipBy, Shaping, check, digest


class Optimizer(torch.optim.Optimizer):
    """A method as an optimiser: one agent a process, with links between the processes.

    The loop is the ordinary one: ``zero_grad``, ``backward``, ``step``. A step takes the gradient at the
    parameters, exchanges rows with the processes that hear this one and that it hears, and leaves in the
    parameters the point at which the next gradient is to be taken. All processes must begin with the same
    parameters. In the same precision the numbers are those of :func:`simulate`.

    Parameters
    ----------
    parameters : iterable of tensors
        Such as ``model.parameters()``.
    method, topology
        As for :func:`simulate`. Agents are the processes. Methods that ask for several gradients in a round
        are refused.
    step : float
        η; ``schedule(k)`` is what it is multiplied by in round k.
    weight_decay, decoupled, clip, clip_by
        As for :func:`simulate`.
    link : Link, optional
        What carries rows. By default the links of ``oneway-agent``, where ``oneway-agent carry`` has started
        this process (:class:`Carried`), and else ``torch.distributed`` (:class:`Distributed`).
    group
        The process group of ``torch.distributed`` (gloo, or NCCL for CUDA); by default all processes.

    Examples
    --------
    Under ``torchrun --nproc-per-node 4 train.py``, or ``oneway-agent carry --agents 4 -- python train.py``::

        oneway.torch.connect()
        torch.manual_seed(1)  # the same parameters everywhere
        model = Net()
        optimizer = oneway.torch.Optimizer(model.parameters(), "smtpp", "ring", step=0.1)
        for inputs, targets in loader:  # this process's own data
            optimizer.zero_grad()
            loss(model(inputs), targets).backward()
            optimizer.step()
    """

    def __init__(
        self,
        parameters: Iterable[Tensor],
        method: str | Mapping[str, Any] | Method = "smtpp",
        topology: Any = "exponential",
        *,
        step: float,
        schedule: Callable[[int], float] | None = None,
        weight_decay: float = 0.0,
        decoupled: bool = False,
        clip: float | None = None,
        clip_by: ClipBy = "agent",
        graph: str | None = None,
        link: Link | None = None,
        group: Any = None,
    ) -> None:
        link = link_of(link, group)
        given = [p for p in parameters if p.requires_grad]
        if not given:
            raise ValueError("there are no parameters to train")
        check(step=step, clip=clip, weight_decay=weight_decay)
        super().__init__(given, {})
        self._parameters = given
        self.rule = Rule(method)
        if decoupled and self.rule.direction is None:
            raise ValueError(
                f"decoupled weight decay is for methods with a direction, not for {self.rule.name}"
            )
        sizes = [p.numel() for p in given]
        self._shaped = Shaping(sizes, 0.0 if decoupled else weight_decay, clip, clip_by)
        asks = [self.rule.start_samples, *(exchange.samples for exchange in self.rule.exchanges)]
        both = "both" in (self.rule.start_asks, *(exchange.asks for exchange in self.rule.exchanges))
        if both or max(asks) > 1:
            raise ValueError(f"{self.rule.name} asks for several gradients in a round, and a loop gives one")
        direction = direction_of(self.rule, [p.shape for p in given])
        linked = self._link_up(link, topology, graph)
        factor = schedule or (lambda k: 1.0)
        shrink = weight_decay if decoupled else 0.0
        self.engine = Engine(self.rule, linked, lambda k: step * factor(k), direction, shrink=shrink)
        self._kept: dict[str, Any] | None = None
        self._turns: Generator[Asked, Gradients, None] | None = None

    def _link_up(self, link: Link, topology: Any, graph: str | None) -> Linked:
        rule = self.rule
        weights = Weights(rule, topology, link.agents, graph)
        # what is carried besides coordinates travels with the rows
        besides = {"weight": (0, 1), "eigenvector": (link.agents, 0)}.get(rule.carries, (0, 0))
        size = sum(p.numel() for p in self._parameters)
        pull, push = (size * sent + more for sent, more in zip(rule.sends, besides, strict=True))
        alike = digest(rule.description, rule.direction, rule.of_direction, size)
        method = f"{rule.name} on {size} numbers ({alike[:12]})"
        plan = Plan(weights, method, self._parameters[0].dtype, (pull, push), len(rule.exchanges))
        return Linked(link, plan, self._parameters[0].device)

    def _endless(self, resumed: bool = False) -> Generator[Asked, Gradients, None]:
        engine = self.engine
        if not resumed:
            yield from engine.start(self._row(self._parameters))
        while True:
            # a round waits for its gradient in the middle; to go on later is to begin it again
            self._kept = {
                "method": self.rule.name,
                "round": engine.k,
                "states": list(engine.states),
                "carried": engine.carried,
                "direction": None if engine.direction is None else engine.direction.memory,
            }
            yield from self.engine.round()

    @staticmethod
    def _row(tensors: Iterable[Tensor]) -> Tensor:
        return torch.cat([one.detach().reshape(-1) for one in tensors])[None]

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take the gradient at the parameters, and go to where the next one is to be taken."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        if any(p.grad is None for p in self._parameters):
            raise RuntimeError("a parameter has no gradient: call backward before step")
        if self._turns is None:
            self._turns = self._endless()
            asked = next(self._turns)
            if self.rule.start_asks == "nothing":
                self._go_to(asked.points[0])  # the gradient at x₀ is asked for by the first round
        g = self._row([p.grad for p in self._parameters if p.grad is not None])
        g = self._shaped(g, self._row(self._parameters))
        self._go_to(self._turns.send((g, None)).points[0])
        return loss

    def _go_to(self, point: Tensor) -> None:
        sizes = [p.numel() for p in self._parameters]
        for p, part in zip(self._parameters, point[0].split(sizes), strict=True):
            p.copy_(part.view(p.shape))

    def state_dict(self) -> dict[str, Any]:
        """What this process needs to go on, in one that is started later: see :meth:`load_state_dict`."""
        if self._kept is None:
            raise RuntimeError("no step was taken yet: there is nothing to keep")
        return dict(self._kept)

    @torch.no_grad()
    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from where a process was, all processes together, each with its own state.

        Under ``oneway-agent carry`` one process can do so alone, while the others wait for it: the rows since
        then are made again, and those that it hears have kept theirs.

        The round that was under way is begun again, so rows travel here; the parameters are then the point of
        the next gradient.
        """
        if state_dict.get("method") != self.rule.name:
            raise ValueError(f"the state is of method {state_dict.get('method')}, not of {self.rule.name}")
        row = self._row(self._parameters)
        states = [state.to(row) for state in state_dict["states"]]
        if any(state.shape != row.shape for state in states):
            raise ValueError(f"the state is of other parameters: they are {row.shape[1]} here")
        self.engine.states, self.engine.k = states, int(state_dict["round"])
        self.engine.carried = state_dict["carried"]
        if self.engine.direction is not None:
            self.engine.direction.memory = state_dict["direction"]
        self._turns = self._endless(resumed=True)
        self._go_to(next(self._turns).points[0])
