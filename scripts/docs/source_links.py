"""An mdBook preprocessor: links from the book to other files of the repository.

With `git-repository-url` in book.toml they become links to it. Without one they become the link's text with the file's
path as a tooltip, since a book that is read alone has no such file.
"""

from __future__ import annotations

import json
import posixpath
import re
import sys
from typing import Any

from documents import BOOK, LINK, ROOT

CODE_OR_LINK = re.compile(rf"(?P<code>^ *```.*?^ *```$)|{LINK.pattern}", re.DOTALL | re.MULTILINE)


def main() -> None:
    """Answer `supports`, or read (context, book) and write the book."""
    if len(sys.argv) > 1:
        sys.exit(0 if sys.argv[1:2] == ["supports"] else 2)
    context, book = json.load(sys.stdin)
    html = context["config"].get("output", {}).get("html", {})
    for item in book["items"]:
        _visit(item, html.get("git-repository-url"))
    json.dump(book, sys.stdout)


def _visit(item: Any, address: str | None) -> None:
    if isinstance(item, dict) and "Chapter" in item:
        chapter = item["Chapter"]
        if chapter.get("source_path"):
            chapter["content"] = rewritten(chapter["content"], chapter["source_path"], address)
        for below in chapter["sub_items"]:
            _visit(below, address)


def rewritten(text: str, page: str, address: str | None) -> str:
    """The page with its links out of the book rewritten; code is left alone."""
    folder = posixpath.dirname(posixpath.join(BOOK.name, page))

    def link(found: re.Match[str]) -> str:
        name, _, anchor = found["target"].partition("#")
        path = posixpath.normpath(posixpath.join(folder, name))
        outside = not (path + "/").startswith(BOOK.name + "/")
        if not name or re.match(r"[a-z]+:", name) or not outside:
            return found[0]
        if address:
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            return f"[{found['text']}]({address}/{kind}/HEAD/{path}{'#' + anchor if anchor else ''})"
        return f'<span class="source-file" title="{path}, in the repository">{found["text"]}</span>'

    return CODE_OR_LINK.sub(lambda found: found[0] if found["code"] else link(found), text)


if __name__ == "__main__":
    main()
