"""Observers."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import oneway as ow
from oneway.callbacks import CsvLogger, EarlyStopping, TensorBoard

ASKED = {"agents": 4, "step": 0.1, "iterations": 100, "record_every": 10}


def run(**more: object) -> ow.Result:
    return ow.run(ow.problems.quadratic(dim=3), "ring", ["smtpp", "push-pull"], **{**ASKED, **more})


def test_observers_see_every_state_as_it_is_recorded() -> None:
    seen: list[tuple[str, str, int, int, float]] = []
    watched = run(callbacks=[lambda t, m, r, p: seen.append((t, m, r, p["iteration"], p["loss"]))])
    curves = watched.curves
    rows = zip(
        curves["topology"],
        curves["method"],
        curves["repetition"],
        curves["iteration"],
        curves["loss"],
        strict=True,
    )
    assert sorted(seen) == sorted(rows)
    assert watched.state_hash == run().state_hash


def test_a_run_can_be_stopped_and_others_go_on() -> None:
    def stop(topology: str, method: str, repetition: int, point: dict[str, float]) -> bool:
        return method == "smtpp" and point["iteration"] >= 50

    result = run(callbacks=[stop])
    assert [(cell["method"], cell["status"], cell["rounds"]) for cell in result.cells] == [
        ("smtpp", "stopped", 50),
        ("push-pull", "completed", 100),
    ]


def test_patience_ends_a_run_that_does_not_become_better() -> None:
    result = ow.run(
        ow.problems.quadratic(dim=3, noise=1.0),
        "ring",
        "push-pull",
        **{**ASKED, "iterations": 10_000},
        callbacks=[EarlyStopping(patience=5)],
    )
    assert result.cells[0]["status"] == "stopped"
    with pytest.raises(ValueError, match="give below="):
        EarlyStopping()
    with pytest.raises(ValueError, match="has no 'accuracy'"):
        run(callbacks=[EarlyStopping("accuracy", below=1)])


def test_what_an_observer_raises_ends_the_run() -> None:
    def broken(*seen: object) -> None:
        raise LookupError("an observer's own")

    with pytest.raises(LookupError, match="an observer's own") as caught:
        run(callbacks=[broken])
    assert caught.value.result.cells


def test_a_file_has_the_curves(tmp_path: Path) -> None:
    result = run(callbacks=[CsvLogger(tmp_path / "log.csv")], threads=1)
    lines = (tmp_path / "log.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == result.to_csv().splitlines()[0]
    assert len(lines) == 1 + 2 * 11


def records(path: Path) -> list[bytes]:
    """The records of a TFRecord file, whose checksums are checked by an implementation of their own."""

    def crc32c(data: bytes) -> int:
        crc = 0xFFFFFFFF
        for byte in data:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 & -(crc & 1))
        crc ^= 0xFFFFFFFF
        return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF

    data, found = path.read_bytes(), []
    while data:
        length, check = struct.unpack("<QI", data[:12])
        assert check == crc32c(data[:8])
        body, (end,) = data[12 : 12 + length], struct.unpack("<I", data[12 + length : 16 + length])
        assert end == crc32c(body)
        found.append(body)
        data = data[16 + length :]
    return found


def test_tensorboard_files_are_whole(tmp_path: Path) -> None:
    run(callbacks=[TensorBoard(tmp_path)])
    folders = sorted(path.name for path in tmp_path.iterdir())
    assert folders == ["ring · push-pull · 1", "ring · smtpp · 1"]
    (file,) = (tmp_path / "ring · smtpp · 1").iterdir()
    events = records(file)
    assert len(events) == 1 + 11
    assert b"brain.Event:2" in events[0]
    assert b"grad_norm_sq" in events[3]
    assert b"\x10\x64" in events[-1]  # step 100


def test_tensorboard_reads_them(tmp_path: Path) -> None:
    reader = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="tensorboard is not installed"
    )
    result = run(callbacks=[TensorBoard(tmp_path)])
    events = reader.EventAccumulator(str(tmp_path / "ring · smtpp · 1"))
    events.Reload()
    losses = [event.value for event in events.Scalars("loss")]
    assert losses == pytest.approx(result.curve("smtpp")["loss"], rel=1e-6)
