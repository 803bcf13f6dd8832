"""Runs the blocks of a page as its reader would: in order, in a folder that has the repository's files.

Commands are those that were built; scripts/docs/stand-in says what the others become.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from documents import ROOT, Block

BORROWED = ("experiments", "benches", "crates", "docs", "python", "scripts", "deploy", "justfile")
"""What a page's folder has of the repository, as links."""
STAND_INS = ("oneway", "oneway-agent", "cargo", "pip", "uv", "just")
"""Commands that scripts/docs/stand-in answers."""
SHORT = ("run.iterations=2", "run.record_every=1", "run.repetitions=1")
TIMEOUT = 600


class Builds:
    """The programs that commands are run with: each from the first of these folders that has it."""

    def __init__(self, *folders: Path) -> None:
        self.folders = folders

    def program(self, name: str) -> Path:
        """Where `oneway`, `oneway-agent` or `examples` is."""
        paths = [folder / name for folder in self.folders]
        return next((path for path in paths if _is_built(path)), paths[0])


def _is_built(path: Path) -> bool:
    """Whether it is a program, or a folder of them: cargo makes the folder before there are any."""
    return path.is_file() or (path.is_dir() and any(path.iterdir()))


class Folder:
    """A scratch folder for one page."""

    def __init__(self, builds: Builds) -> None:
        self._room = tempfile.TemporaryDirectory(prefix="oneway-docs-")
        self.path = Path(self._room.name)
        self.experiment: dict[str, str] = {}
        for name in BORROWED:
            (self.path / name).symlink_to(ROOT / name)
        (self.path / "out").mkdir()
        programs = self.path / "target" / "release"
        programs.mkdir(parents=True)
        built = self.path / "target" / "built"
        built.mkdir()
        for name in ("oneway", "oneway-agent", "examples"):
            (built / name).symlink_to(builds.program(name))
        for name in STAND_INS:
            (programs / name).symlink_to(ROOT / "scripts" / "docs" / "stand-in")

    def close(self) -> None:
        """Remove it."""
        self._room.cleanup()

    def run(self, block: Block) -> str | None:
        """Run a block; what went wrong, if anything."""
        if name := block.instructions.get("file"):
            return self._write(name, block.code)
        kinds: dict[str, Callable[[Block], str | None]] = {"sh": self._shell, "toml": self._experiment}
        return kinds[block.language](block)

    def _write(self, name: str, content: str) -> str | None:
        path = (self.path / name).resolve()
        if not path.is_relative_to(self.path.resolve()):
            return f"the file {name} is not in the page's folder"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        return None

    def _shell(self, block: Block) -> str | None:
        budget = " ".join(f"--set {pair}" for pair in block.instructions.get("budget", "").split())
        output = self._command(["bash", "-euo", "pipefail", "-c", block.code], budget)
        wanted = int(block.instructions.get("exit", "0"))
        if output.returncode != wanted:
            said = output.stdout[-2000:] + output.stderr[-2000:]
            return f"it ended with {output.returncode}, not {wanted}\n{said}"
        if block.after is None:
            return None
        if wanted and not _matches(output.stderr, block.after):
            return f"it says\n{output.stderr}"
        missing = _lines(block.after) - _lines(output.stdout)
        return f"it does not print {missing}, but\n{output.stdout}" if missing and not wanted else None

    def _experiment(self, block: Block) -> str | None:
        """Two rounds of an experiment. What a block leaves out is what the blocks before it have."""
        sections = dict(self.experiment)
        new = _sections(block.code)
        if "method" in new:
            sections.pop("sweep", None)  # it names a method of the block before
        sections |= new
        self._write("shown.toml", "".join(sections.values()))
        settings = [part for pair in SHORT for part in ("--set", pair)]
        run = ["oneway", "run", "shown.toml", "--no-report", "--fresh", "--out", "out/shown", *settings]
        output = self._command(run, "")
        if output.returncode != 0:
            return output.stderr
        self.experiment = sections
        return None

    def _command(self, command: list[str], budget: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder, which is its home too: pages may install into it."""
        programs = self.path / "target" / "release"
        environment = os.environ | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "HOME": str(self.path),
            "ONEWAY_BUDGET": budget,
            "ONEWAY_BUILDS": str(self.path / "target" / "built"),
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }
        process = subprocess.Popen(
            command,
            cwd=self.path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            said, complained = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # whatever it started, too
            said, complained = process.communicate()
            complained += f"not done after {TIMEOUT} s"
        return subprocess.CompletedProcess(command, process.returncode, said, complained)


def _matches(said: str, shown: str) -> bool:
    """Whether a message is the one shown, broken into lines or not; after an ellipsis any end will do."""
    said, shown = (" ".join(text.split()) for text in (said, shown))
    return said.startswith(shown[:-1]) if shown.endswith("…") else said == shown


def _lines(text: str) -> set[str]:
    """The lines of a text, with single blanks."""
    return {" ".join(line.split()) for line in text.splitlines() if line.strip()}


def _sections(text: str) -> dict[str, str]:
    """The sections of an experiment file by their first name: all of `[[method]]` is one."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines(keepends=True):
        if header := re.match(r"\[+([a-z]+)", line):
            name = header[1]
        found[name] = found.get(name, "") + line
    return found
