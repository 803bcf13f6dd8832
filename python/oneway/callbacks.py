"""Observers: what is measured, as soon as it is measured, in TensorBoard, Weights & Biases, trackio or a
file; and early stopping.
"""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path
from typing import Any, Protocol

__all__ = ["CsvLogger", "EarlyStopping", "Observer", "TensorBoard", "Trackio", "WandB"]


class Observer(Protocol):
    """Is shown each measured state. An object with these methods, or a function like ``observe``, can be
    given as a callback.
    """

    def observe(self, topology: str, method: str, repetition: int, point: dict[str, float]) -> bool | None:
        """Look at a state: ``iteration``, ``loss``, ``grad_norm_sq``, …; return true to stop this run."""

    def close(self) -> None:
        """Is called once, at the end."""


class CsvLogger:
    """Writes each state to a file as it comes.

    Parameters
    ----------
    path : path-like
        The file. It is written anew.
    """

    COLUMNS = (
        "topology", "method", "repetition", "iteration", "loss", "grad_norm_sq", "consensus_error",
        "tracking_error", "momentum_error", "conservation_error", "test_accuracy", "bytes_sent",
        "time", "loss_gap", "agents_grad_norm_sq", "distance_sq",
    )  # fmt: skip

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = Path(path).open("w", encoding="utf-8")
        self._file.write(",".join(self.COLUMNS) + "\n")

    def observe(self, topology: str, method: str, repetition: int, point: dict[str, float]) -> None:
        """Write one line."""
        row: dict[str, Any] = {"topology": topology, "method": method, "repetition": repetition, **point}
        self._file.write(",".join(str(row.get(name, "")) for name in self.COLUMNS) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class EarlyStopping:
    """Stops a run when a quantity is good enough, or has not become better for a while.

    Parameters
    ----------
    quantity : str
        What is looked at: a column of the curves.
    below : float, optional
        Stop at or below this value.
    patience : int, optional
        Stop after this number of measured states without a new least value.

    Examples
    --------
    >>> import oneway as ow
    >>> stop = ow.callbacks.EarlyStopping("grad_norm_sq", below=1e-6)
    >>> problem = ow.problems.quadratic(dim=3)
    >>> asked = dict(agents=4, step=0.1, iterations=100_000, callbacks=[stop])
    >>> result = ow.run(problem, "ring", "push-pull", **asked)
    >>> result.cells[0]["status"], result.cells[0]["rounds"] < 1000
    ('stopped', True)
    """

    def __init__(
        self, quantity: str = "loss", *, below: float | None = None, patience: int | None = None
    ) -> None:
        if below is None and patience is None:
            raise ValueError("give below=, patience=, or both")
        self.quantity = quantity
        self.below = below
        self.patience = patience
        self._least: dict[tuple[str, str, int], tuple[float, int]] = {}

    def observe(self, topology: str, method: str, repetition: int, point: dict[str, float]) -> bool:
        """Return whether to stop."""
        if self.quantity not in point:
            raise ValueError(f"{method} has no {self.quantity!r}: there are {', '.join(point)}")
        value = point[self.quantity]
        if self.below is not None and value <= self.below:
            return True
        place = (topology, method, repetition)
        least, waited = self._least.get(place, (float("inf"), 0))
        self._least[place] = (value, 0) if value < least else (least, waited + 1)
        return self.patience is not None and self._least[place][1] >= self.patience

    def close(self) -> None:
        """Do nothing."""


class TensorBoard:
    """Writes TensorBoard event files, a folder for each run. Needs no other package.

    Parameters
    ----------
    folder : path-like
        Where ``tensorboard --logdir`` looks.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._files: dict[str, Any] = {}

    def observe(self, topology: str, method: str, repetition: int, point: dict[str, float]) -> None:
        """Write one event."""
        name = f"{topology} · {method} · {repetition + 1}".replace(os.sep, "_")
        file = self._files.get(name)
        if file is None:
            place = self._folder / name
            place.mkdir(parents=True, exist_ok=True)
            file = (place / f"events.out.tfevents.{int(time.time())}.oneway.{os.getpid()}").open("wb")
            file.write(_record(_event(text="brain.Event:2")))
            self._files[name] = file
        values = {key: value for key, value in point.items() if key != "iteration"}
        file.write(_record(_event(step=int(point["iteration"]), values=values)))
        file.flush()

    def close(self) -> None:
        """Close the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()


class WandB:
    """Logs to Weights & Biases, a run for each; needs ``wandb``. Keyword arguments go to ``wandb.init``."""

    def __init__(self, **settings: Any) -> None:
        import wandb

        self._wandb = wandb
        self._settings = settings
        self._runs: dict[tuple[str, str, int], Any] = {}

    def observe(self, topology: str, method: str, repetition: int, point: dict[str, float]) -> None:
        """Log one state."""
        place = (topology, method, repetition)
        if place not in self._runs:
            names = {"name": f"{topology} · {method} · {repetition + 1}", "reinit": "create_new"}
            config = {"topology": topology, "method": method, "repetition": repetition}
            self._runs[place] = self._wandb.init(**{**names, "config": config, **self._settings})
        rest = {key: value for key, value in point.items() if key != "iteration"}
        self._runs[place].log(rest, step=int(point["iteration"]))

    def close(self) -> None:
        """Finish the runs."""
        for run in self._runs.values():
            run.finish()
        self._runs.clear()


class Trackio:
    """Logs to trackio; needs ``trackio``. Several runs are told apart by the names of what is logged."""

    def __init__(self, project: str = "oneway", **settings: Any) -> None:
        import trackio

        self._trackio = trackio
        trackio.init(project=project, **settings)

    def observe(self, topology: str, method: str, repetition: int, point: dict[str, float]) -> None:
        """Log one state."""
        name = f"{topology}/{method}/{repetition + 1}"
        self._trackio.log({f"{name}/{key}": value for key, value in point.items()})

    def close(self) -> None:
        """Finish."""
        self._trackio.finish()


def _event(*, text: str | None = None, step: int = 0, values: dict[str, float] | None = None) -> bytes:
    """An Event of TensorBoard: wall_time = 1, step = 2, file_version = 3, summary = 5 (value = 1: tag = 1,
    simple_value = 2).
    """
    event = b"\x09" + struct.pack("<d", time.time())
    if step:
        event += b"\x10" + _varint(step)
    if text is not None:
        event += b"\x1a" + _bytes(text.encode())
    if values:
        summary = b""
        for tag, value in values.items():
            summary += b"\x0a" + _bytes(b"\x0a" + _bytes(tag.encode()) + b"\x15" + struct.pack("<f", value))
        event += b"\x2a" + _bytes(summary)
    return event


def _bytes(data: bytes) -> bytes:
    return _varint(len(data)) + data


def _varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _record(data: bytes) -> bytes:
    """A record of a TFRecord file: length, its checksum, data, their checksum."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", _masked(length)) + data + struct.pack("<I", _masked(data))


def _masked(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _table() -> list[int]:
    """CRC-32C by bytes."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _table()
