"""A CUDA graph of a function: its kernels are recorded once, and started together from then on."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

# runs before it is recorded, in which libraries choose their kernels
_BEFORE = 3


class Captured:
    """A function of tensors whose kernels are recorded at its first call and replayed at every later one.

    Networks of small agents start hundreds of kernels a round, each of which Python and PyTorch take longer
    to prepare than the device to run; a graph of them costs one start. What it returns lies in the graph's
    memory until the next call. The function must not look at values on the device.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._graph: Any = None
        self._given: list[Tensor] = []
        self._found: Any = None

    def prepare(self, *given: Tensor) -> None:
        """Record, unless it was for tensors of these shapes."""
        shapes = [(tensor.shape, tensor.dtype) for tensor in given]
        if self._graph is not None and shapes == [(tensor.shape, tensor.dtype) for tensor in self._given]:
            return
        self._graph, self._found = None, None
        self._given = [tensor.detach().clone() for tensor in given]
        here = torch.cuda.current_stream(given[0].device)
        beside = torch.cuda.Stream(given[0].device)
        beside.wait_stream(here)
        with torch.cuda.stream(beside):
            for _ in range(_BEFORE):
                self._function(*self._given)
        here.wait_stream(beside)
        graph = torch.cuda.CUDAGraph()
        # a graph of before that is thrown away meanwhile would end the recording
        gc.collect()
        collects = gc.isenabled()
        gc.disable()
        try:
            with torch.cuda.graph(graph):
                self._found = self._function(*self._given)
        finally:
            if collects:
                gc.enable()
        self._graph = graph

    def __call__(self, *given: Tensor) -> Any:
        """What the function returns of these."""
        self.prepare(*given)
        for place, tensor in zip(self._given, given, strict=True):
            place.copy_(tensor)
        self._graph.replay()
        return self._found
