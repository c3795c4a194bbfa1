"""The page of a report, from its parts."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from html import escape
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template

from plotly.offline import get_plotlyjs

from lance_explorer.arguments import file_to_write
from lance_explorer.display import table_name
from lance_explorer.errors import LanceExplorerError, StorageError
from lance_explorer.history.view import HistoryView
from lance_explorer.report.facts import Facts
from lance_explorer.report.markup import contents, paragraph, picture, section
from lance_explorer.report.parts import PARTS, Part

__all__ = ["shipped", "write_report"]


def write_report(view: HistoryView, path: str | os.PathLike[str]) -> Path:
    """Write the report on a table; return where it is.

    The parameters and errors are those of :meth:`~lance_explorer.table.Table.report`.
    """
    target = file_to_write("path", path)
    page = _page(view)
    try:
        target.write_text(page, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"the report cannot be written: {error}") from error
    return target


def _page(view: HistoryView) -> str:
    """Return the whole page: the words first, so that they show while plotly.js is loaded."""
    from tqdm.auto import tqdm

    parts = tqdm(PARTS, "Writing the report", unit=" parts", delay=1.0, leave=False)
    facts = Facts(view)
    sections = [section(part.anchor, part.title, _blocks(part, facts)) for part in parts]
    name = escape(table_name(view))
    made_at = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return Template(shipped("report.html")).substitute(
        title=name,
        made=f"Made by lance_explorer {version('lance-explorer')} on {made_at}",
        style=shipped("report.css"),
        contents=contents({part.anchor: part.title for part in PARTS}),
        sections="\n".join(sections),
        plotly=get_plotlyjs(),
        script=shipped("report.js"),
    )


def _blocks(part: Part, facts: Facts) -> Iterator[str]:
    """Return what a part consists of as HTML; where it fails, why."""
    blocks = part.blocks(facts)
    number = 0
    while True:
        try:
            block = next(blocks)
        except StopIteration:
            return
        except LanceExplorerError as error:
            yield paragraph(f"This cannot be shown: {error}", "failure")
            return
        number += 1
        yield block if isinstance(block, str) else picture(block, f"{part.anchor}-{number}")


@cache
def shipped(name: str) -> str:
    """Return a file that pages are made of."""
    return (files("lance_explorer.report") / "static" / name).read_text(encoding="utf-8")
