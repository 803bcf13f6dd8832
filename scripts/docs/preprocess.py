"""What mdBook shows is not quite what the pages say: links out of the book are rewritten, and maths is set.

mdBook starts this program (book.toml), gives it the book as JSON and takes it back.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from maths import typeset
from source_links import rewritten


def main() -> None:
    """Answer `supports`, or read (context, book) and write the book."""
    if len(sys.argv) > 1:
        sys.exit(0 if sys.argv[1] == "supports" else 2)
    context, book = json.load(sys.stdin)
    html = context["config"].get("output", {}).get("html", {})
    for item in book["items"]:
        _visit(item, html.get("git-repository-url"))
    json.dump(book, sys.stdout)


def _visit(item: Any, address: str | None) -> None:
    if isinstance(item, dict) and "Chapter" in item:
        chapter = item["Chapter"]
        if page := chapter.get("source_path"):
            chapter["content"] = typeset(rewritten(chapter["content"], page, address))
        for below in chapter["sub_items"]:
            _visit(below, address)


main()
