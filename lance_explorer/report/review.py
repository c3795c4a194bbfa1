"""A comparison for a review: one HTML page, or Markdown for a comment."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from lance_explorer.answers import Answer, Section
from lance_explorer.answers.markdown import section_markdown, words_markdown
from lance_explorer.errors import LanceExplorerError
from lance_explorer.report.page import shipped, write_page
from lance_explorer.report.parts import Block

__all__ = ["Review"]

_MOST_ROWS = 20
_LONGEST = 60
_MOST_LETTERS = 60_000
"""GitHub takes comments of 65,536 characters."""


class Review:
    """What a reviewer sees: parts by title, each read when it is written.

    Parameters
    ----------
    title : str
        What is compared.
    parts : mapping of str to function
        The functions that make the blocks of each part.
    call : str
        What writes the review as a page, for readers of a Markdown that is cut.
    """

    def __init__(
        self, title: str, parts: Mapping[str, Callable[[], Iterator[Block]]], call: str
    ) -> None:
        self._title, self._parts, self._call = title, parts, call

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write it as an HTML page; return its path."""
        style = shipped("report.css") + shipped("review.css")
        script = shipped("review.js")
        return write_page(path, self._title, self._parts, style, "page", script=script)

    def markdown(self) -> str:
        """Return it as GitHub-flavoured Markdown, short enough for a comment.

        A part that would make it too long is named but left out whole, so that no table is cut.
        """
        text = f"## {words_markdown(self._title)}\n"
        left_out = []
        for title, blocks in self._parts.items():
            part = "\n".join([f"\n### {words_markdown(title)}", *_lines(blocks), ""])
            if len(text) + len(part) > _MOST_LETTERS:
                left_out.append(title)
            else:
                text += part
        if left_out:
            text += f"\n> Too long for a comment: {', '.join(left_out)}. `{self._call}` has all.\n"
        return text


def _lines(blocks: Callable[[], Iterator[Block]]) -> Iterator[str]:
    """Yield the lines of a part; if it fails, the reason."""
    try:
        for block in blocks():
            for section in block.sections if isinstance(block, Answer) else (block,):
                yield from section_markdown(section, 4, _MOST_ROWS, _LONGEST)
    except LanceExplorerError as error:
        why = Section("failure", "", f"This cannot be shown: {error}", is_warning=True)
        yield from section_markdown(why)
