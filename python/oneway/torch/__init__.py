"""Train PyTorch networks over directed networks.

`simulate` trains n copies of any module in one process, on one device; `Optimizer` trains one copy a process,
in the ordinary loop. The methods are the engine's own: a rule's straight-line program is run on tensors, step
by step in the same order, so that in f64 on the CPU both give the bits of `oneway.run`.
"""

try:
    import torch as _torch  # noqa: F401
except ImportError as _missing:  # the rest of the package does without
    raise ImportError("oneway.torch needs PyTorch, 2.1 or later: pip install torch") from _missing

from oneway.torch import data
from oneway.torch.directions import Adam, Muon
from oneway.torch.links import Carried, Distributed, Link, Plan
from oneway.torch.optimizer import Optimizer
from oneway.torch.parts import Parts, split
from oneway.torch.processes import connect
from oneway.torch.rules import Rule
from oneway.torch.simulation import Simulation
from oneway.torch.training import simulate

__all__ = [
    "Adam",
    "Carried",
    "Distributed",
    "Link",
    "Muon",
    "Optimizer",
    "Parts",
    "Plan",
    "Rule",
    "Simulation",
    "connect",
    "data",
    "simulate",
    "split",
]
