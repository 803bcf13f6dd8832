"""Processes that find each other: under torchrun, srun, mpirun or oneway-agent."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping


def rendezvous(environment: Mapping[str, str]) -> dict[str, str]:
    """RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torchrun sets them, also under srun or mpirun."""
    if "RANK" in environment and "WORLD_SIZE" in environment:
        found = {name: environment[name] for name in ("RANK", "WORLD_SIZE")}
    elif "OMPI_COMM_WORLD_RANK" in environment:
        found = {
            "RANK": environment["OMPI_COMM_WORLD_RANK"],
            "WORLD_SIZE": environment["OMPI_COMM_WORLD_SIZE"],
        }
    elif "SLURM_PROCID" in environment and "SLURM_NTASKS" in environment:
        found = {"RANK": environment["SLURM_PROCID"], "WORLD_SIZE": environment["SLURM_NTASKS"]}
    else:
        raise RuntimeError("this process was not started by torchrun, srun or mpirun: there is no rank")
    nodes = environment.get("SLURM_STEP_NODELIST") or environment.get("SLURM_JOB_NODELIST")
    address = environment.get("MASTER_ADDR") or (first_host(nodes) if nodes else None)
    if address is None:
        raise RuntimeError("set MASTER_ADDR, the host of rank 0")
    # jobs of one host get ports of their own
    port = 20000 + int(environment.get("SLURM_JOB_ID", "0")) % 20000
    return found | {"MASTER_ADDR": address, "MASTER_PORT": environment.get("MASTER_PORT", str(port))}


def first_host(nodes: str) -> str:
    """The first of Slurm's list of hosts: ``n[03-05,9],m1`` is n03."""
    match = re.match(r"([^\[,]*)(?:\[([^\],-]+)[^\]]*\]([^,]*))?", nodes)
    assert match is not None  # it matches nothing at all, too
    return "".join(part or "" for part in match.groups())


def connect(backend: str = "gloo") -> int:
    """Join the other processes of this job, once, and say which agent this one is.

    Under ``oneway-agent carry`` there is nothing to join: its links are there.

    Under ``torchrun`` this is ``torch.distributed.init_process_group``. Under ``srun`` and ``mpirun`` the
    rank and the number of processes come from the environment; rank 0 listens at the first host of the job,
    or at MASTER_ADDR, on MASTER_PORT.

    Parameters
    ----------
    backend : str
        ``"gloo"``, or ``"nccl"`` for CUDA.
    """
    import torch.distributed as dist

    if "ONEWAY_LINK" in os.environ:
        return int(os.environ["ONEWAY_AGENT"])
    if not dist.is_initialized():
        os.environ.update(rendezvous(os.environ))
        dist.init_process_group(backend)
    return int(dist.get_rank())
