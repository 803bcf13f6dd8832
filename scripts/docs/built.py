"""The book as it was built: every address in its pages leads to a file of it, and to a heading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class _Page(HTMLParser):
    """The names that a page has, and the addresses that it asks for."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.addresses: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.names.add(value)
            elif key in ("href", "src") and value:
                self.addresses.add(value)


def complaints(book: Path) -> Iterator[str]:
    """Addresses that lead nowhere, and files from elsewhere that a page would load."""
    pages = {
        path: _Page(path)
        for path in sorted(book.rglob("*.html"))
        if path.name not in ("404.html", "toc.html")
    }
    for path, page in pages.items():
        for address in sorted(page.addresses):
            if re.match(r"[a-z]+:", address):
                continue
            name, _, anchor = address.partition("#")
            to = (path.parent / unquote(name)).resolve() if name else path
            where = f"{path.relative_to(book)}: {address}"
            if not to.is_relative_to(book) or not to.exists():
                yield f"{where}: there is no such file in the book"
            elif anchor and to in pages and unquote(anchor) not in pages[to].names:
                yield f"{where}: there is no such heading"
