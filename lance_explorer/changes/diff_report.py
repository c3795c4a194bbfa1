"""A diff as a report in HTML; every text in it comes from files, and is escaped and cut."""

from html import escape

import polars as pl

from lance_explorer.cells.html import table_html
from lance_explorer.history.events.event_runs import NET_EVENTS
from lance_explorer.history.history import VersionRecord

__all__ = ["report"]

_SHOWN_ROWS = 20
_LONGEST_CELL = 100


def report(
    title: str,
    names: tuple[str, str],
    records: tuple[VersionRecord, VersionRecord],
    rows: pl.DataFrame | Exception,
    parts: dict[str, pl.DataFrame],
    commits: pl.DataFrame | None,
) -> str:
    """Return a heading, both versions, the rows by class, and a table for each part that differs.

    Parameters
    ----------
    title : str
        The heading.
    names : tuple of two str
        What both versions are called.
    records : tuple of two VersionRecord
        Both versions.
    rows : polars.DataFrame or Exception
        How many rows differ, or why that cannot be told.
    parts : dict of str to polars.DataFrame
        What else differs, under its name.
    commits : polars.DataFrame or None
        The commits on the way; None if they are not known.
    """
    pieces = [
        f"<strong>{escape(_cut(title))}</strong>",
        table_html(_versions(names, records)),
        _rows(rows),
        *[_part(name, frame) for name, frame in parts.items()],
    ]
    if commits is not None and len(commits):
        pieces.append(_part("commits between", commits))
    return f"<div>{''.join(pieces)}</div>"


def _versions(names: tuple[str, str], records: tuple[VersionRecord, VersionRecord]) -> pl.DataFrame:
    times = [record.manifest.timestamp for record in records]
    return pl.DataFrame(
        {
            "version": names,
            "committed": [f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else "" for time in times],
            "operation": [record.operation or "unknown" for record in records],
        }
    )


def _rows(rows: pl.DataFrame | Exception) -> str:
    if isinstance(rows, Exception):
        return f"<div>rows: {escape(_cut(str(rows), 1000))}</div>"
    [counts] = rows.to_dicts()
    shown = {change.label: counts[change.label] for change in NET_EVENTS}
    some = pl.DataFrame({"rows": [*shown], "count": [*shown.values()]})
    note = ""
    if counts["uncertain"] or counts["versions_lost"]:
        lost = counts["versions_lost"]
        note = f"<div>{counts['uncertain']:,} of these rows are uncertain"
        note += f"; {lost:,} versions between are not kept</div>" if lost else "</div>"
    return table_html(some.filter(pl.col("count") > 0)) + note if any(shown.values()) else ""


def _part(name: str, frame: pl.DataFrame) -> str:
    shown = frame.head(_SHOWN_ROWS)
    count = f"{len(shown):,} of {len(frame):,}" if len(shown) < len(frame) else f"{len(frame):,}"
    empty = [column for column in shown.columns if shown[column].null_count() == len(shown)]
    return f"<div>{escape(name)}: {count}</div>{table_html(shown.drop(empty))}"


def _cut(text: str, longest: int = _LONGEST_CELL) -> str:
    return text if len(text) <= longest else f"{text[:longest]}..."
