"""Runs the blocks of a page as its reader would: from top to bottom, in a folder that holds the repository's files.

Commands are those that were built. `cargo run` starts them, and what builds, installs or tests is answered by
stand-ins: it was done before the pages are run, or is a step of its own. A stand-in refuses what it does not know.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from documents import ROOT, Block

BORROWED = ("experiments", "benches", "crates", "docs", "python", "scripts", "deploy", "justfile")
"""What a page's folder has of the repository, as links."""
DONE_BEFORE = (
    r"cargo run --release -- reproduce",
    r"cargo build --release( -p [a-z-]+)*",
    r"cargo test --workspace",
    r"cargo doc --open -p oneway",
    r"cargo install --path crates/[a-z-]+",
    r"(uv )?pip install \.",
    r"pip install oneway-opt",
)
"""Commands that have a step of their own in .ci/run, or whose result the pages are run with."""
SHORT = ("run.iterations=2", "run.record_every=1", "run.repetitions=1")
TIMEOUT = 900


@dataclass
class Builds:
    """The programs that commands are run with."""

    folder: Path

    def program(self, name: str) -> Path:
        """`oneway`, `oneway-agent` or `examples/quick_start`."""
        return self.folder / name


class Folder:
    """A scratch folder for one page."""

    def __init__(self, builds: Builds) -> None:
        self._room = tempfile.TemporaryDirectory(prefix="oneway-docs-")
        self.path = Path(self._room.name)
        self.builds = builds
        self.experiment: dict[str, str] = {}
        for name in BORROWED:
            (self.path / name).symlink_to(ROOT / name)
        (self.path / "out").mkdir()
        programs = self.path / "target" / "release"
        programs.mkdir(parents=True)
        for name, text in self._stand_ins().items():
            (programs / name).write_text(text, encoding="utf-8")
            (programs / name).chmod(0o755)

    def close(self) -> None:
        """Remove it."""
        self._room.cleanup()

    def _stand_ins(self) -> dict[str, str]:
        oneway, agent = (shlex.quote(str(self.builds.program(name))) for name in ("oneway", "oneway-agent"))
        examples = shlex.quote(str(self.builds.program("examples")))
        head = "#!/usr/bin/env bash\nset -euo pipefail\n"
        known = "|".join(f"({pattern})" for pattern in DONE_BEFORE)
        # the settings of a budget are for commands that run an experiment
        short = 'case "${1-}" in run|tune|certify|audit|launch) settings=(${ONEWAY_BUDGET-});; *) settings=();; esac\n'
        others = f'[[ "$(basename "$0") $*" =~ ^({known})$ ]] || {{ echo "no stand-in for: $(basename "$0") $*" >&2; exit 1; }}\n'
        cargo = (
            f'[[ "cargo $*" =~ ^({known})$ ]] && exit 0\n'
            'case "$*" in\n'
            '"run --release -- "*) shift 3; exec oneway "$@";;\n'
            '"run --release -p oneway-agent -- "*) shift 5; exec oneway-agent "$@";;\n'
            f'"run --release -p oneway --example "*|"run --release -p oneway-lab --example "*) exec {examples}/"$6";;\n'
            "esac\n"
        )
        recipe = '[[ "$#" -ge 1 ]] && grep -qE "^$1( [^:]*)?:" justfile || { echo "no recipe $*" >&2; exit 1; }\n'
        return {
            "oneway": f'{head}{short}exec {oneway} "$@" "${{settings[@]}}"\n',
            "oneway-agent": f'{head}{short}exec {agent} "$@" "${{settings[@]}}"\n',
            "cargo": head + cargo + others,
            "pip": head + others,
            "uv": head + others,
            "just": head + recipe,
        }

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
            return f"it ended with {output.returncode}, not {wanted}\n{output.stdout[-2000:]}{output.stderr[-2000:]}"
        if block.after is None:
            return None
        if wanted and not _matches(output.stderr, block.after):
            return f"it says\n{output.stderr}"
        missing = _lines(block.after) - _lines(output.stdout)
        return f"it does not print {missing}, but\n{output.stdout}" if missing and not wanted else None

    def _experiment(self, block: Block) -> str | None:
        """Two rounds of an experiment. What a block leaves out is what the blocks before it on the page have."""
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
        programs = self.path / "target" / "release"
        environment = os.environ | {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "ONEWAY_BUDGET": budget,
            "NO_COLOR": "1",
            "COLUMNS": "100",
        }
        return subprocess.run(
            command, cwd=self.path, env=environment, capture_output=True, text=True, timeout=TIMEOUT, check=False
        )


def _matches(said: str, shown: str) -> bool:
    """Whether a message is the one shown; where that ends with an ellipsis, any end will do."""
    said, shown = said.strip(), shown.strip()
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
