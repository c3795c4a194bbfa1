"""Answers in terminals: tables that fit the width, in colour; elsewhere plain text."""

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import polars as pl
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from lance_explorer.answers.people import code_parts, fact_words, is_number, people_texts
from lance_explorer.answers.records import AnswerParts, Section
from lance_explorer.cells.text import digest_of
from lance_explorer.shown import one_line, visible

__all__ = ["KIND_STYLES", "for_terminal", "terminal_text"]

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
"""The colours of kinds of commits."""

_COLUMN_STYLES = {"version": "bold", "timestamp": "bright_black", "graph": "bright_black"}
_SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "info": "cyan"}

_ENDLESS = 100_000
"""The width of lines if the output is not a terminal."""

_LONGEST = 1_000
_BETWEEN = 2
_LEAST_WIDE = 24
_LEAST = 10
_LEAST_VALUE = 11
"""The least width of columns; if they still do not fit, each row is printed as lines."""

_MOST_LINES = 16
_MOST_LINES_OF_VALUE = 3
_GRAPH = "graph"


def for_terminal(answer: AnswerParts, most: int | None) -> str:
    """Return an answer for standard output, with its width and colours.

    ``most`` is how many rows of a section are printed; all if None.
    """
    is_seen = sys.stdout.isatty()
    return _rendered(answer, _console(sys.stdout, None if is_seen else _ENDLESS, is_seen), most)


def terminal_text(answer: AnswerParts, width: int, most: int | None = 50) -> str:
    """Return an answer as a terminal of this width shows it, without colours."""
    return _rendered(answer, _console(io.StringIO(), width, is_seen=True), most)


def _console(file: "io.StringIO | object", width: int | None, is_seen: bool) -> Console:
    return Console(
        file=file,  # type: ignore[arg-type]
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=not is_seen,
    )


def _rendered(answer: AnswerParts, console: Console, most: int | None) -> str:
    with console.capture() as captured:
        if answer.sentence:
            console.print(_words(answer.sentence))
        for finding in answer.findings:
            start = Text(f"{finding.severity}: ", _SEVERITY_STYLES[finding.severity])
            console.print(start.append(f"{finding.code}: ").append_text(_words(finding.sentence)))
        for section in answer.sections:
            _print_section(console, section, most)
        if answer.code and answer.is_call:
            console.print(Text(f"\n{visible(answer.code)}", "green"), soft_wrap=True)
    return "\n".join([line.rstrip() for line in captured.get().splitlines()])


def _print_section(console: Console, section: Section, most: int | None) -> None:
    content = section.for_people
    if content is None or callable(content):
        return
    if section.title:
        style = "bold red" if section.is_warning else "bold"
        console.print(Text(f"\n{one_line(section.title, _LONGEST)}:", style))
    match content:
        case pl.DataFrame() as frame:
            shown = frame if most is None else frame.head(most)
            _print_frame(console, section, shown)
            if len(shown) < len(frame):
                console.print(f"... and {len(frame) - len(shown):,} more; --json has them all")
        case Mapping() as facts:
            longest = max(map(len, facts), default=0)
            for name, value in facts.items():
                text = _words(fact_words(name, value, _LONGEST))
                console.print(Text.assemble((f"{name:>{longest}}", "bold"), "  ", text))
        case str() as text:
            console.print(_words(text))
        case tuple() as lines:
            style = "bold red" if section.is_warning else ""
            for line in lines:
                console.print(Text("- ", style).append_text(_words(line.words, style)))


def _words(words: str, style: str = "") -> Text:
    """Return a sentence in one line, names in it in another colour."""
    text = Text(style=style)
    for part, is_code in code_parts(one_line(words, None)):
        text.append(f"`{part}`" if is_code else part, "cyan" if is_code else "")
    return text


def _print_frame(console: Console, section: Section, frame: pl.DataFrame) -> None:
    """Print rows below each other if they fit, else each row as several lines.

    Words and values are wrapped, long ones cut; numbers and titles stay whole.
    """
    are_commits = "version" in frame.columns
    columns = [[*_cells(section, column, are_commits)] for column in frame]
    titles = [one_line(name) for name in frame.columns]
    are_values = [name in section.values for name in frame.columns]
    natural = [
        max([len(title), *[cell_len(line) for text in column for line in text.plain.splitlines()]])
        for title, column in zip(titles, columns, strict=True)
    ]
    least = [
        most
        if is_number(column) or column.name == _GRAPH
        else max(len(title), min(most, _LEAST_VALUE if is_value else _LEAST))
        for most, title, column, is_value in zip(natural, titles, frame, are_values, strict=True)
    ]
    rows = [*zip(*columns, strict=True)]
    widths = _fitted(natural, least, are_values, console.width)
    if widths is None:
        _print_records(console, titles, rows, are_values)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, width, column in zip(titles, widths, frame, strict=True):
        side: Literal["left", "right"] = "right" if is_number(column) else "left"
        table.add_column(title, justify=side, no_wrap=True, width=width)
    for row in rows:
        table.add_row(*_wrapped(console, frame.columns, row, widths, are_values))
    console.print(table)


