"""The border itself: Ctrl-C, threads, forks, the stub, the command."""

from __future__ import annotations

import ast
import inspect
import multiprocessing
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from conftest import command

import oneway as ow
from oneway import _native


@pytest.mark.parametrize("own", [False, True])
def test_ctrl_c_ends_a_run_at_once_and_keeps_what_was_recorded(own: bool) -> None:
    program = f"""
        import _thread, os, signal, threading, time
        import oneway as ow
        own = ow.Problem(lambda x, a, d: time.sleep(0.002) or x, dim=3, agents=4, start=[1, 1, 1])
        problem = own if {own} else ow.problems.quadratic(dim=3)
        def interrupt():
            time.sleep(0.5)
            global pressed
            pressed = time.monotonic()
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=interrupt).start()
        try:
            ow.run(problem, "ring", "push-pull", agents=4, step=1e-9, iterations=2_000_000_000)
        except ow.Interrupted as stop:
            took = time.monotonic() - pressed
            cell = stop.result.cells[0]
            assert cell["status"] == "stopped", cell
            assert len(cell["columns"]["iteration"]) > 1
            assert isinstance(stop, KeyboardInterrupt)
            print(f"{{took:.3f}}")
    """
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert float(ran.stdout) < 1.0  # 100 ms on an idle machine; this one may be busy


def test_other_threads_go_on_while_a_run_takes_long() -> None:
    ticks = 0
    running = True

    def tick() -> None:
        nonlocal ticks
        while running:
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    ow.run(ow.problems.quadratic(dim=2000), "ring", "smtpp", agents=20, step=0.01, iterations=3000)
    running = False
    thread.join()
    assert ticks > 20


def test_runs_beside_each_other_have_their_own_bits() -> None:
    def one(seed: int) -> object:
        problem = ow.Problem(lambda x, a, d: x if d is None else x + d.normal(2), dim=2, agents=3)
        return ow.run(problem, "ring", "smtpp", step=0.1, iterations=100, seed=seed).state_hash

    alone = [one(seed) for seed in range(6)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(6))) == alone
    assert len(set(alone)) == 6


def in_process(seed: int) -> object:
    return ow.run(
        ow.problems.quadratic(dim=3, noise=0.1), "ring", "smtpp", agents=4, step=0.1, iterations=50, seed=seed
    ).state_hash


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning"
)  # that a process with threads is forked is the point
@pytest.mark.parametrize("how", ["fork", "spawn"])
def test_processes_can_be_forked_after_a_run(how: str) -> None:
    here = [in_process(seed) for seed in range(3)]
    with multiprocessing.get_context(how).Pool(2) as pool:
        assert pool.map_async(in_process, range(3)).get(60) == here


def test_a_run_within_a_gradient_is_possible() -> None:
    def gradient(x: np.ndarray, agents: np.ndarray, draws: object) -> np.ndarray:
        if draws is not None and not inner:
            inner.append(in_process(1))
        return x

    inner: list[object] = []
    ow.run(ow.Problem(gradient, dim=1, agents=3), "ring", "push-pull", step=0.1, iterations=3)
    assert inner == [in_process(1)]


def test_signals_are_python_s_again_after_a_run() -> None:
    in_process(1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def stubbed() -> dict[str, ast.AST]:
    """Functions and classes of the stub by name, those of classes as Class.name."""
    tree = ast.parse((Path(ow.__file__).parent / "_native.pyi").read_text(encoding="utf-8"))
    found: dict[str, ast.AST] = {}
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found[node.name] = node
        if isinstance(node, ast.ClassDef):
            found.update(
                {f"{node.name}.{part.name}": part for part in node.body if isinstance(part, ast.FunctionDef)}
            )
    return found


def test_the_stub_says_what_is_there() -> None:
    stub = stubbed()
    there: dict[str, object] = {}
    for name, value in vars(_native).items():
        if name.startswith("_") and name != "_native":
            continue
        there[name] = value
        if isinstance(value, type):
            there.update(
                {f"{name}.{part}": getattr(value, part) for part in vars(value) if not part.startswith("_")}
            )
    plain = {name for name in stub if not name.split(".")[-1].startswith("_")}
    assert plain == set(there)
    for name, node in stub.items():
        if not isinstance(node, ast.FunctionDef) or any(
            isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list
        ):
            continue
        owner, _, last = name.rpartition(".")
        value = (
            getattr(_native, owner)
            if last == "__init__"
            else there.get(name) or getattr(getattr(_native, owner), last)
        )
        try:
            signature = inspect.signature(value)
        except ValueError:
            continue  # slots of Python have none
        if last.startswith("__") and last != "__init__":
            continue
        names = [parameter for parameter in signature.parameters if parameter != "self"]
        assert names == [argument.arg for argument in node.args.args if argument.arg != "self"], name


def test_the_command_is_in_the_wheel(tmp_path: Path) -> None:
    assert "reproduce" in command("--help", at=tmp_path).stdout
    assert command("--version", at=tmp_path).returncode == 0
    wrong = command("rnu", at=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "'rnu'" in wrong.stderr
    assert list(tmp_path.iterdir()) == []


def test_import_is_quick_and_brings_nothing_that_is_not_needed() -> None:
    heavy = ("numpy", "matplotlib", "pandas", "torch", "jax")
    program = f"import sys, oneway; print([name for name in {heavy} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


def test_settings_that_no_file_could_hold_are_refused() -> None:
    with pytest.raises(TypeError, match="is no setting"):
        ow.run({"kind": object()}, "ring", "smtpp", agents=3, step=0.1, iterations=5)
    nested: dict[str, object] = {}
    for _ in range(100):
        nested = {"a": nested}
    with pytest.raises(ValueError, match="nested too deeply"):
        ow.run(nested, "ring", "smtpp", agents=3, step=0.1, iterations=5)
    with pytest.raises(ValueError, match="too large a number"):
        ow.run({"kind": "quadratic", "dim": 1 << 70}, "ring", "smtpp", agents=3, step=0.1, iterations=5)


def test_reproduce_gives_the_claims(tmp_path: Path) -> None:
    claims = ow.reproduce(tmp_path / "out", quick=True)
    assert len(claims) >= 15
    assert all(claim["verdict"] for claim in claims)
    assert (tmp_path / "out" / "report.html").exists()


def test_a_device_that_is_not_there_is_refused_and_one_that_is_changes_no_bit(tmp_path: Path) -> None:
    problem = ow.problems.quadratic(dim=3)
    settings = {"agents": 4, "step": 0.1, "iterations": 20}
    with pytest.raises(ValueError, match='device "tpu" is not known: "cpu" or "cuda"'):
        ow.run(problem, "ring", "smtpp", device="tpu", **settings)  # type: ignore[arg-type]
    if not shutil.which("nvidia-smi"):
        with pytest.raises(ValueError, match="no CUDA here: "):
            ow.run(problem, "ring", "smtpp", device="cuda", out=tmp_path / "there", **settings)
        assert not (tmp_path / "there").exists()
        with pytest.raises(ValueError, match="no CUDA here: "):
            ow.tune(problem, "ring", "smtpp", device="cuda", **settings)
        return
    there = ow.run(problem, "ring", "smtpp", device="cuda", **settings)
    assert there.state_hash == ow.run(problem, "ring", "smtpp", device="cpu", **settings).state_hash
    own = ow.Problem(lambda x, a, d: x, dim=3, agents=4, start=[1, 1, 1])
    with pytest.warns(RuntimeWarning, match="ran on the CPU: "):
        ow.run(own, "ring", "smtpp", device="cuda", step=0.1, iterations=5)
