"""One agent a process: the loop of PyTorch gives the numbers of a simulation."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import forks
import pytest
from conftest import needs

torch: Any = needs("torch", "torch")
if True:  # after torch is known to be there
    import oneway.torch as ot
    from oneway.torch.processes import first_host, rendezvous

ROOT = Path(__file__).parents[2]
AGENTS, ROWS, BATCH, ROUNDS = 4, 20, 5, 12
METHODS = ["smtpp", "sgp-momentum", "smtpp-muon", "frost", "dsmt", "smtpp-adam", "demuon"]
SHAPED: dict[str, Any] = {"weight_decay": 0.1, "clip": 0.5, "clip_by": "layer"}
CUT = 6
#: a process under `oneway-agent carry` has one training: what travels besides rows, and two exchanges a round
CARRIED = ["sgp-momentum", "frost", "demuon"]
#: the process that is killed: at which step, and after which it goes on when it is started again
KILLED, DIES, GOES_ON = 2, 9, 5


def network() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).double()


def parts() -> Any:
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(AGENTS * ROWS, 4, generator=generator).double()
    return ot.split(x, x[:, :3].argmax(1), AGENTS, "by-class")


def agent(folder: Path, *kinds: str) -> None:
    """What each process does."""
    torch.set_num_threads(1)
    rank = ot.connect()
    for kind in kinds:
        model, data = network(), parts()
        optimizer = ot.Optimizer(model.parameters(), kind, "exponential", step=0.05, **SHAPED)
        first = 0 if optimizer.rule.start_asks != "nothing" else 1
        for k in range(first, ROUNDS + 1):
            # a rule that starts without a gradient takes its first after an exchange, at x₀ too
            inputs, targets = data.batch(3, k, BATCH, agent=rank)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs[0]), targets[0]).backward()
            optimizer.step()
            if k == CUT and len(kinds) > 1:  # a new process would begin with any parameters
                kept, model = optimizer.state_dict(), network()
                optimizer = ot.Optimizer(model.parameters(), kind, "exponential", step=0.05, **SHAPED)
                optimizer.load_state_dict(kept)
        row = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
        torch.save(row, folder / f"{kind}-{rank}.pt")
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def agent_that_may_die(folder: Path) -> None:
    """The same for one method; one process ends in the middle, and goes on from a state that it kept."""
    torch.set_num_threads(1)
    rank, kept = ot.connect(), folder / "kept.pt"
    model, data = network(), parts()
    optimizer = ot.Optimizer(model.parameters(), "smtpp-muon", "exponential", step=0.05, **SHAPED)
    first = 1
    if rank == KILLED and kept.exists():
        optimizer.load_state_dict(torch.load(kept))
        first = GOES_ON + 1
    for k in range(first, ROUNDS + 1):
        if rank == KILLED and k == DIES and first == 1:
            os._exit(9)
        inputs, targets = data.batch(3, k, BATCH, agent=rank)
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs[0]), targets[0]).backward()
        optimizer.step()
        if rank == KILLED and k == GOES_ON:
            torch.save(optimizer.state_dict(), kept)
    row = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
    torch.save(row, folder / f"smtpp-muon-{rank}.pt")


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    """The command of a process that does what the words behind it say."""
    place = tmp_path_factory.mktemp("forks") / "socket"
    server = subprocess.Popen([sys.executable, __file__, "waits", place], env=environment())
    while not place.exists():
        assert server.poll() is None
        time.sleep(0.05)
    yield [sys.executable, forks.__file__, place]
    server.kill()
    server.wait()


def agents_program() -> str:
    """`oneway-agent`, as it was built here or installed. Without it a test fails where ONEWAY_REQUIRES
    names it, and is skipped elsewhere.
    """
    built = [ROOT / "target" / profile / "oneway-agent" for profile in ("release", "debug")]
    found = next((str(path) for path in built if path.exists()), shutil.which("oneway-agent"))
    leave = pytest.fail if "oneway-agent" in os.environ.get("ONEWAY_REQUIRES", "").split() else pytest.skip
    return found or leave("there is no oneway-agent here: cargo build -p oneway-agent")


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}


def assert_simulated(folder: Path, kinds: list[str]) -> None:
    for kind in kinds:
        settings = {
            "method": kind,
            "topology": "exponential",
            "step": 0.05,
            "batch": BATCH,
            "seed": 3,
        } | SHAPED
        loss = torch.nn.functional.cross_entropy
        run = ot.Simulation(network(), loss, parts(), rounds=ROUNDS + 1, mixing="gather", **settings)
        run.advance(ROUNDS + 1)  # the loop has gone to where the gradient of the next round would be taken
        rows = torch.stack([torch.load(folder / f"{kind}-{rank}.pt") for rank in range(AGENTS)])
        assert float((rows - run.points).norm() / run.points.norm()) < 1e-12, kind


def run(*words: Any) -> None:
    done = subprocess.run(
        list(map(str, words)), env=environment(), capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr


def test_four_processes_have_the_numbers_of_a_simulation(tmp_path: Path, python: list[Any]) -> None:
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", AGENTS, "--no-python"]
    run(sys.executable, *words, *python, "lives", tmp_path, *METHODS)
    assert_simulated(tmp_path, METHODS)


@pytest.mark.parametrize("kind", CARRIED)
def test_rows_over_the_links_of_agents_give_the_same(kind: str, tmp_path: Path, python: list[Any]) -> None:
    run(agents_program(), "carry", "--agents", AGENTS, "--", *python, "lives", tmp_path, kind)
    assert_simulated(tmp_path, [kind])


def test_a_process_that_was_killed_goes_on_alone_while_the_others_wait(
    tmp_path: Path, python: list[Any]
) -> None:
    program, hosts = agents_program(), tmp_path / "hosts.toml"
    ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(AGENTS)]
    addresses = [f"127.0.0.1:{port.getsockname()[1]}" for port in ports]
    hosts.write_text("".join(f'[[agent]]\naddress = "{address}"\n' for address in addresses))
    for port in ports:
        port.close()

    def start(rank: int) -> subprocess.Popen[bytes]:
        words = ["carry", "--hosts", hosts, "--agent", rank, "--", *python, "dies", tmp_path]
        return subprocess.Popen([program, *map(str, words)], env=environment())

    started = [start(rank) for rank in range(AGENTS)]
    try:
        assert started[KILLED].wait(300) == 9
        started[KILLED] = start(KILLED)
        assert [process.wait(300) for process in started] == [0] * AGENTS
    finally:
        for process in started:
            process.kill()
    assert_simulated(tmp_path, ["smtpp-muon"])


def test_processes_of_srun_find_each_other(tmp_path: Path) -> None:
    job = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path), "SLURM_NTASKS": "2"}
    job |= {"SLURM_STEP_NODELIST": "localhost", "SLURM_JOB_ID": str(os.getpid())}
    code = "import oneway.torch as ot, torch.distributed as d; r = ot.connect(); print(r, d.get_world_size())"
    started = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=job | {"SLURM_PROCID": rank}, stdout=subprocess.PIPE
        )
        for rank in ("0", "1")
    ]
    said = [process.communicate(timeout=60)[0].decode().split() for process in started]
    assert said == [["0", "2"], ["1", "2"]]


def test_ranks_are_read_from_the_environment() -> None:
    assert first_host("n[03-05,9],m1") == "n03"
    assert first_host("a1,b2") == "a1"
    assert first_host("gpu-[7]-x") == "gpu-7-x"
    slurm = {
        "SLURM_PROCID": "3",
        "SLURM_NTASKS": "4",
        "SLURM_JOB_NODELIST": "n[1-2]",
        "SLURM_JOB_ID": "20007",
    }
    expected = {"RANK": "3", "WORLD_SIZE": "4", "MASTER_ADDR": "n1", "MASTER_PORT": "20007"}
    assert rendezvous(slurm) == expected
    assert rendezvous(slurm | {"MASTER_ADDR": "h", "MASTER_PORT": "5"})["MASTER_ADDR"] == "h"
    with pytest.raises(RuntimeError, match="torchrun, srun or mpirun"):
        rendezvous({})
    with pytest.raises(RuntimeError, match="set MASTER_ADDR"):
        rendezvous({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"})


def test_what_a_loop_cannot_do_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="no process group"):
        ot.Optimizer(network().parameters(), "smtpp", "ring", step=0.1)
    with pytest.raises(RuntimeError, match="not started by `oneway-agent carry`"):
        ot.Carried()
    told = {"ONEWAY_LINK": "nowhere", "ONEWAY_AGENT": "0", "ONEWAY_AGENTS": "3"}
    link = ot.Carried(told)
    with pytest.raises(ValueError, match="the network has 2 agents, and there must be 3"):
        ot.Optimizer(network().parameters(), "smtpp", [(0, 1), (1, 0)], step=0.1, link=link)
    with pytest.raises(ValueError, match="give link= or group=, not both"):
        ot.Optimizer(network().parameters(), "smtpp", "ring", step=0.1, link=link, group=1)
    optimizer = ot.Optimizer(network().parameters(), "smtpp", "ring", step=0.1, link=link)
    for p in optimizer.param_groups[0]["params"]:
        p.grad = torch.zeros_like(p)
    monkeypatch.setattr(ot.Carried, "_used", False)
    with pytest.raises(RuntimeError, match="oneway-agent has ended"):
        optimizer.step()
    with pytest.raises(RuntimeError, match="has one training"):
        link.open(None)


def test_what_the_other_side_says_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ot.Carried, "_used", False)
    path, text = tmp_path / "link", b"agent 1 ended at round 7"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def serve() -> None:
        stream, _ = listener.accept()
        with stream:
            (length,) = struct.unpack("=I", stream.recv(4, socket.MSG_WAITALL))
            told.update(json.loads(stream.recv(length, socket.MSG_WAITALL)))
            stream.sendall(struct.pack("=I", 0))
            stream.recv(16, socket.MSG_WAITALL)
            stream.sendall(struct.pack("=I", len(text)) + text)

    told: dict[str, Any] = {}
    thread = threading.Thread(target=serve)
    thread.start()
    link = ot.Carried({"ONEWAY_LINK": str(path), "ONEWAY_AGENT": "0", "ONEWAY_AGENTS": "3"})
    optimizer = ot.Optimizer(network().parameters(), "sgp", "ring", step=0.1, link=link)
    for p in optimizer.param_groups[0]["params"]:
        p.grad = torch.zeros_like(p)
    with pytest.raises(RuntimeError, match="oneway-agent: agent 1 ended at round 7"):
        optimizer.step()
    thread.join()
    listener.close()
    size = sum(p.numel() for p in network().parameters())
    assert told["widths"] == [0, size + 1], "the weight of push-sum travels with the row"
    links = {"pulls": [[0, 0.5], [2, 0.5]], "pulled_by": [0, 1]}
    links |= {"pushes": [[0, 0.5], [1, 0.5]], "pushed_by": [0, 2]}
    assert (told["precision"], told["exchanges"], told["links"]) == ("f64", 1, [links])


def work(how: str, place: str, *kinds: str) -> None:
    {"lives": agent, "dies": agent_that_may_die}[how](Path(place), *kinds)


if __name__ == "__main__":
    if sys.argv[1] == "waits":
        importlib.import_module("torch._dynamo")  # as an optimiser's first step does
        forks.serve(Path(sys.argv[2]), work)
    work(*sys.argv[1:])
