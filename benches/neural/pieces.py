"""Measurements in pieces: each writes a JSON file, and one that is there is not measured again."""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

# tries of one method in one cell: one budget for all
MOST = 6
SEEDS = (1, 2, 3)


class Pieces:
    """What is measured into a folder, piece by piece, until the time is over."""

    def __init__(self, out: str, device: str, seconds: float, small: bool) -> None:
        self.began, self.seconds, self.small = time.perf_counter(), seconds, small
        self.device = torch.device(device)
        self.out = Path(out)
        self.out.mkdir(parents=True, exist_ok=True)
        cuda = self.device.type == "cuda"
        name = torch.cuda.get_device_name(self.device) if cuda else platform.processor() or platform.machine()
        self.machine = {"device": name, "torch": torch.__version__, "date": time.strftime("%Y-%m-%d")}

    def left(self) -> float:
        """Seconds."""
        return self.seconds - (time.perf_counter() - self.began)

    def piece(self, name: str, measure: Callable[[], Any], least: float = 0.0) -> dict[str, Any] | None:
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

    def collect(self) -> int:
        """Write all pieces into one file, `all.json`; how many there are."""
        files = sorted(self.out.glob("*.json"))
        whole = {file.stem: json.loads(file.read_text()) for file in files if file.stem != "all"}
        lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(found)}" for name, found in whole.items())
        (self.out / "all.json").write_text(f"{{\n{lines}\n}}\n")
        return len(whole)

    def search(
        self,
        label: str,
        steps: list[float],
        train: Callable[[float, int], dict[str, Any]],
        least: float = 12.0,
        seeds: tuple[int, ...] = SEEDS,
    ) -> float | None:
        """The best step of a method by `validation` (more is better) with the first seed, and a training with
        it for each other seed. Where the best is the least or the largest of those tried, the search goes on
        in that direction, until it is not or MOST have been tried.
        """
        tried: dict[float, float] = {}

        def attempt(step: float) -> bool:
            found = self.piece(f"{label}-{step}", lambda: train(step, 1), least)
            if found is not None:
                tried[step] = float(found["validation"])
            return found is not None

        whole = all([attempt(step) for step in steps])
        while whole and len(tried) < MOST:
            best, ends = max(tried, key=lambda step: tried[step]), (min(tried), max(tried))
            if best not in ends:
                break
            factor = steps[-1] / steps[-2]
            further = best / factor if best == ends[0] else best * factor
            whole = attempt(float(f"{further:.1g}"))
        if not whole:
            return None
        best = max(tried, key=lambda step: tried[step])
        for seed in seeds[1:]:
            self.piece(f"{label}-{best}-seed-{seed}", lambda seed=seed: train(best, seed), least)
        return best
