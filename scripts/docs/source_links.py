"""Links from the book to other files of the repository.

With `git-repository-url` in book.toml they become links to it. Without one they become the link's text with the file's
path as a tooltip, since a book that is read alone has no such file.
"""

from __future__ import annotations

import posixpath
import re

from documents import BOOK, LINK, ROOT

CODE_OR_LINK = re.compile(rf"(?P<code>^ *```.*?^ *```$)|{LINK.pattern}", re.DOTALL | re.MULTILINE)


def rewritten(text: str, page: str, address: str | None) -> str:
    """The page with its links out of the book rewritten; code is left alone."""
    folder = posixpath.dirname(posixpath.join(BOOK.name, page))

    def link(found: re.Match[str]) -> str:
        name, _, anchor = (found["target"] or "").partition("#")
        path = posixpath.normpath(posixpath.join(folder, name))
        inside = f"{path}/".startswith(f"{BOOK.name}/")
        if found["code"] or inside or not name or re.match(r"[a-z]+:", name):
            return found[0]
        if address:
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            return f"[{found['text']}]({address}/{kind}/HEAD/{path}{'#' + anchor if anchor else ''})"
        return f'<span class="source-file" title="{path}, in the repository">{found["text"]}</span>'

    return CODE_OR_LINK.sub(link, text)
