"""What two versions differ in, as one HTML page for a review."""

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import polars as pl

from lance_explorer.answers import Section
from lance_explorer.cells.text import briefs_of
from lance_explorer.changes.diff import Diff
from lance_explorer.changes.diff_commits import COMMITS_BETWEEN
from lance_explorer.changes.diff_config import CONFIG_DIFF
from lance_explorer.changes.diff_layout import INDEX_DIFF
from lance_explorer.changes.diff_schema import SCHEMA_DIFF
from lance_explorer.figures.distributions import bars_of, bars_picture
from lance_explorer.format.schema import NO_PARENT, is_blob
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.history.events.event_runs import NET_EVENTS, RowEvent
from lance_explorer.history.view import HistoryView
from lance_explorer.report.page import shipped, write_page
from lance_explorer.report.parts import Block, sentence, table_of

__all__ = ["write_diff"]

_MOST_VALUES_READ = 200_000
_MOST_LINES = 200
_MOST_COLUMNS = 40
_MOST_PARTS = 200
_LONGEST = 100
_BETWEEN = "; "
_BEFORE = "\0before"
"""What no name of a column ends in."""
_OWN = ("_change_type", "_rowid", "_rowaddr_before", "_rowaddr_after", "changed_columns")

_PARTS: dict[str, FrameSchema] = {
    "schema": SCHEMA_DIFF,
    "indices": INDEX_DIFF,
    "config": CONFIG_DIFF,
}


def write_diff(diff: Diff, view: HistoryView, end: int, path: str | os.PathLike[str]) -> Path:
    """Write the page; return where it is.

    Parameters
    ----------
    diff : Diff
        What differs.
    view : HistoryView
        The branch of the second version.
    end : int
        The second version.
    path : str or os.PathLike
        The file; its folder must exist.
    """
    parts = {
        "Rows": partial(_rows, diff, view, end),
        "Schema": partial(_part, diff, "schema"),
        "Indices": partial(_part, diff, "indices"),
        "Config": partial(_part, diff, "config"),
        "Commits": partial(_commits, diff),
    }
    before, after = (
        f"{branch}:{number}" if branch else f"{number}"
        for branch, number in (diff.before, diff.after)
    )
    title = f"{view.name}: {before} to {after}"
    return write_page(path, title, parts, shipped("report.css") + shipped("diff.css"), "page")


def _rows(diff: Diff, view: HistoryView, end: int) -> Iterator[Block]:
    [counts] = diff.summary().to_dicts()
    told = {event.label: counts[event.label] for event in NET_EVENTS}
    some = [f"{count:,} {name.replace('_', ' ')}" for name, count in told.items() if count]
    unknown = [name.replace("_", " ") for name, count in told.items() if count is None]
    if unknown:
        some.append(f"unknown how many {', '.join(unknown)}")
    yield sentence(f"Rows: {', '.join(some) or 'none'}.")
    kinds = (RowEvent.INSERTED, RowEvent.DELETED, RowEvent.UPDATED, RowEvent.COLUMN_REWRITTEN)
    changed = sum([told[kind.label] or 0 for kind in kinds])
    if not changed and not unknown:
        return
    if changed > _MOST_VALUES_READ:
        yield sentence(
            f"{changed:,} rows changed: their values are not read for a page. "
            "`table.diff(a, b).rows()` has them."
        )
        return
    history, position = view.found(end)
    tops = [field for field in history.records[position].schema if field.parent_id == NO_PARENT]
    columns = [field.name for field in tops if not is_blob(field)][:_MOST_COLUMNS]
    lines = diff.rows(images="both", columns=columns)
    if len(diff.findings()):
        yield Section("lost", "", "Some values are lost, and shown as null.", is_warning=True)
    yield from _distributions(lines)
    yield from _lines(lines)


