"""Changes of the schema in each version: fields added, dropped, renamed, cast or altered."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fields import all_fields

__all__ = ["FieldChange", "schema_changes"]

_CHANGED = ("renamed", "cast", "altered")


@dataclass(frozen=True, slots=True)
class FieldChange:
    """What happened to one field; ``before`` and ``after`` are rows of ``all_fields``.

    ``before`` is None for a field that was added, ``after`` for one that was dropped.
    """

    change: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None

    @property
    def path(self) -> str:
        """Where the field is, or was."""
        row = self.after or self.before
        assert row is not None
        return str(row["path"])


def schema_changes(view: HistoryView) -> dict[int, tuple[FieldChange, ...]]:
    """Return the changes of the schema by version; versions without any are left out.

    The first version, the first of a branch or clone, and one after a gap have none: they have no
    predecessor.
    """
    frame = all_fields(view)
    history = view.history
    next_version = dict(
        zip(history.versions[:-1].tolist(), history.versions[1:].tolist(), strict=True)
    )
    first = int(history.versions[0]) if len(history) else 0
    began: dict[int, list[dict[str, Any]]] = {}
    ended: dict[int, list[dict[str, Any]]] = {}
    for row in frame.filter(pl.col("first_version") > first).iter_rows(named=True):
        began.setdefault(row["first_version"], []).append(row)
    for row in frame.filter(~pl.col("is_current")).iter_rows(named=True):
        ended.setdefault(next_version[row["last_version"]], []).append(row)
    changes = {
        version: tuple(_paired(began.get(version, []), ended.get(version, [])))
        for version in sorted({*began, *ended})
    }
    return {version: change for version, change in changes.items() if change}


def _paired(began: list[dict[str, Any]], ended: list[dict[str, Any]]) -> Iterator[FieldChange]:
    by_id = {row["field_id"]: row for row in ended if row["ended_as"] in _CHANGED}
    by_path = {row["path"]: row for row in ended if row["ended_as"] in _CHANGED}
    for row in began:
        if row["began_as"] == "added":
            yield FieldChange("added", None, row)
        elif row["began_as"] in _CHANGED:
            before = by_path.get(row["path"]) or by_id.get(row["field_id"])
            yield FieldChange(row["began_as"], before, row)
    for row in ended:
        if row["ended_as"] == "dropped":
            yield FieldChange("dropped", row, None)
