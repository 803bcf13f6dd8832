"""What ``x`` is for gradients of one's own: arrays and tensors of several libraries, on the CPU or a GPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

Function = Callable[..., Any]


def _same(given: Any) -> Any:
    return given


@dataclass(frozen=True)
class Framework:
    """How arrays come and go."""

    #: A NumPy array as x.
    of_array: Function
    #: Points that an engine lends as x, without a copy.
    of_points: Function
    #: What is returned, as NumPy takes it.
    to_array: Function = _same
    #: What is returned, as DLPack takes it.
    to_dlpack: Function = _same
    #: Numbers of agents, where x is.
    of_agents: Function = _same

    def on_arrays(self, function: Function) -> Function:
        """Give the function what NumPy has, and NumPy what it returns."""

        if self.of_array is _same:
            return function

        def called(x: Any, agents: Any, *rest: Any) -> Any:
            return self.to_array(function(self.of_array(x), self.of_agents(agents), *rest))

        return called

    def on_points(self, function: Function, agents: int) -> Function:
        """Give the function points of all agents that an engine lends."""

        @cache
        def everyone() -> Any:
            import numpy as np

            return self.of_agents(np.arange(agents))

        def called(points: Any, draws: Any) -> Any:
            return self.to_dlpack(function(self.of_points(points), everyone(), draws))

        return called


def framework_of(name: str, device: str) -> Framework:
    """Find a library by its name, for x on a device."""
    if name not in _MAKERS:
        names = ", ".join(f'"{known}"' for known in _MAKERS)
        raise ValueError(f'framework="{name}": give one of {names}')
    if device not in ("cpu", "cuda"):
        raise ValueError(f'device="{device}": give "cpu" or "cuda"')
    if (name, device) in (("numpy", "cuda"), ("cupy", "cpu")):
        where = "on a GPU" if device == "cuda" else "on the CPU"
        raise ValueError(f'framework="{name}", device="{device}": it has no arrays {where}')
    return _MAKERS[name](device)


def _numpy(_device: str) -> Framework:
    import numpy as np

    return Framework(_same, np.from_dlpack)


def _torch(device: str) -> Framework:
    import numpy as np
    import torch

    with warnings.catch_warnings():
        # torch says once that arrays which cannot be written to should not be: yours are not
        warnings.simplefilter("ignore")
        torch.from_numpy(np.broadcast_to(0.0, 1))

    def tensor(x: Any) -> Any:
        return torch.from_numpy(x).to(device)

    def to_array(returned: Any) -> Any:
        return returned.detach().cpu().numpy() if hasattr(returned, "detach") else returned

    def to_dlpack(returned: Any) -> Any:
        return returned.detach() if hasattr(returned, "detach") else returned

    of_agents = _same if device == "cpu" else tensor
    return Framework(tensor, torch.from_dlpack, to_array, to_dlpack, of_agents)


def _jax(device: str) -> Framework:
    import jax

    jax.config.update("jax_enable_x64", True)

    def there(x: Any) -> Any:
        return jax.device_put(x, jax.devices("cuda")[0])

    of_agents, of_array = (_same, jax.numpy.asarray) if device == "cpu" else (there, there)
    return Framework(of_array, jax.dlpack.from_dlpack, of_agents=of_agents)


def _cupy(_device: str) -> Framework:
    import cupy

    return Framework(cupy.asarray, cupy.from_dlpack, cupy.asnumpy, of_agents=cupy.asarray)


def _dlpack(_device: str) -> Framework:
    import numpy as np

    # only arrays that may be written to have a __dlpack__ that works in every NumPy
    return Framework(np.array, _same, np.asarray)


_MAKERS: dict[str, Callable[[str], Framework]] = {
    "numpy": _numpy,
    "torch": _torch,
    "jax": _jax,
    "cupy": _cupy,
    "dlpack": _dlpack,
}
