"""What can be said of pages without running them: the book is complete, links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from documents import (
    BOOK,
    INSTRUCTIONS,
    ROOT,
    RUN,
    SHOWN,
    SUMMARY,
    Block,
    anchors,
    blocks,
    book,
    links,
    markdown,
    pages,
)


def complaints() -> Iterator[str]:
    """Everything that is wrong, each with its place."""
    yield from _summary()
    yield from _links()
    for page in pages():
        for block in blocks(page):
            yield from _block(block)


def _summary() -> Iterator[str]:
    """Every page of the book is in its table of contents, once; what is in there exists."""
    text = re.sub(r"<!--.*?-->", "", SUMMARY.read_text(encoding="utf-8"), flags=re.DOTALL)
    listed = [BOOK / target for target in re.findall(r"\]\(([^)]+)\)", text)]
    for page in book():
        if (count := listed.count(page)) != 1:
            yield f"docs/SUMMARY.md: {page.relative_to(BOOK)} is listed {count} times, not once"
    for page in listed:
        if not page.exists():
            yield f"docs/SUMMARY.md: there is no {page.relative_to(BOOK)}"


def _links() -> Iterator[str]:
    known: dict[Path, set[str]] = {}
    for page in markdown():
        for line, target in links(page):
            if re.match(r"[a-z]+:", target):
                continue
            where = f"{page.relative_to(ROOT)}:{line}: {target}"
            name, _, anchor = target.partition("#")
            to = (page.parent / unquote(name)).resolve() if name else page
            if not to.exists():
                yield f"{where}: there is no such file"
            elif not to.is_relative_to(ROOT):
                yield f"{where}: it is outside of the repository"
            elif anchor and to.suffix == ".md":
                if to not in known:
                    known[to] = anchors(to)
                if unquote(anchor) not in known[to]:
                    yield f"{where}: there is no such heading"


def _block(block: Block) -> Iterator[str]:
    """A block has a language that is known, and instructions that fit it."""
    if block.language not in RUN + SHOWN:
        yield f"{block.place}: the language `{block.language}` of a block is none of {', '.join(RUN + SHOWN)}"
    for key, value in block.instructions.items():
        if key not in INSTRUCTIONS:
            yield f"{block.place}: the instruction `{key}` is none of {', '.join(INSTRUCTIONS)}"
        elif key != "slow" and not value:
            yield f"{block.place}: `{key}` says nothing"
    if block.language == "rust" and "not run" not in block.instructions and not compiled(block.code):
        yield f"{block.place}: no example and no source file has this code; show what is compiled"


def compiled(code: str) -> bool:
    """Whether these lines stand in a program that the tests compile and run, or in the library itself."""
    if not _SOURCES:
        files = [*ROOT.glob("crates/*/examples/*.rs"), *ROOT.glob("crates/*/src/**/*.rs")]
        _SOURCES.extend(file.read_text(encoding="utf-8") for file in files)
    return any(code in source for source in _SOURCES)


_SOURCES: list[str] = []