def _wrapped(
    console: Console,
    names: Sequence[str],
    row: Sequence[Text],
    widths: Sequence[int],
    are_values: Sequence[bool],
) -> list[Text]:
    """Return the cells of a row in lines that fit, beginning next to the last line of the graph."""
    parts = list[list[Text]]()
    for name, text, width, is_value in zip(names, row, widths, are_values, strict=True):
        if name == _GRAPH:
            parts.append([Text(line, text.style) for line in text.plain.split("\n")])
        elif cell_len(text.plain) <= width:
            parts.append([text])
        else:
            whole = _cut(text, width * _MOST_LINES_OF_VALUE) if is_value else text
            wrapped = [*whole.wrap(console, width)]
            if len(wrapped) > _MOST_LINES:
                wrapped = wrapped[:_MOST_LINES]
                wrapped[-1].truncate(width - 1)
                wrapped[-1].append("…")
            parts.append(wrapped)
    above = len(parts[names.index(_GRAPH)]) - 1 if _GRAPH in names else 0
    height = max([len(lines) for name, lines in zip(names, parts, strict=True) if name != _GRAPH])
    for place, name in enumerate(names):
        if name == _GRAPH:
            last = parts[place][-1]
            parts[place] += [Text(last.plain.replace("*", "|"), last.style)] * (height - 1)
        else:
            parts[place][:0] = [Text()] * above
    return [Text("\n").join(lines) for lines in parts]


def _cells(section: Section, column: pl.Series, are_commits: bool) -> Iterator[Text]:
    """Yield the cells of a column, without control sequences of terminals."""
    if column.name == _GRAPH:  # drawn by us, in several lines
        yield from [Text(drawn or "", _COLUMN_STYLES[_GRAPH]) for drawn in column]
        return
    is_value = column.name in section.values
    texts = people_texts(column, is_value=is_value, longest=_LONGEST)
    for text in texts:
        style = _COLUMN_STYLES.get(column.name, "")
        if column.name == "kind" and are_commits:
            style = KIND_STYLES.get(text or "", "")
        elif column.name == "severity":
            style = _SEVERITY_STYLES.get(text or "", "")
        yield Text(text or "", style)


def _fitted(
    natural: Sequence[int], least: Sequence[int], are_values: Sequence[bool], width: int
) -> list[int] | None:
    """Return the widths of columns that fit; None if there are none.

    The widest column of words shrinks first, down to a few words a line, then the widest of all.
    """
    room = width - _BETWEEN * (len(natural) - 1)
    widest = max(
        [place for place, is_value in enumerate(are_values) if not is_value],
        key=lambda place: natural[place] - least[place],
        default=0,
    )
    only = [place == widest for place in range(len(natural))]
    for can_cut, floor in ((only, _LEAST_WIDE), ([True] * len(natural), 0)):
        for most in range(max([floor, *natural]), floor - 1, -1):
            widths = [
                max(few, min(many, most)) if cut else many
                for many, few, cut in zip(natural, least, can_cut, strict=True)
            ]
            if sum(widths) <= room:
                return widths
    return None


def _print_records(
    console: Console,
    titles: Sequence[str],
    rows: Sequence[Sequence[Text]],
    are_values: Sequence[bool],
) -> None:
    """Print each row as lines, one for each value that is not null."""
    longest = max(map(len, titles), default=0)
    for number, row in enumerate(rows):
        if number:
            console.print("")
        for title, value, is_value in zip(titles, row, are_values, strict=True):
            if value.plain:
                shown = _cut(value, console.width - longest - _BETWEEN) if is_value else value
                line = Text.assemble((f"{title:>{longest}}", "bold"), " " * _BETWEEN, shown)
                console.print(line, no_wrap=True, overflow="ellipsis")


def _cut(value: Text, width: int) -> Text:
    """Return a value cut to a width; a cut value ends in a digest of the whole."""
    if cell_len(value.plain) <= width:
        return value
    mark = f"…{digest_of(value.plain.encode())}"
    head = value.copy()
    head.truncate(max(width - len(mark), 0))
    return head.append(mark)