def _distributions(lines: pl.DataFrame) -> Iterator[Block]:
    """Yield the values of each column that changed, before and after, in the rows it changed in.

    If none changed, those of all columns in the rows that were deleted and inserted.
    """
    kind = pl.col("_change_type")
    old, new = ("update_preimage", "update_postimage")
    columns = lines["changed_columns"].explode().drop_nulls().unique(maintain_order=True)
    if not len(columns):
        old, new = ("delete", "insert")
    values = _value_columns(lines)
    is_first = True
    for name in [name for name in values if not len(columns) or name in columns]:
        some = (
            lines.filter(pl.col("changed_columns").list.contains(name)) if len(columns) else lines
        )
        before, after = (some.filter(kind == one)[name] for one in (old, new))
        if len(columns):
            words = f"`{name}` changed in {counted(len(after), 'row')}"
        else:
            words = f"`{name}` in {len(before):,} deleted and {len(after):,} inserted rows"
        bars = bars_of(before, after)
        if bars is None or not len(before) + len(after):
            yield sentence(f"{words}.")
            continue
        colours = ", grey before and blue after" if is_first else ""
        is_first = False
        yield sentence(f"{words}{colours}:")
        yield Section("bars", "", partial(bars_picture, name, bars))


def _lines(lines: pl.DataFrame) -> Iterator[Block]:
    """Yield a table of the rows that changed, each value as old → new."""
    values = _value_columns(lines)
    texts = lines.select(
        *_OWN,
        *[briefs_of(lines[name], _LONGEST, within=_BETWEEN)[0].alias(name) for name in values],
    )
    kind = pl.col("_change_type")
    same = kind.is_in(["update_preimage", "update_postimage"])
    same &= pl.col("changed_columns").list.len() == 0
    num_same = len(texts.filter(same, kind == "update_postimage"))
    if num_same:
        wrote = (
            "was written again with the values that it"
            if num_same == 1
            else ("were written again with the values that they")
        )
        yield sentence(f"{counted(num_same, 'row')} {wrote} had.")
    texts = texts.filter(~same.fill_null(False))
    old = texts.filter(kind == "update_preimage").select(
        "_rowaddr_before", "_rowaddr_after", *values
    )
    new = texts.filter(kind == "update_postimage").head(_MOST_LINES)
    pairs = new.join(
        old,
        on=["_rowaddr_before", "_rowaddr_after"],
        how="left",
        suffix=_BEFORE,
        nulls_equal=True,
        maintain_order="left",
    )
    shown = [
        {
            "row": row["_rowid"],
            "change": "updated",
            "values": _BETWEEN.join(
                [
                    f"{name}: {_said(row[name + _BEFORE])} → {_said(row[name])}"
                    for name in row["changed_columns"] or ()
                    if name in values
                ]
            ),
        }
        for row in pairs.to_dicts()
    ]
    for change, word in (("insert", "inserted"), ("delete", "deleted")):
        some = texts.filter(kind == change).head(_MOST_LINES)
        shown += [
            {
                "row": row["_rowid"],
                "change": word,
                "values": _BETWEEN.join([f"{name}: {_said(row[name])}" for name in values]),
            }
            for row in some.to_dicts()
        ]
    counts = texts.filter(kind != "update_preimage")
    if shown:
        schema = dict.fromkeys(("row", "change", "values"), pl.String)
        frame = pl.DataFrame(shown, schema=schema, strict=False)
        caption = f"{len(shown):,} of {len(counts):,} rows that differ"
        yield Section("rows", caption, frame, uncut=("values",))


def _said(text: str | None) -> str:
    return "null" if text is None else text


def _value_columns(lines: pl.DataFrame) -> list[str]:
    first = lines.columns.index("changed_columns") + 1
    return lines.columns[first:]


def _part(diff: Diff, name: str) -> Iterator[Block]:
    found: pl.DataFrame = getattr(diff, name)()
    if found.is_empty():
        yield sentence("Nothing differs.")
        return
    some = [column.name for column in found if column.null_count() < len(found)]
    shown = found.select(some).head(_MOST_PARTS)
    yield table_of(shown, f"{len(shown):,} of {len(found):,}", _PARTS[name])


def _commits(diff: Diff) -> Iterator[Block]:
    found = diff.commits()
    shown = found.drop("known_from").head(_MOST_PARTS)
    if found.is_empty():
        yield sentence("No commit lies between both.")
    else:
        yield table_of(shown, f"{len(shown):,} of {len(found):,} commits", COMMITS_BETWEEN)
