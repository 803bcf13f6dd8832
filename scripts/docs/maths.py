"""Sets what pages write in plain letters: x_i, R_ij, φ_{k+1} and π_C,i get subscripts, R^K a superscript.

The pages stay readable as they are; only the book is changed. Code, link targets, tags and headings (whose
text makes their address) are left alone.
"""

from __future__ import annotations

import re

KEPT = re.compile(
    r"""(?P<kept>
      ^\ *```.*?^\ *```$        # fenced code
    | ^(?:\ {4}|\#)[^\n]*$      # indented code, headings
    | (`+)(?!`)(?:(?!\n\n).)*?(?<!`)\2(?!`) # code spans
    | \]\([^)]*\)               # link targets
    | <[^>\n]+>                 # tags
    | https?://\S+
    )""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
BASE = r"(?:max|min|(?<![A-Za-z_])[A-Za-z]|[^\W\d_A-Za-z])\u0304?"  # one letter; Greek ones also after others
SMALL = r"\{[^}\n]+\}|[A-Za-z]{1,2}(?:,[a-z0-9](?!\w))?|[0-9]|[πλ]"
SUBSCRIPT = re.compile(rf"({BASE})_({SMALL})(?![A-Za-z_])")
SUPERSCRIPT = re.compile(r"(?<=[\w)>])\^(\{[^}\n]+\}|[^\W_]{1,2}(?!\w))")


def typeset(text: str) -> str:
    """The page with its subscripts and superscripts set."""
    parts, at = [], 0
    for kept in KEPT.finditer(text):
        parts += [_set(text[at : kept.start()]), kept[0]]
        at = kept.end()
    return "".join(parts) + _set(text[at:])


def _set(prose: str) -> str:
    prose = SUBSCRIPT.sub(lambda found: f"{found[1]}<sub>{found[2].strip('{}')}</sub>", prose)
    return SUPERSCRIPT.sub(lambda found: f"<sup>{found[1].strip('{}')}</sup>", prose)
