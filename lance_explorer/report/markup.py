"""HTML from texts, frames and figures. Elements are built, so whatever a file says stays text."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from xml.etree.ElementTree import Element, SubElement, tostring

import plotly.graph_objects as go
import polars as pl
from plotly.io import to_html

from lance_explorer.figures.labels import size
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.shown import one_line

__all__ = [
    "code_block",
    "contents",
    "definitions",
    "frame_table",
    "items",
    "paragraph",
    "picture",
    "section",
    "warning",
]

_LONGEST_TEXT = 400
_MOST_ITEMS = 20
_CODE = re.compile("`([^`]*)`")
_PLOTLY = {"responsive": True, "displaylogo": False}


def paragraph(text: str, css_class: str | None = None) -> str:
    """Return a paragraph; names in backticks are set as code.

    Examples
    --------
    >>> paragraph("Delete where `id < 3`.")
    '<p>Delete where <code>id &lt; 3</code>.</p>'
    """
    element = Element("p", {"class": css_class} if css_class else {})
    _set_words(element, text)
    return _html(element)


def items(texts: Iterable[str]) -> str:
    """Return a list of sentences; names in backticks are set as code."""
    listed = Element("ul")
    for text in texts:
        _set_words(SubElement(listed, "li"), text)
    return _html(listed)


def warning(title: str, texts: Iterable[str]) -> str:
    """Return what must not be overlooked: a title, and a list of sentences."""
    outer = Element("div", {"class": "danger"})
    SubElement(outer, "strong").text = title
    listed = SubElement(outer, "ul")
    for text in texts:
        _set_words(SubElement(listed, "li"), text)
    return _html(outer)


def code_block(code: str) -> str:
    """Return lines of code."""
    outer = Element("pre")
    SubElement(outer, "code").text = code
    return _html(outer)


def definitions(facts: Mapping[str, str]) -> str:
    """Return names and what they stand for, as a table of two columns."""
    element = Element("table", {"class": "facts"})
    for name, value in facts.items():
        row = SubElement(element, "tr")
        SubElement(row, "th", scope="row").text = name
        _set_words(SubElement(row, "td"), value)
    return _html(element)


def frame_table(
    rows: pl.DataFrame,
    caption: str,
    *schemas: FrameSchema,
    sentences: str | None = None,
    whole: str | None = None,
) -> str:
    """Return a frame as a table; the meaning of a column shows when the pointer is on its name.

    Parameters
    ----------
    rows : polars.DataFrame
        The rows, few enough to be read.
    caption : str
        What the rows are, and of how many.
    *schemas : FrameSchema
        Where the meanings of columns stand.
    sentences : str, optional
        A column of sentences, in which names stand in backticks.
    whole : str, optional
        A column of texts that are not cut.

    Examples
    --------
    >>> frame_table(pl.DataFrame({"size_bytes": [1400]}), "1 file")
    '...<th class="number" scope="col">size_bytes</th>...<td class="number">1.4 kB</td>...'
    """
    meanings = {column.name: column.meaning for schema in schemas for column in schema.columns}
    outer = Element("div", {"class": "scroll"})
    element = SubElement(outer, "table")
    SubElement(element, "caption").text = caption
    head = SubElement(SubElement(element, "thead"), "tr")
    classes = [_class_of(column.dtype, is_words=column.name == sentences) for column in rows]
    for name, attributes in zip(rows.columns, classes, strict=True):
        meaning = {"title": meanings[name]} if name in meanings else {}
        SubElement(head, "th", attributes, scope="col", **meaning).text = name
    body = SubElement(element, "tbody")
    for values in rows.iter_rows():
        row = SubElement(body, "tr")
        for name, attributes, value in zip(rows.columns, classes, values, strict=True):
            cell = SubElement(row, "td", attributes)
            if name == sentences:
                _set_words(cell, str(value))
            elif name == whole:
                cell.text = one_line(value, None)
            else:
                cell.text = _text(name, value)
    return _html(outer)


def picture(figure: go.Figure, name: str) -> str:
    """Return a figure, for a page that has plotly.js; ``name`` is its own on that page."""
    html: str = to_html(
        figure, config=_PLOTLY, include_plotlyjs=False, full_html=False, div_id=name
    )
    return html


def section(anchor: str, title: str, blocks: Iterable[str]) -> str:
    """Return a heading, which links lead to, with what stands under it."""
    heading = Element("h2", {"id": anchor})
    heading.text = title
    return "\n".join(["<section>", _html(heading), *blocks, "</section>"])


def contents(titles: Mapping[str, str]) -> str:
    """Return links to sections, whose titles are given by anchor."""
    listed = Element("ol")
    for anchor, title in titles.items():
        SubElement(SubElement(listed, "li"), "a", href=f"#{anchor}").text = title
    return _html(listed)


def _set_words(element: Element, words: str) -> None:
    """Make a sentence the content of an element."""
    element.text, *rest = _CODE.split(one_line(words, _LONGEST_TEXT))
    for name, after in zip(rest[::2], rest[1::2], strict=True):
        code = SubElement(element, "code")
        code.text, code.tail = name, after


def _class_of(dtype: pl.DataType, *, is_words: bool) -> dict[str, str]:
    """Return how cells of a type are set."""
    if is_words:
        return {"class": "words"}
    if dtype.is_numeric():
        return {"class": "number"}
    return {"class": "time"} if dtype.is_temporal() else {}


def _text(name: str, value: object) -> str:
    """Return a value of a column as a person would write it; what is unknown is empty."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return size(value) if name.endswith("_bytes") else f"{value:,}"
        case float():
            return f"{value:.3g}"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S}"
        case list():
            shown = ", ".join([_text(name, item) for item in value[:_MOST_ITEMS]])
            more = len(value) - _MOST_ITEMS
            return f"{shown} and {more:,} more" if more > 0 else shown
    return one_line(str(value), _LONGEST_TEXT)


def _html(element: Element) -> str:
    return tostring(element, encoding="unicode", method="html")
