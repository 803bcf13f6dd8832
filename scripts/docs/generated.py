"""Pages and lists that are made, not written: commands, codecs, decisions.

`just reference-pages` writes them, `scripts/check-docs` says when they are out of date.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator

from commands import Builds
from documents import BOOK, SUMMARY

PROGRAMS = ("oneway", "oneway-agent")
AGAIN = "is out of date: `just reference-pages`"
MADE = "This page is made from the program: `just reference-pages`."

COMMANDS = f"""# Commands

Every command with its arguments and options, as `--help` prints them. {MADE}
[Formats](formats.md) says what the commands read and write, [errors and exit codes](errors.md) how they end.
"""

CODECS = f"""# Codecs

What `compress` of a [method](formats.md#method-one-or-more) can name. {MADE}
`oneway codecs` prints the same for the version at hand; [error against bytes](compression.md) measures some
of them; [extending](extending.md#a-codec) adds one of your own.

𝒞 is the codec, x the vector that is sent. *Contractive* with δ: E‖𝒞(x) − x‖² ≤ (1 − δ)‖x‖². *Unbiased* with
ω: E 𝒞(x) = x and E‖𝒞(x) − x‖² ≤ ω‖x‖². Bytes and quality are those of a vector of 100 numbers with the
default parameters; a vector that is not encoded takes 800 bytes.
"""

DECISIONS = """# Decisions

Why things are as they are, one page each: context, decision, consequence. This list is made from the pages:
`just reference-pages`.

| | |
|---|---|
"""


def write(builds: Builds) -> None:
    """Write all of them."""
    for name, text in _made(builds).items():
        (BOOK / name).write_text(text, encoding="utf-8")
    (BOOK / "decisions" / "README.md").write_text(_decisions(), encoding="utf-8")
    SUMMARY.write_text(_summary(), encoding="utf-8")


def stale_pages(builds: Builds) -> list[str]:
    """Pages that the programs would print in another way."""
    made = _made(builds).items()
    return [
        f"docs/{name} {AGAIN}" for name, text in made if (BOOK / name).read_text(encoding="utf-8") != text
    ]


def stale_lists() -> Iterator[str]:
    """Lists that lack a page, or have one too many."""
    made = ((BOOK / "decisions" / "README.md", _decisions()), (SUMMARY, _summary()))
    for path, text in made:
        if path.read_text(encoding="utf-8") != text:
            yield f"docs/{path.relative_to(BOOK)} {AGAIN}"


def _made(builds: Builds) -> dict[str, str]:
    return {"commands.md": _commands(builds), "codecs.md": _codecs(builds)}


def _output(builds: Builds, program: str, *arguments: str) -> str:
    command = [str(builds.program(program)), *arguments]
    environment = os.environ | {"COLUMNS": "100", "NO_COLOR": "1"}  # the same lines whoever makes the page
    return subprocess.run(command, capture_output=True, check=True, text=True, env=environment).stdout


def _commands(builds: Builds) -> str:
    return COMMANDS + "".join(_help(builds, program, []) for program in PROGRAMS)


def _help(builds: Builds, program: str, names: list[str]) -> str:
    """The section of a command, and those of the commands below it."""
    text = _output(builds, program, *names, "--help")
    about, _, rest = text.partition("\n\nUsage:")
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.MULTILINE)
    below = re.findall(r"^  (\S+)", listed[1], re.MULTILINE) if listed else []
    usage = "\n".join(line.rstrip() for line in f"Usage:{rest}".rstrip().splitlines())
    mark = "#" * (2 + min(len(names), 1))
    section = f"\n{mark} `{' '.join([program, *names])}`\n\n{_prose(about)}\n\n```text\n{usage}\n```\n"
    return section + "".join(_help(builds, program, [*names, name]) for name in below if name != "help")


def _prose(about: str) -> str:
    """The description as Markdown: what stands between < and > is no tag."""
    paragraphs = [re.sub(r"[ \t]*\n[ \t]*", "\n", each.strip()) for each in about.split("\n\n")]
    return "\n\n".join(paragraphs).replace("<", "&lt;")


def _codecs(builds: Builds) -> str:
    text = CODECS
    for codec in json.loads(_output(builds, "oneway", "codecs", "--json")):
        text += f"\n## `{codec['name']}`\n\n{codec['about']}.\n\n"
        text += f"    {codec['rule']}\n\n"
        text += f"- 100 numbers take {codec['bytes_for_100']} bytes\n- {codec['quality_for_100']}\n"
        for parameter in codec["parameters"]:
            default = json.dumps(parameter["default"]).removesuffix(".0")
            text += (
                f"- `{parameter['name']}`, a {parameter['takes']}: {parameter['about']} (default {default})\n"
            )
    return text


def _titles() -> list[tuple[str, str]]:
    """(file name, title) of every decision."""
    found = []
    for page in sorted((BOOK / "decisions").glob("[0-9]*.md")):
        title = page.read_text(encoding="utf-8").partition("\n")[0]
        found.append((page.name, re.sub(r"^#+ *(?:\d{4}[.:]? *)?", "", title)))
    return found


def _decisions() -> str:
    return DECISIONS + "".join(f"| [{name[:4]}]({name}) | {title} |\n" for name, title in _titles())


def _summary() -> str:
    """The table of contents with all decisions, and with the pages that were waited for and have come."""
    text = SUMMARY.read_text(encoding="utf-8")
    lines = "".join(f"  - [{name[:4]} {title}](decisions/{name})\n" for name, title in _titles())
    text = re.sub(r"(?:^  - \[\d{4} .*\n)+", lambda _: lines, text, flags=re.MULTILINE)
    return re.sub(
        r"^<!-- (- \[.*\]\((.*)\)) -->$",
        lambda waiting: waiting[1] if (BOOK / waiting[2]).exists() else waiting[0],
        text,
        flags=re.MULTILINE,
    )
