"""What terminals show: tables that fit their width, in colour; elsewhere plain text."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

import click
import polars as pl
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lance_explorer.cells.text import briefs_of, digest_of
from lance_explorer.shown import one_line

__all__ = ["KIND_STYLES", "cell", "console", "print_frame", "print_table", "when"]

KIND_STYLES: Mapping[str, str] = {
    "create": "bold green",
    "append": "green",
    "overwrite": "bold yellow",
    "update": "yellow",
    "delete": "red",
    "compact": "blue",
    "restore": "magenta",
    "index": "cyan",
    "schema": "bold cyan",
    "config": "bright_black",
    "branch": "bold magenta",
    "other": "bright_black",
}
"""How the kinds of commits are told apart."""

_ENDLESS = 100_000
"""How wide lines may be where nobody looks at them."""

_LONGEST = 1_000
_BETWEEN = 2
_LEAST_WIDE = 24
_LEAST = 9
"""How wide columns are at least; if they do not fit then, each row is printed as lines."""


def console() -> Console:
    """Return what prints: colour and the width of the terminal, or neither where there is none."""
    is_seen = sys.stdout.isatty()
    return Console(
        file=sys.stdout,
        width=None if is_seen else _ENDLESS,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not is_seen,
    )


def when(time: datetime | None) -> str:
    """Return a time in UTC, to the minute."""
    return "" if time is None else f"{time:%Y-%m-%d %H:%M}"


def cell(value: object, style: str = "") -> Text:
    """Return a value in one line, without what a terminal would take for a command."""
    if isinstance(value, Text):
        return value
    if isinstance(value, datetime):
        return Text(when(value), style)
    if isinstance(value, int) and not isinstance(value, bool):
        return Text(f"{value:,}", style)
    return Text("" if value is None else one_line(str(value), _LONGEST), style)


def print_table(
    titles: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Iterable[str] = (),
    wide: Iterable[str] = (),
    values: Iterable[str] = (),
    bottom: bool = False,
) -> None:
    """Print rows under titles.

    Parameters
    ----------
    titles : sequence of str
        What the columns are called; nothing if all are empty.
    rows : iterable of sequence
        The values.
    right : iterable of str
        Columns of numbers.
    wide : iterable of str
        Columns that get what is left of the width, and are cut first.
    values : iterable of str
        Columns of values: one that is cut ends in a digest, so that it differs from others.
    bottom : bool
        Whether cells stand in the last line of their row.
    """
    cells = [[cell(value) for value in row] for row in rows]
    printed = console()
    natural = [
        max([len(title), *[cell_len(line) for row in cells for line in row[n].plain.splitlines()]])
        for n, title in enumerate(titles)
    ]
    widths = _fitted(natural, [title in {*wide} for title in titles], printed.width)
    are_values = [title in {*values} for title in titles]
    with printed.capture() as captured:
        if widths is None:
            _print_records(printed, titles, cells, are_values)
        else:
            table = Table(box=None, pad_edge=False, show_header=any(titles), header_style="bold")
            for title, width in zip(titles, widths, strict=True):
                table.add_column(
                    title,
                    justify="right" if title in {*right} else "left",
                    overflow="ellipsis",
                    no_wrap=True,
                    width=width,
                    vertical="bottom" if bottom else "top",
                )
            for row in cells:
                table.add_row(
                    *[
                        _cut(value, width) if is_value else value
                        for value, width, is_value in zip(row, widths, are_values, strict=True)
                    ]
                )
            printed.print(table)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def _fitted(natural: Sequence[int], is_wide: Sequence[bool], width: int) -> list[int] | None:
    """Return how wide columns are so that they fit, cut as little as can be; None if they cannot.

    Wide columns are cut first, then the widest ones.
    """
    room = width - _BETWEEN * (len(natural) - 1)
    for can_cut, least in ((is_wide, _LEAST_WIDE), ([True] * len(natural), _LEAST)):
        for most in range(max([least, *natural]), least - 1, -1):
            widths = [
                min(one, most) if cut else one for one, cut in zip(natural, can_cut, strict=True)
            ]
            if sum(widths) <= room:
                return widths
    return None


def _print_records(
    printed: Console,
    titles: Sequence[str],
    cells: Sequence[Sequence[Text]],
    are_values: Sequence[bool],
) -> None:
    """Print each row as lines, one a value; those without a value are left out."""
    longest = max(map(len, titles), default=0)
    for number, row in enumerate(cells):
        if number:
            printed.print("")
        for title, value, is_value in zip(titles, row, are_values, strict=True):
            if value.plain:
                shown = _cut(value, printed.width - longest - _BETWEEN) if is_value else value
                line = Text.assemble((f"{title:>{longest}}", "bold"), " " * _BETWEEN, shown)
                printed.print(line, no_wrap=True, overflow="ellipsis")


def _cut(value: Text, width: int) -> Text:
    """Return a value in so many columns; one that is cut ends in a digest of what it was."""
    if cell_len(value.plain) <= width:
        return value
    mark = f"…{digest_of(value.plain.encode())}"
    head = value.copy()
    head.truncate(max(width - len(mark), 0))
    return head.append(mark)


def print_frame(frame: pl.DataFrame, *, values: Iterable[str] = ()) -> None:
    """Print a frame without the columns that are null everywhere.

    Parameters
    ----------
    frame : polars.DataFrame
        The frame.
    values : iterable of str
        Columns of values from the table; whole numbers among them have no separators, and times
        all their digits.
    """
    some = [column.name for column in frame if column.null_count() < len(frame)] or frame.columns
    shown = frame.select(some)
    of_values = {*values} & {*some}
    numbers = [name for name, dtype in shown.schema.items() if dtype.is_numeric()]
    ids = {name for name in numbers if name in ("version", "_rowid", "_rowaddr", "fragment_id")}
    ids |= {name for name in numbers if name.endswith(("_version", "_id"))}
    columns = [_cells(column, column.name in of_values, column.name in ids) for column in shown]
    wide = [
        name for name, dtype in shown.schema.items() if dtype in (pl.String, pl.List(pl.String))
    ]
    rows = zip(*columns, strict=True)
    print_table(shown.columns, rows, right=numbers, wide=wide[-1:], values=of_values)


def _cells(column: pl.Series, is_value: bool, is_id: bool) -> list[object]:
    if is_value:
        texts, _ = briefs_of(column, _LONGEST)
        return [None if text is None else Text(one_line(text, None)) for text in texts]
    return [str(v) if is_id and v is not None else v for v in column.to_list()]
