"""A training from its first round to its last: evaluated, kept in checkpoints, cut into pieces."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from torch import nn

from oneway.torch.copies import Loss
from oneway.torch.settings import check
from oneway.torch.simulation import Simulation


def simulate(
    model: nn.Module,
    loss: Loss,
    parts: Any,
    *,
    rounds: int,
    evaluate: tuple[Any, Any] | None = None,
    evaluate_every: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | None = None,
    minutes: float | None = None,
    progress: Callable[[dict[str, Any]], None] | None = None,
    **settings: Any,
) -> Simulation:
    """Train n copies of a network over a directed network, in this process.

    Parameters
    ----------
    model : torch.nn.Module
        The network; all agents begin with its parameters. It is not changed. Batch norm is refused.
    loss : callable
        ``loss(outputs, targets)``, such as ``torch.nn.functional.cross_entropy``.
    parts : Parts or list
        What :func:`split` returns, or a list with (inputs, targets) of each agent.
    rounds : int
        How many rounds; each draws a batch at each agent.
    method : str, dict or Method
        As for :class:`Rule`; ``"smtpp"`` by default.
    topology
        As for :func:`oneway.run`; ``"exponential"`` by default.
    step : float
        η. With ``scaling="effective"`` it is the step that the average takes.
    schedule : {"constant", "cosine"} or callable
        What η is multiplied by in round k.
    batch : int, optional
        Samples of a batch, drawn with replacement by the draws of ``oneway.run``; None for all.
    seed : int
        Of the draws.
    weight_decay : float
        Added to gradients, times the point; if ``decoupled``, to the direction of a method that has one.
    clip : float, optional
        The largest norm of an agent's gradient; with ``clip_by="layer"``, of each parameter's.
    graph : {"full", "trees", "lazy-trees"}, optional
        As for :func:`oneway.run`; by default what the method usually runs on.
    device, dtype
        Where and in what precision states are kept; by default the model's own.
    gradients : torch.dtype, optional
        ``torch.bfloat16`` computes gradients in mixed precision (autocast).
    augment : callable, optional
        ``augment(inputs, generator)`` of a batch of shape (agents, batch, …).
    chunk : int, optional
        Agents whose gradients are computed at a time: less is less memory.
    captured : bool
        On CUDA, whether the kernels of gradients are recorded once and then replayed (a CUDA graph): Python
        no longer prepares each of them in each round. The network and loss must not look at values.
    mixing : {"auto", "gather", "matmul"}
        By rows in the bit contract's order, or by a product of matrices, which is faster where agents hear
        many.
    fused : bool, optional
        Whether updates are fused kernels, printed from the rule; by default on CUDA, if PyTorch can compile
        them.
    evaluate : (inputs, targets), optional
        Data to evaluate x̄ and all agents on, every ``evaluate_every`` rounds and at the end.
    checkpoint : path, optional
        A file to go on from, if it is there, and to write every ``checkpoint_every`` rounds and at the end.
    minutes : float, optional
        Stop after so long, with a checkpoint: call again to go on.
    progress : callable, optional
        Gets each row of ``history``.

    Returns
    -------
    Simulation
        With ``history``, ``model()``, ``evaluate(…)`` and the agents' ``states``.

    Examples
    --------
    >>> import torch
    >>> import oneway.torch
    >>> x = torch.randn(64, 3, generator=torch.Generator().manual_seed(1)).double()
    >>> parts = oneway.torch.split(x, x.sum(1, keepdim=True), 4)
    >>> model = torch.nn.Linear(3, 1).double()
    >>> mse, data = torch.nn.functional.mse_loss, (x, x.sum(1, keepdim=True))
    >>> done = oneway.torch.simulate(model, mse, parts, rounds=300, step=0.2, topology="ring", evaluate=data)
    >>> done.history[-1]["loss"] < 1e-3
    True
    """
    training = Simulation(model, loss, parts, rounds=rounds, **settings)
    check(evaluate_every=evaluate_every, checkpoint_every=checkpoint_every)
    if minutes is not None and not minutes > 0:
        raise ValueError(f"minutes={minutes} must be above 0")
    if minutes is not None and checkpoint is None:
        raise ValueError("minutes= needs checkpoint=, a file to go on from")
    if checkpoint is not None and Path(checkpoint).exists():
        training.load(checkpoint)
    began = time.perf_counter()
    while training.round < rounds:
        every = [rounds - training.round]
        for each in (evaluate_every, checkpoint_every, 20 if minutes is not None else None):
            every += [each - training.round % each] if each else []
        training.advance(min(every))
        done = training.round == rounds
        if done or (evaluate_every and training.round % evaluate_every == 0):
            row = training.record(evaluate)
            if progress is not None:
                progress(row)
        late = minutes is not None and time.perf_counter() - began > 60 * minutes
        if checkpoint is not None and (
            done or late or (checkpoint_every and training.round % checkpoint_every == 0)
        ):
            training.save(checkpoint)
        if late:
            break
    return training
