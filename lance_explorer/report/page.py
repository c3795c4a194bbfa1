"""Pages made of parts: the report on a table, and reviews."""

import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from itertools import count
from pathlib import Path

import plotly.graph_objects as go
from markupsafe import Markup
from plotly.io import to_html
from plotly.offline import get_plotlyjs

from lance_explorer.answers import Answer, Section
from lance_explorer.answers.html import answer_html, templates
from lance_explorer.arguments import file_to_write
from lance_explorer.display import table_name
from lance_explorer.errors import LanceExplorerError, StorageError
from lance_explorer.history.view import HistoryView
from lance_explorer.report.facts import Facts
from lance_explorer.report.parts import PARTS, Block

__all__ = ["shipped", "write_page", "write_report"]

_PLOTLY = {"responsive": True, "displaylogo": False}


def write_report(view: HistoryView, path: str | os.PathLike[str]) -> Path:
    """Write the report on a table; return its path.

    Parameters and errors are those of :meth:`~lance_explorer.table.Table.report`.
    """
    facts = Facts(view)
    parts = {part.title: partial(part.blocks, facts) for part in PARTS}
    return write_page(
        path,
        table_name(view),
        parts,
        shipped("report.css"),
        "report",
        plotly=get_plotlyjs(),
        script=shipped("report.js"),
    )


def write_page(
    path: str | os.PathLike[str],
    title: str,
    parts: Mapping[str, Callable[[], Iterator[Block]]],
    style: str,
    what: str,
    plotly: str = "",
    script: str = "",
) -> Path:
    """Write a page of parts, given by their titles; return its path.

    Text comes first, so that it shows while plotly.js is loaded.
    """
    from tqdm.auto import tqdm

    target = file_to_write("path", path)
    shown = tqdm(parts.items(), f"Writing the {what}", unit=" parts", delay=1.0, leave=False)
    page = templates().from_string(shipped("page.html"))
    html = page.render(
        title=title,
        made=f"Made by lance_explorer {version('lance-explorer')} on "
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
        style=Markup(style),
        plotly=Markup(plotly),
        script=Markup(script),
        parts=[_part(name, blocks) for name, blocks in shown],
    )
    try:
        target.write_text(html, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"the {what} cannot be written: {error}") from error
    return target


def _part(title: str, blocks: Callable[[], Iterator[Block]]) -> dict[str, str]:
    anchor = title.lower().replace(" ", "-")
    html = Markup("\n".join(_html(anchor, blocks())))
    return {"title": title, "anchor": anchor, "html": html}


def _html(anchor: str, blocks: Iterator[Block]) -> Iterator[str]:
    """Yield the HTML of a part; if it fails, the reason."""
    numbers = count(1)

    def draw(figure: go.Figure) -> str:
        name = f"{anchor}-{next(numbers)}"
        html: str = to_html(
            figure, config=_PLOTLY, include_plotlyjs=False, full_html=False, div_id=name
        )
        return html

    while True:
        try:
            block = next(blocks)
            shown = block if isinstance(block, Answer) else Answer("", (block,))
            yield answer_html(shown, None, draw)
        except StopIteration:
            return
        except LanceExplorerError as error:
            why = Section("failure", "", f"This cannot be shown: {error}", is_warning=True)
            yield answer_html(Answer("", (why,)))
            return


@cache
def shipped(name: str) -> str:
    """Return a template or asset of the pages."""
    return (files("lance_explorer.report") / "static" / name).read_text(encoding="utf-8")
