"""Docstrings as Markdown: what mkdocstrings is given in place of what stands in the source.

Columns of frames are written into docstrings at import, so docstrings are taken from the objects.
Roles such as ``:meth:`Table.at``` become links, if the reference has a place for what they name;
tables become those of Markdown, and so do literal blocks.
"""

import re
from functools import cache
from html import escape
from inspect import cleandoc
from typing import Any

import griffe

from tools.docs.public_names import ROLE, groups, short_name

__all__ = ["PublicDocstrings", "as_markdown", "public_names"]

TABLE = re.compile(
    r"^(?P<indent> *)(?P<rule>=+(?: =+)+)\n(?P<rows>(?:(?P=indent).+\n)*?)"
    r"(?P=indent)(?P=rule)\n(?:(?P<body>(?:(?P=indent).+\n)*?)(?P=indent)(?P=rule)$)?",
    re.MULTILINE,
)
"""A table between lines of ``=`` as wide as its columns; another is below its head, if any."""

LITERAL = re.compile(r"::\n\n((?:    .*\n|\n)+)", re.MULTILINE)


class PublicDocstrings(griffe.Extension):
    """Put the docstrings of public names as Markdown."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of an object that has a place in the reference."""
        doc = public_names().get(obj.path)
        if doc and obj.docstring:
            obj.docstring.value = as_markdown(doc, obj.path)


@cache
def public_names() -> dict[str, str]:
    """Return the docstrings of what has a place in the reference, by where it is defined."""
    found = {name.source: name.doc for group in groups() for name in group.names}
    about = {group.source: cleandoc(group.about.__doc__ or "") for group in groups() if group.about}
    return found | about


def as_markdown(doc: str, path: str = "") -> str:
    """Return a docstring as Markdown; ``path`` is where names without a module are looked for."""
    doc = TABLE.sub(_table, cleandoc(doc) + "\n")
    doc = LITERAL.sub(":\n\n\\1", doc)
    return ROLE.sub(lambda role: _link(role["target"], path), doc)


def _link(target: str, path: str) -> str:
    """Return a link to what a role names; a name alone if it has no place."""
    places = public_names()
    ends = [place for place in places if place.endswith(f".{target}")]
    near = [f"{path.rpartition('.')[0]}.{target}", f"{path}.{target}"]
    found = [place for place in (target, *near) if place in places] or ends[:1]
    text = f"`{short_name(target)}`"
    return f"[{text}][{found[0]}]" if found else text


def _table(table: re.Match[str]) -> str:
    """Return a table of fixed widths as one of Markdown."""
    indent = table["indent"]
    starts = [place.start() for place in re.finditer("=+", table["rule"])]
    ends = [*starts[1:], None]

    def rows(text: str) -> list[list[str]]:
        found: list[list[str]] = []
        for line in text.splitlines():
            line = line.removeprefix(indent)
            cells = [line[begin:end].strip() for begin, end in zip(starts, ends, strict=True)]
            if cells[0]:
                found.append(cells)
            else:  # the row goes on
                found[-1] = [f"{a} {b}".strip() for a, b in zip(found[-1], cells, strict=True)]
        return found

    def written(cells: list[str]) -> str:
        texts = [escape(cell, quote=False).replace("|", "\\|") for cell in cells]
        return f"{indent}| {' | '.join(texts)} |"

    head, body = table["rows"], table["body"]
    if body is None:
        head, body = "", table["rows"]
    [titles] = rows(head) or [[""] * len(starts)]
    named = [[f"`{first}`", *others] for first, *others in rows(body)]
    lines = [written(titles), f"{indent}|{'---|' * len(starts)}", *map(written, named)]
    return "\n".join(lines) + ("" if table["body"] is not None else "\n")
