#!/usr/bin/env python3
"""Writes docs/python-api.md from the docstrings of the package, with PyTorch and JAX installed; prints it with `-`."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import oneway
import oneway.jax
import oneway.torch
from oneway import callbacks, problems
from oneway.method import At

PAGE = Path(__file__).resolve().parents[1] / "docs" / "python-api.md"
HEAD = """# Python API

Every function and class of `oneway`, from its docstring (`scripts/python-reference.py` writes it). [python.md](python.md) is the guide.
"""
WIDTH = 110
RETURNED = {"Draws", "Inspection", "Interrupted", "ReadyProblem", "Tuned", "At", "Observer", "Network", "Result", "Data", "Link"}  # not made by hand


def main() -> None:
    """Write the page, or print it."""
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(page())
    else:
        PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The whole page."""
    public = {name: getattr(oneway, name) for name in oneway.__all__}
    functions = {name: thing for name, thing in public.items() if inspect.isroutine(thing)}
    classes = {name: thing for name, thing in public.items() if inspect.isclass(thing)}
    arithmetic = {name: functions.pop(name) for name in sorted(functions) if functions[name].__module__ == At.__module__}
    parts = {
        "Functions": ("ow", functions),
        "Classes": ("ow", classes | {"At": At}),
        "Arithmetic of methods": ("ow", arithmetic),
        "oneway.problems": ("ow.problems", contents(problems, classes)),
        "oneway.callbacks": ("ow.callbacks", contents(callbacks, classes)),
        "oneway.torch": ("oneway.torch", contents(oneway.torch, classes | {"data": None})),
        "oneway.torch.data": ("oneway.torch.data", contents(oneway.torch.data, classes)),
        "oneway.jax": ("oneway.jax", contents(oneway.jax, classes)),
    }
    lines = [HEAD]
    for title, (place, things) in parts.items():
        lines += [f"## {title}\n", *sections(inspect.getdoc(sys.modules[title]) if title in sys.modules else "")]
        for name, thing in things.items():
            lines += entry(f"{place}.{name}" if name != "At" else name, thing)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def contents(module: types.ModuleType, known: dict[str, Any]) -> dict[str, Any]:
    """What a module offers and was not shown before."""
    return {name: getattr(module, name) for name in module.__all__ if name not in known}


def entry(name: str, thing: Any) -> Iterator[str]:
    """A function or a class with what it has."""
    yield f"### {name.rpartition('.')[2]}\n"
    yield from code(name + ("" if name.rpartition(".")[2] in RETURNED else signature(thing)))
    yield from sections(inspect.getdoc(thing))
    if inspect.isclass(thing):
        for member, (attribute, text) in members(thing).items():
            if isinstance(attribute, property):
                yield f"- **{member}**: {flowing(inspect.getdoc(attribute))}"
            elif attribute is None:
                yield f"- **{member}**: {flowing(text)}"
        yield ""
        for member, (attribute, _) in members(thing).items():
            if attribute is not None and not isinstance(attribute, property):
                static = isinstance(attribute, (classmethod, staticmethod))
                prefix = name if static else name.rpartition(".")[2].lower()
                yield from code(f"{prefix}.{member}{signature(getattr(thing, member), bound=not static)}")
                yield from sections(inspect.getdoc(getattr(thing, member)))


def members(thing: type) -> dict[str, tuple[Any, str]]:
    """Public methods and properties of a class in their order; fields of dataclasses with their texts."""
    found: dict[str, tuple[Any, str]] = {}
    if "__dataclass_fields__" in vars(thing):
        body = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0].body  # type: ignore[attr-defined]
        for field, text in itertools.pairwise(body):
            if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                found[field.target.id] = (None, inspect.cleandoc(text.value.value))  # type: ignore[attr-defined, union-attr]
    for name, attribute in vars(thing).items():
        is_method = isinstance(attribute, (property, classmethod, staticmethod)) or inspect.isroutine(attribute)
        repeated = name in vars(callbacks.Observer) and thing is not callbacks.Observer
        if not name.startswith("_") and is_method and not repeated:
            found[name] = (attribute, "")
    return found


def signature(thing: Callable[..., Any], bound: bool = False) -> str:
    """The signature, as it is written."""
    try:
        parameters = list(inspect.signature(thing).parameters.values())
    except ValueError:
        return ""
    if bound:
        parameters = parameters[1:]
    parts, star = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
        star = star or parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_POSITIONAL)
        name = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "") + parameter.name
        typed = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
        default = "" if parameter.default is parameter.empty else f"{' = ' if typed else '='}{shown(parameter.default)}"
        parts.append(name + typed + default)
    returned = inspect.signature(thing).return_annotation
    arrow = "" if returned in (inspect.Signature.empty, None, "None") or inspect.isclass(thing) else f" -> {returned}"
    return f"({', '.join(parts)}){arrow}"


def shown(default: object) -> str:
    """A default value; of a factory's nothing but dots."""
    return "…" if "factory" in repr(default) else repr(default)


def code(text: str) -> Iterator[str]:
    """A signature as a block, one parameter a line where it is long."""
    if len(text) > WIDTH and "(" in text:
        head, _, rest = text.partition("(")
        inner, _, tail = rest.rpartition(")")
        parts = re.split(r", (?=[*\w]+(?::|=|,|$))", inner)
        text = head + "(\n" + "".join(f"    {part},\n" for part in parts) + ")" + tail
    yield f"```py\n{text}\n```\n"


def sections(text: str | None) -> Iterator[str]:
    """A numpydoc docstring as Markdown."""
    pieces = re.split(r"^(\w[\w ]*)\n-{3,}\n", text or "", flags=re.MULTILINE)
    yield from paragraphs(pieces[0])
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if title == "Examples":
            yield from paragraphs(body)
            continue
        yield f"**{title}**\n"
        if title == "Notes":
            yield from paragraphs(body)
            continue
        for head, about in re.findall(r"^(\S.*)\n?((?:    .*\n?|\n)*)", body, flags=re.MULTILINE):
            names, _, kind = head.partition(" : ")
            names = f"`{names}`" + (f" ({plain(kind)})" if kind else "")
            yield f"- {names}" + (f": {flowing(about)}" if about.strip() else "")
        yield ""


def paragraphs(text: str) -> Iterator[str]:
    """Paragraphs; sessions at the prompt as blocks."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        if paragraph.lstrip().startswith(">>>"):
            yield f"```pycon\n{textwrap.dedent(paragraph)}\n```\n"
        elif paragraph:
            yield plain(paragraph) + "\n"


def flowing(text: str | None) -> str:
    """One line."""
    return plain(" ".join((text or "").split()))


def plain(text: str) -> str:
    """Roles and double backquotes as Markdown has them."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text)


if __name__ == "__main__":
    main()
