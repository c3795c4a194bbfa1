"""Schema, indices and configuration of one version, and their changes in it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import polars as pl
from msgspec.structs import asdict

from lance_explorer.inspect.schema_changes import schema_changes
from lance_explorer.table import Table
from lance_explorer.widgets.messages.time_travel import (
    ConfigEntries,
    ConfigEntry,
    Details,
    FieldBefore,
    IndexEntries,
    IndexEntry,
    SchemaEntries,
    SchemaEntry,
)

__all__ = ["VersionDetails"]

_MOST_ENTRIES = 200
_MOST_TEXT = 500

_Row = Mapping[str, Any]
_Listed = TypeVar("_Listed", SchemaEntries, IndexEntries, ConfigEntries)


class VersionDetails:
    """What each kept version contains besides its rows; read once, returned by version."""

    def __init__(self, table: Table) -> None:
        self._positions = {
            version: i for i, version in enumerate(table._view.history.versions.tolist())
        }
        self._versions = list(self._positions)
        self._fields = table.inspect.all_fields()
        self._indices = table.inspect.all_indices()
        self._config = table.inspect.all_config()
        self._schema_changes = schema_changes(table._view)

    def at(self, version: int) -> Details:
        """Return the entries of schema, indices and configuration, and how many each has.

        An entry has a ``change``, such as ``added``, or null; a removed entry is listed one last
        time. Changes come first if there are more entries than are shown.
        """
        position = self._positions[version]
        before = self._versions[position - 1] if position else None
        return Details(
            schema=_listed(SchemaEntries, self._schema(version)),
            indices=_listed(IndexEntries, self._index_entries(version, before)),
            config=_listed(ConfigEntries, self._config_entries(version, before)),
        )

    def _schema(self, version: int) -> list[SchemaEntry]:
        changes = self._schema_changes.get(version, ())
        changed = {change.path: change for change in changes if change.after}
        entries = []
        for row in _there(self._fields, version).iter_rows(named=True):
            change = changed.get(row["path"])
            before = _difference(change.before, row) if change and change.before else None
            entries.append(_field(row, change.change if change else None, before))
        removed = [
            _field(change.before, "dropped")
            for change in changes
            if change.before and not change.after
        ]
        return [*entries, *removed]

    def _index_entries(self, version: int, before: int | None) -> list[IndexEntry]:
        now, then = _by_name(self._indices, version), _by_name(self._indices, before)
        entries = []
        for name, segments in {**now, **then}.items():
            shown = now.get(name, segments)
            entries.append(
                IndexEntry(
                    name=_text(name),
                    type=_text(shown[0]["index_type"]),
                    fields=[_text(field or "dropped field") for field in shown[0]["fields"]],
                    segments=len(shown),
                    fragments=_covered(shown),
                    change=_change(now.get(name), then.get(name), before),
                )
            )
        return entries

    def _config_entries(self, version: int, before: int | None) -> list[ConfigEntry]:
        now, then = _by_key(self._config, version), _by_key(self._config, before)
        entries = []
        for key, value in {**then, **now}.items():
            where, field, name = key
            change = _change(now.get(key), then.get(key), before)
            entries.append(
                ConfigEntry(
                    map=where.replace("_", " ") if field is None else f"field {_text(field)}",
                    key=_text(name),
                    value=_text(value),
                    change=change,
                    before=_text(then[key]) if change == "changed" else None,
                )
            )
        return sorted(entries, key=lambda entry: (entry.map, entry.key))


def _there(frame: pl.DataFrame, version: int | None) -> pl.DataFrame:
    """Return the rows of an ``all_`` frame whose interval holds a version."""
    return frame.filter(
        (pl.col("first_version") <= pl.lit(version, pl.UInt64))
        & (pl.lit(version, pl.UInt64) <= pl.col("last_version"))
    )


def _by_name(frame: pl.DataFrame, version: int | None) -> dict[str, list[_Row]]:
    segments = dict[str, list[_Row]]()
    for row in _there(frame, version).iter_rows(named=True):
        segments.setdefault(row["name"], []).append(row)
    return segments


def _by_key(frame: pl.DataFrame, version: int | None) -> dict[tuple[str, str | None, str], str]:
    entries = _there(frame, version).select("map", "field", "key", "value")
    return {(where, field, key): value for where, field, key, value in entries.iter_rows()}


def _change(now: object, then: object, before: int | None) -> str | None:
    if before is None:
        return None
    if then is None:
        return "added"
    if now is None:
        return "dropped"
    return None if now == then else "changed"


def _covered(segments: list[_Row]) -> int | None:
    """Return how many fragments the segments of an index cover; None if one does not record it."""
    ids = [segment["fragment_ids"] for segment in segments]
    return None if None in ids else len({key for some in ids for key in some})


def _field(row: _Row, change: str | None, before: FieldBefore | None = None) -> SchemaEntry:
    path, kind = _text(row["path"]), _text(row["logical_type"])
    return SchemaEntry(path, kind, row["nullable"], change, before)


def _difference(before: _Row, after: _Row) -> FieldBefore:
    """Return the earlier values of a field, where they differ."""
    old, new = asdict(_field(before, None)), asdict(_field(after, None))
    return FieldBefore(**{name: value for name, value in old.items() if value != new[name]})


def _listed(kind: Callable[..., _Listed], entries: list[Any]) -> _Listed:
    shown = entries
    if len(entries) > _MOST_ENTRIES:
        shown = sorted(entries, key=lambda entry: entry.change is None)[:_MOST_ENTRIES]
    return kind(
        entries=shown,
        num_entries=len(entries),
        num_there=sum([entry.change != "dropped" for entry in entries]),
        num_changed=sum([entry.change is not None for entry in entries]),
    )


def _text(text: str) -> str:
    if len(text) <= _MOST_TEXT:
        return text
    return f"{text[:_MOST_TEXT]}... ({_MOST_TEXT:,} of {len(text):,} characters)"
