"""Gradients that are made where an engine's points are, by DLPack.

The kernels of a GPU are compiled for this computer (``device="host"``), so that points are lent on the CPU.
"""

from __future__ import annotations

import ctypes
import gc
import shutil
from typing import Any

import numpy as np
import pytest
from conftest import needs

import oneway as ow

pytestmark = pytest.mark.skipif(
    not (shutil.which("c++")), reason="kernels are compiled by a C++ compiler, and there is none"
)

N, D = 6, 5
CENTRES = np.random.default_rng(3).normal(size=(N, D))
SETTINGS: dict[str, Any] = {"step": 0.05, "iterations": 70, "record_every": 35, "seed": 4}


def noisy(x: Any, agents: Any, draws: Any) -> Any:
    g = x - CENTRES[agents]
    return g if draws is None else g + draws.normal(D)


def loss(x: Any, agents: Any) -> Any:
    return 0.5 * ((x - CENTRES[agents]) ** 2).sum(axis=1)


def problem(gradient: Any = noisy, **settings: Any) -> ow.Problem:
    return ow.Problem(gradient, dim=D, agents=N, loss=loss, **settings)


def run(gradient: Any, device: Any = "host", method: Any = "push-pull", **settings: Any) -> ow.Result:
    own = gradient if isinstance(gradient, ow.Problem) else problem(gradient, framework="dlpack")
    return ow.run(own, "exponential", method, device=device, **{**SETTINGS, **settings})


@pytest.mark.parametrize(
    "method",
    [
        "smtpp",
        "push-pull",  # asks at x₀ too
        "storm-tracking",  # at two points, with the same draws
        {"kind": "sgp", "local_steps": 2, "gossip": 2},
        "frost",
    ],
)
def test_the_bits_are_those_of_the_cpu(method: Any) -> None:
    there, here = (run(problem(), device, method) for device in ("host", "cpu"))
    assert there.state_hash == here.state_hash
    assert repr(there.final) == repr(here.final)


def test_in_single_precision_x_is_single_too() -> None:
    seen = []

    def gradient(x: Any, agents: Any, draws: Any) -> Any:
        seen.append(x.dtype)
        return x * x.dtype.type(2)

    own = problem(gradient, start=np.ones(D))
    there, here = (run(own, device, precision="f32") for device in ("host", "cpu"))
    assert there.state_hash == here.state_hash
    assert {str(dtype) for dtype in seen} == {"float32", "float64"}, "rounds, and what is measured"


def test_points_are_the_engines_and_outlive_it() -> None:
    kept: list[Any] = []

    def gradient(x: Any, agents: Any, draws: Any) -> Any:
        if isinstance(x, np.ndarray):
            return x - CENTRES[agents]  # measured
        assert (x.shape, x.dtype) == ((N, D), "float64")
        assert x.__dlpack_device__() == (1, 0)
        assert "points of 6 agents" in repr(x)
        array = np.from_dlpack(x)
        assert not array.flags.writeable
        assert np.from_dlpack(x).ctypes.data == array.ctypes.data, "no copy"
        x.__dlpack__()  # nobody takes these capsules
        x.__dlpack__(max_version=(1, 0))
        for words in ({"copy": True}, {"dl_device": (2, 0)}, {"stream": 5}):
            with pytest.raises(BufferError):
                x.__dlpack__(**words)
        kept.extend([x, array])
        return array - CENTRES[agents]

    result = run(gradient)
    assert result.final[0]["status"] == "completed"
    del result
    gc.collect()
    assert np.isfinite(kept[1]).all()
    assert np.array_equal(np.from_dlpack(kept[-2]), kept[-1]), "lent after the run still"


def test_returned_memory_is_given_back_once() -> None:
    made: list[int] = []

    class Counted(np.ndarray):
        def __del__(self) -> None:
            made.append(-1)

    def gradient(x: Any, agents: Any, draws: Any) -> Any:
        if isinstance(x, np.ndarray):
            return x
        made.append(1)
        return np.array(np.from_dlpack(x)).view(Counted)

    run(gradient)
    gc.collect()
    assert made.count(1) > 70
    assert sum(made) == 0


