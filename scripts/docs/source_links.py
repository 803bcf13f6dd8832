"""Links of the book: those to other files of the repository, and those whose text is a page's file name.

With `git-repository-url` in book.toml the first become links to it. Without one they become the link's text
with the file's path as a tooltip, since a book that is read alone has no such file. The second, such as
[theory.md](theory.md), get the page's title.
"""

from __future__ import annotations

import posixpath
import re

from documents import BOOK, LINK, ROOT, SUMMARY

CODE_OR_LINK = re.compile(rf"(?P<code>^ *```.*?^ *```$)|{LINK.pattern}", re.DOTALL | re.MULTILINE)


TITLES = {link["target"]: link["text"] for link in LINK.finditer(SUMMARY.read_text(encoding="utf-8"))}


def rewritten(text: str, page: str, address: str | None) -> str:
    """The page with its links out of the book rewritten; code is left alone."""
    folder = posixpath.dirname(posixpath.join(BOOK.name, page))

    def link(found: re.Match[str]) -> str:
        name, _, anchor = (found["target"] or "").partition("#")
        path = posixpath.normpath(posixpath.join(folder, name))
        inside = f"{path}/".startswith(f"{BOOK.name}/")
        if found["code"] or not name or re.match(r"[a-z]+:", name):
            return found[0]
        if inside:
            title = TITLES.get(posixpath.relpath(path, BOOK.name), "")
            is_name = found["text"].split("/")[-1] == path.split("/")[-1] and title
            return f"[{title}]({found['target']})" if is_name else found[0]
        if address:
            kind = "tree" if (ROOT / path).is_dir() else "blob"
            return f"[{found['text']}]({address}/{kind}/HEAD/{path}{'#' + anchor if anchor else ''})"
        return f'<span class="source-file" title="{path}, in the repository">{found["text"]}</span>'

    return CODE_OR_LINK.sub(link, text)
