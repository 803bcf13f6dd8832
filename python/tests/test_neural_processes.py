"""One agent a process: the loop of PyTorch gives the numbers of a simulation."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import needs

torch: Any = needs("torch", "torch")
if True:  # after torch is known to be there
    import oneway.torch as ot
    from oneway.torch.processes import first_host, rendezvous

AGENTS, ROWS, BATCH, ROUNDS = 4, 20, 5, 12
METHODS = ["smtpp", "sgp-momentum", "smtpp-muon", "frost", "dsmt", "smtpp-adam", "demuon"]
SHAPED: dict[str, Any] = {"weight_decay": 0.1, "clip": 0.5, "clip_by": "layer"}
CUT = 6


def network() -> Any:
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3)).double()


def parts() -> Any:
    generator = torch.Generator().manual_seed(7)
    x = torch.randn(AGENTS * ROWS, 4, generator=generator).double()
    return ot.split(x, x[:, :3].argmax(1), AGENTS, "by-class")


def agent(folder: Path) -> None:
    """What each process does."""
    import torch.distributed as dist

    torch.set_num_threads(1)
    rank = ot.connect()
    for kind in METHODS:
        model, data = network(), parts()
        optimizer = ot.Optimizer(model.parameters(), kind, "exponential", step=0.05, **SHAPED)
        first = 0 if optimizer.rule.start_asks != "nothing" else 1
        for k in range(first, ROUNDS + 1):
            # a rule that starts without a gradient takes its first after an exchange, at x₀ too
            inputs, targets = data.batch(3, k, BATCH, agent=rank)
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs[0]), targets[0]).backward()
            optimizer.step()
            if k == CUT:  # a new process would begin with any parameters
                kept, model = optimizer.state_dict(), network()
                optimizer = ot.Optimizer(model.parameters(), kind, "exponential", step=0.05, **SHAPED)
                optimizer.load_state_dict(kept)
        row = torch.cat([p.detach().reshape(-1) for p in model.parameters()])
        torch.save(row, folder / f"{kind}-{rank}.pt")
    dist.destroy_process_group()


def test_four_processes_have_the_numbers_of_a_simulation(tmp_path: Path) -> None:
    line = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc-per-node",
        AGENTS,
        __file__,
        tmp_path,
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        list(map(str, line)), env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    for kind in METHODS:
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
        rows = torch.stack([torch.load(tmp_path / f"{kind}-{rank}.pt") for rank in range(AGENTS)])
        assert float((rows - run.points).norm() / run.points.norm()) < 1e-12, kind


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


def test_what_a_loop_cannot_do_is_said() -> None:
    with pytest.raises(RuntimeError, match="no process group"):
        ot.Optimizer(network().parameters(), "smtpp", "ring", step=0.1)


if __name__ == "__main__":
    agent(Path(sys.argv[1]))