def test_x_may_be_returned_and_one_array_used_again() -> None:
    def itself(x: Any, agents: Any, draws: Any) -> Any:
        return x

    out = np.empty((N, D))

    def again(x: Any, agents: Any, draws: Any) -> Any:
        if draws is None:
            return np.array(x)
        np.copyto(out, x)
        return out

    for gradient in (itself, again):
        own = problem(gradient, start=np.ones(D))
        for method in ("push-pull", "storm-tracking"):
            assert run(own, "host", method).state_hash == run(own, "cpu", method).state_hash


class Claims:
    """An array that says things of itself."""

    def __init__(self, array: Any, device: Any = (1, 0), capsule: Any = None) -> None:
        self.array, self.device, self.capsule = array, device, capsule

    def __dlpack_device__(self) -> Any:
        return self.device

    def __dlpack__(self, *, stream: Any = None) -> Any:
        return self.array.__dlpack__() if self.capsule is None else self.capsule


def used_up(array: Any) -> Any:
    capsule = array.__dlpack__()
    np.from_dlpack(Claims(None, capsule=capsule))
    return capsule


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (lambda x: x[:3].copy(), ValueError, r"shape \(3, 5\), and shape \(6, 5\) is asked for"),
        (lambda x: x.ravel().copy(), ValueError, "an array of 1 dimensions"),
        (lambda x: x.astype("float32"), ValueError, "type float32, and float64 is asked for"),
        (lambda x: x.astype("int64"), ValueError, "DLPack's type 0 with 64 bits, and float64"),
        (lambda x: x.T.copy().T, ValueError, r"not contiguous \(strides 1, 6\)"),
        (lambda x: np.repeat(x, 2, axis=1)[:, ::2], ValueError, r"not contiguous \(strides 10, 2\)"),
        (lambda x: Claims(x.copy(), device=(2, 0)), ValueError, "on cuda:0: x is on the CPU"),
        (lambda x: Claims(x.copy(), device=(10, 3)), ValueError, "device 3 of DLPack's kind 10"),
        (lambda x: Claims(x.copy(), device="cpu"), TypeError, "no pair of numbers"),
        (lambda x: Claims(None, capsule=7), TypeError, "no capsule with a tensor"),
        (lambda x: Claims(None, capsule=used_up(x.copy())), TypeError, "no capsule with a tensor"),
        (lambda x: None, TypeError, "has returned a NoneType: an array of shape"),
        (lambda x: x.tolist(), TypeError, "has returned a list"),
        (lambda x: 1 / 0, ZeroDivisionError, "division by zero"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_what_is_no_gradient_ends_the_run(made: Any, error: Any, message: str, first: bool) -> None:
    calls = []

    def gradient(x: Any, agents: Any, draws: Any) -> Any:
        if isinstance(x, np.ndarray):
            return np.zeros((N, D))
        calls.append(1)
        array = np.from_dlpack(x)
        return made(array) if first or len(calls) == 30 else array.copy()

    with pytest.raises(error, match=message):
        run(gradient)
    assert len(calls) == (1 if first else 30)


class Tensor(ctypes.Structure):
    """DLPack's DLManagedTensorVersioned."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


NAME = b"dltensor_versioned"
GIVEN_BACK: list[int] = []
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(GIVEN_BACK.append)
NUMBERS = np.ones((N, D))
SHAPE = (ctypes.c_int64 * 2)(N, D)


def capsule_of(**fields: Any) -> tuple[Any, Tensor]:
    of = {
        "data": NUMBERS.ctypes.data,
        "device_type": 1,
        "ndim": 2,
        "code": 2,
        "bits": 64,
        "lanes": 1,
        "major": 1,
    }
    shape = ctypes.addressof(SHAPE)
    deleter = ctypes.cast(DELETER, ctypes.c_void_p).value
    tensor = Tensor(**{**of, "shape": shape, "deleter": deleter, **fields})
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(ctypes.addressof(tensor), NAME, None), tensor


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({}, None, None),  # strides may be left out
        ({"deleter": None}, None, None),
        ({"byte_offset": 8 * N * D, "data": NUMBERS.ctypes.data - 8 * N * D}, None, None),
        ({"major": 2}, BufferError, "DLPack 2.0 is not known here"),
        ({"device_type": 2}, ValueError, "on cuda:0: x is on the CPU"),
        ({"ndim": -1}, ValueError, "an array of -1 dimensions"),
        ({"shape": None}, ValueError, "an array of 2 dimensions"),
        ({"lanes": 2}, ValueError, "DLPack's type 2 with 64 bits"),
        ({"bits": 16}, ValueError, "type float16"),
        ({"data": None}, ValueError, "at no address"),
        ({"byte_offset": 4}, ValueError, "cuts numbers"),
        ({"byte_offset": 2**64 - 8}, ValueError, "at no address"),
    ],
)
def test_nothing_that_a_tensor_says_is_believed(fields: Any, error: Any, message: Any) -> None:
    GIVEN_BACK.clear()
    made = []

    def gradient(x: Any, agents: Any, draws: Any) -> Any:
        if isinstance(x, np.ndarray):
            return np.ones((N, D))
        capsule, tensor = capsule_of(**fields)
        made.append(tensor)
        return Claims(None, capsule=capsule)

    if error is None:
        run(gradient)
    else:
        with pytest.raises(error, match=message):
            run(gradient)
    taken = [] if fields.get("deleter", 1) is None else [ctypes.addressof(tensor) for tensor in made]
    assert taken == GIVEN_BACK


def test_an_older_protocol_will_do() -> None:
    own = problem(lambda x, agents, draws: Claims(np.array(np.from_dlpack(x))), framework="dlpack")
    with pytest.raises(TypeError, match="no array of numbers"):
        run(own, "cpu")  # where an array is asked for
    rounds = problem(
        lambda x, a, draws: np.array(x) if isinstance(x, np.ndarray) else Claims(np.array(np.from_dlpack(x))),
        framework="dlpack",
        start=np.ones(D),
    )
    assert run(rounds, "host").state_hash == run(rounds, "cpu").state_hash


@pytest.mark.parametrize(("module", "needed"), [("torch", "torch"), ("jax", "jax")])
def test_tensors_share_the_engines_memory(module: str, needed: str) -> None:
    needs(module, needed)
    if module == "torch":
        import torch

        centres = torch.from_numpy(CENTRES)

        def gradient(x: Any, agents: Any, draws: Any) -> Any:
            x = x.clone().requires_grad_()
            return torch.autograd.grad((0.5 * (x - centres[agents]) ** 2).sum(), x)[0]
    else:
        import jax

        jax.config.update("jax_enable_x64", True)
        middles = jax.numpy.asarray(CENTRES)

        def gradient(x: Any, agents: Any, draws: Any) -> Any:
            return x - middles[agents]

    arrays: Any = {"framework": module}
    there, here = (
        ow.run(ow.Problem(gradient, dim=D, agents=N, **arrays), "exponential", "smtpp", device=on, **SETTINGS)
        for on in ("host", "cpu")
    )
    plain = run(problem(lambda x, agents, draws: x - CENTRES[agents]), "cpu", "smtpp")
    assert there.state_hash == here.state_hash == plain.state_hash


def test_where_arrays_are_is_said_before_anything_runs() -> None:
    with pytest.raises(ValueError, match='framework="numpy", device="cuda": it has no arrays on a GPU'):
        problem(device="cuda")
    with pytest.raises(ValueError, match='framework="cupy", device="cpu": it has no arrays on the CPU'):
        problem(framework="cupy")
    with pytest.raises(ValueError, match='device="tpu": give "cpu" or "cuda"'):
        problem(device="tpu")
    with pytest.raises(ValueError, match='framework="mxnet": give one of "numpy", "torch"'):
        problem(framework="mxnet")
    # points on the CPU are not lent to who makes gradients on a GPU: they are shown as arrays
    with pytest.warns(RuntimeWarning, match="ran on the CPU: the problem has no kernels"):
        run(problem(framework="dlpack", device="cuda"))
