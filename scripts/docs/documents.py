"""The project's pages as the checkers see them: which there are, their headings, links and blocks.

A block can have instructions, one a line, in HTML comments just above its fence:

  <!-- not run: REASON -->         it is shown and not run; the checker lists it with the reason
  <!-- slow -->                    it is run by `just docs-test`, and not in CI
  <!-- budget: KEY=VALUE … -->     settings that make its experiments short, as by `--set`
  <!-- file: NAME -->              it is the content of this file, for the commands that follow on the page
  <!-- exit: CODE -->              it ends with this code; a ```text block after it is the message

A ```text block that follows commands at once has lines of what they print.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "docs"
SUMMARY = BOOK / "SUMMARY.md"

RUN = ("sh", "toml", "rust", "python")
"""Languages whose blocks are run, or say why not."""
SHOWN = ("text", "csv", "json", "latex", "bibtex", "py", "pycon")
"""Languages that only show something: output, files, signatures; `pycon` is run from the docstrings."""

INSTRUCTIONS = ("not run", "slow", "budget", "file", "exit")
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>```+)(?P<language>[^`\n]*)$")
COMMENT = re.compile(r"^\s*<!--\s*(?P<key>[a-z ]+?)\s*(?::\s*(?P<value>.*?))?\s*-->\s*$")
LINK = re.compile(
    r"(?P<picture>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]\((?P<target>[^()\s]*(?:\([^()]*\)[^()\s]*)*)\)"
)


@dataclass
class Block:
    """A fenced block: where its code begins, what it says, and what was said about it."""

    page: Path
    line: int
    language: str
    code: str
    instructions: dict[str, str] = field(default_factory=dict)
    after: str | None = None
    """The ```text block that follows at once, if there is one."""

    @property
    def place(self) -> str:
        """`docs/python.md:17`."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Pages whose blocks are run: the front pages and the book."""
    return [ROOT / "README.md", ROOT / "python" / "README.md", *book()]


def book() -> list[Path]:
    """The pages of the book."""
    return [page for page in sorted(BOOK.rglob("*.md")) if page != SUMMARY]


def markdown() -> list[Path]:
    """Every Markdown file of the repository, for links."""
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z", "*.md"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True, text=True).stdout.split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).exists()]


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    last: Block | None = None
    told: dict[str, str] = {}
    open_fence: re.Match[str] | None = None
    code: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fence = FENCE.match(line)
        if open_fence is not None:
            if fence and not fence["language"].strip() and len(fence["fence"]) >= len(open_fence["fence"]):
                found = _block(page, number - len(code), open_fence, code, told)
                if found.language == "text" and "file" not in told and last is not None:
                    last.after = found.code
                if last is not None:
                    yield last
                last, open_fence, told = found, None, {}
            else:
                code.append(line)
        elif fence:
            open_fence, code = fence, []
        elif comment := COMMENT.match(line):
            told[comment["key"]] = comment["value"] or ""
        elif line.strip():
            told = {}
            if last is not None:
                yield last
                last = None
    if last is not None:
        yield last
    if open_fence is not None:
        raise ValueError(f"{page.relative_to(ROOT)}: a fence is not closed")


def _block(page: Path, line: int, fence: re.Match[str], code: list[str], told: dict[str, str]) -> Block:
    indent = len(fence["indent"])
    text = "".join(f"{each[indent:] if not each[:indent].strip() else each}\n" for each in code)
    return Block(page, line, fence["language"].strip(), text, told)


def prose(page: Path) -> list[str]:
    """The lines of a page, with those of fenced blocks empty."""
    lines, fence = [], None
    for line in page.read_text(encoding="utf-8").splitlines():
        found = FENCE.match(line)
        if found and fence is None:
            fence = found["fence"]
        elif found and found["fence"].startswith(fence or "") and not found["language"].strip():
            fence = None
        elif fence is None:
            lines.append(line)
            continue
        lines.append("")
    return lines


def anchors(page: Path) -> set[str]:
    """What a link may name in a page, by the rule that mdBook and GitHub share."""
    found: dict[str, int] = {}
    names = set(re.findall(r'\bid="([^"]+)"', page.read_text(encoding="utf-8")))
    for line in prose(page):
        if heading := re.match(r"#{1,6} +(.*?)(?: +#+)?$", line):
            text = LINK.sub(lambda link: link["text"], heading[1])
            name = "".join(
                letter for letter in text.lower().replace(" ", "-") if letter.isalnum() or letter in "-_"
            )
            times = found[name] = found.get(name, -1) + 1
            names.add(f"{name}-{times}" if times else name)
    return names


def links(page: Path) -> Iterator[tuple[int, str]]:
    """The line and the target of every link and picture; a link's text may go on in the next line."""
    text = re.sub(r"<!--.*?-->", "", "\n".join(prose(page)))
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", lambda code: "`" * len(code[0]), text)
    for link in LINK.finditer(text):
        yield text.count("\n", 0, link.start()) + 1, link["target"]
