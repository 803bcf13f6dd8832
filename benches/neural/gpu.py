"""Measurements of oneway.torch on one device, in pieces: each writes a JSON file, and one that is there is
not measured again.

    python benches/neural/gpu.py --out DIR [--device cuda] [--seconds 300] [--parts table] [--cells one-peer]

CIFAR-10 and Shakespeare come from the cache (`$ONEWAY_DATA`). `--small` is a rehearsal of minutes on a CPU.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))
import trainings
import vgg
from networks import cnn, resnet18
from pieces import Pieces

import oneway.torch as ot
from oneway.torch.engine import drive

LOSS = torch.nn.functional.cross_entropy
AGENTS = 16


class Timings:
    """How long rounds take, in how much memory, and whether kernels have the bits of tensors."""

    def __init__(self, pieces: Pieces) -> None:
        self.device, self.small = pieces.device, pieces.small

    def milliseconds(self, work: Any, repeat: int) -> float:
        """The median time of some work, by device events where there are any."""
        times = []
        for at in range(repeat + 3):
            if self.device.type == "cuda":
                ends = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
                ends[0].record()
                work()
                ends[1].record()
                torch.cuda.synchronize()
                took = ends[0].elapsed_time(ends[1])
            else:
                began = time.perf_counter()
                work()
                took = 1e3 * (time.perf_counter() - began)
            if at >= 3:
                times.append(took)
        return statistics.median(times)

    def random_parts(self, rows: int = 64) -> ot.Parts:
        """Images of noise, for timing."""
        generator = torch.Generator().manual_seed(1)
        x = torch.randn(AGENTS * rows, 3, 32, 32, generator=generator)
        return ot.split(x, torch.arange(AGENTS * rows) % 10, AGENTS)

    def simulation(self, model: Any, method: Any = "smtpp", **settings: Any) -> ot.Simulation:
        """One for timing."""
        given = {
            "rounds": 1000,
            "topology": "exponential",
            "step": 0.01,
            "batch": 32,
            "device": self.device,
            **settings,
        }
        return ot.Simulation(model, LOSS, self.random_parts(), method=method, **given)

    def check(self) -> dict[str, Any]:
        """Whether kernels give the bits of tensors on the CPU, with the same gradients."""
        found: dict[str, Any] = {}
        for kind in ("smtpp", "sgp-momentum", "push-pull", "storm-tracking", "dsmt", "abm", "frost"):
            for dtype in (torch.float64, torch.float32):
                runs = []
                for device in ("cpu", self.device):
                    torch.manual_seed(1)
                    data = [(torch.randn(4, 7), torch.zeros(4).long()) for _ in range(AGENTS)]
                    model = torch.nn.Linear(7, 3).to(dtype)
                    run = ot.Simulation(
                        model, LOSS, data, rounds=10, method=kind, step=0.1, batch=2, device=device,
                        mixing="gather",
                    )  # fmt: skip
                    numbers = torch.Generator().manual_seed(2)

                    def gradients(asked: Any, run: Any = run, numbers: Any = numbers) -> Any:
                        shape, like = asked.points[0].shape, asked.points[0]
                        given = [
                            torch.randn(shape, generator=numbers, dtype=torch.float64).to(like)
                            for _ in range(2)
                        ]
                        return given[0], given[1] if len(asked.points) == 2 else None

                    run._gradients = gradients  # type: ignore[method-assign]
                    run.advance(10)
                    runs.append([state.cpu() for state in run.states.values()])
                same = all(torch.equal(a, b) for a, b in zip(*runs, strict=True))
                found[f"{kind} {str(dtype)[6:]}"] = same
        return {"same_bits": found}

    def captured(self) -> dict[str, Any]:
        """Whether recorded kernels give the bits of those that are started one by one, with dropout too."""
        found: dict[str, Any] = {}
        for name, layers in (("plain", []), ("dropout", [torch.nn.Dropout()])):
            runs = []
            for captured in (False, True, True):
                torch.manual_seed(1)
                model = torch.nn.Sequential(*layers, cnn(8))
                run = self.simulation(model, captured=captured)
                run.advance(5)
                runs.append(run.points)
            found[name] = {"same_bits": torch.equal(runs[0], runs[1]), "again": torch.equal(runs[1], runs[2])}
        return found

    def rounds(self, width: int, batch: int, **settings: Any) -> dict[str, Any]:
        """A round of 16 agents, its gradients alone, and what is left: the engine."""
        torch.manual_seed(1)
        run = self.simulation(cnn(width), batch=batch, **settings)
        run.advance(3)
        repeat = 5 if self.small else 30
        whole = self.milliseconds(lambda: self.advance(run), repeat)
        drawn = run.parts.batch(1, 1, batch)
        gradients = self.milliseconds(lambda: run.copies.gradients(run.points, *drawn), repeat)
        engine = self.engine(run, repeat)
        sampling = self.milliseconds(lambda: run.parts.batch(1, 1, batch), repeat)
        return {"weights": run.copies.dim, "batch": batch, "round_ms": whole, "gradients_ms": gradients,
                "engine_ms": engine, "sampling_ms": sampling}  # fmt: skip

    @staticmethod
    def advance(run: ot.Simulation) -> None:
        """A round, without waiting for it."""
        with torch.no_grad():
            drive(run.engine.round(), run._gradients)

    def engine(self, run: ot.Simulation, repeat: int) -> float:
        """A round with gradients that are there already."""
        g = torch.randn_like(run.points)
        return self.milliseconds(lambda: drive(run.engine.round(), lambda asked: (g, None)), repeat)

    def memory(self) -> dict[str, Any]:
        """Eleven million weights at sixteen agents, in f32."""
        torch.manual_seed(1)
        width, batch = (4, 2) if self.small else (64, 32)
        run = self.simulation(resnet18(width), batch=batch, chunk=4)
        cuda = self.device.type == "cuda"
        if cuda:
            torch.cuda.reset_peak_memory_stats()
        run.advance(3)
        repeat = 3 if self.small else 8
        found: dict[str, Any] = {"weights": run.copies.dim, "batch": batch, "agents_at_a_time": 4}
        found["round_ms"] = self.milliseconds(lambda: self.advance(run), repeat)
        found["peak_bytes"] = torch.cuda.max_memory_allocated() if cuda else None
        found["engine_ms"] = self.engine(run, repeat)
        row = AGENTS * run.copies.dim * 4
        # the states x, v and m, and one gradient
        found |= {"array_bytes": row, "least_bytes": 4 * row}
        tensors = self.simulation(resnet18(width), batch=batch, chunk=4, fused=False)
        tensors.advance(1)
        found["engine_by_tensors_ms"] = self.engine(tensors, repeat)
        return found


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--epochs", type=int, default=12, help="of the table's trainings")
    parser.add_argument("--parts", default="check,captured,rounds,memory,table,shakespeare,vgg")
    parser.add_argument("--cells", default=",".join(trainings.CELLS), help="of the table")
    parser.add_argument("--vgg", default="sgp,smtpp,smtpp-muon", help="methods of the long trainings")
    parser.add_argument("--vgg-epochs", type=int, default=vgg.WHOLE)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    pieces = Pieces(given.out, given.device, given.seconds, given.small)
    timings, chosen, small = Timings(pieces), given.parts.split(","), given.small
    if "check" in chosen:
        pieces.piece("check", timings.check)
    if "captured" in chosen and pieces.device.type == "cuda":
        pieces.piece("captured", timings.captured)
    if "rounds" in chosen:
        for width, batch in ((4, 2),) if small else ((16, 8), (16, 32), (32, 32)):
            name = f"rounds-{width}-{batch}"
            pieces.piece(name, lambda w=width, b=batch: timings.rounds(w, b), 10)
            if pieces.device.type == "cuda":
                pieces.piece(f"{name}-captured", lambda w=width, b=batch: timings.rounds(w, b, captured=True))
        mixed = {"gradients": torch.bfloat16}
        pieces.piece(
            "rounds-bf16", lambda: timings.rounds(4 if small else 16, 2 if small else 32, **mixed), 10
        )
    if "memory" in chosen:
        pieces.piece("memory", timings.memory, 20)
    if "table" in chosen:
        trainings.table(pieces, given.cells.split(","), given.epochs)
    if "shakespeare" in chosen:
        trainings.shakespeare(pieces)
    if "vgg" in chosen:
        vgg.run(pieces, given.vgg.split(","), given.vgg_epochs)
    print(f"{pieces.collect()} pieces, {pieces.left():.0f} s left")


if __name__ == "__main__":
    main()
