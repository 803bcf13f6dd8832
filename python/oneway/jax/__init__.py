"""Train models of JAX over directed networks, all agents in one process.

A model is a pure function of its parameters, any pytree of arrays; `simulate` trains a copy of them at every
agent. The methods are the engine's own: a rule's straight-line program is run on arrays, so there is no
second source. Numbers are those of `oneway.torch` and of `oneway.run` to rounding, in JAX's precision:
single, unless ``jax_enable_x64`` is set.
"""

try:
    import jax as _jax  # noqa: F401
except ImportError as _missing:  # the rest of the package does without
    raise ImportError("oneway.jax needs JAX: pip install jax") from _missing

from oneway.jax.simulation import Simulation, simulate

__all__ = ["Simulation", "simulate"]
