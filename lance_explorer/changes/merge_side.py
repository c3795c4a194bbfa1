"""What one side of a merge did to the rows of the fork, with its values."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from propcache.api import cached_property

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.diff_schema import FieldPair
from lance_explorer.changes.feed_columns import check_key, columns_between
from lance_explorer.changes.images import Images
from lance_explorer.changes.steps import ChangeStep
from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.columns.identity import columns_at
from lance_explorer.history.columns.value_columns import ValueColumns
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.evidence import Evidence

__all__ = ["KeyedRows", "MergeSide"]

_LEFT_OUT = (RowEvent.MOVED, RowEvent.COLUMN_ADDED, RowEvent.UNCHANGED)
_PLACE, _OTHER = "__place", "__place_after"


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """Changed rows, one a run, with their keys."""

    runs: ChangeRuns
    keys: pl.DataFrame


class MergeSide:
    """The path from the fork to the latest version of one side.

    Parameters
    ----------
    fork, end : BranchVersion
        Both versions.
    """

    def __init__(self, fork: BranchVersion, end: BranchVersion) -> None:
        self.pair = VersionPair(fork, end)
        self.is_none = (fork.view.branch, fork.version) == (end.view.branch, end.version)

    @cached_property
    def fields(self) -> list[FieldPair]:
        """The pairs of fields of the fork and the end."""
        return self.pair.fields

    @cached_property
    def runs(self) -> ChangeRuns:
        """The changes of rows, except moves and added columns."""
        if self.is_none:
            return ChangeRuns.empty()
        runs = self.pair.runs
        return runs.where(~np.isin(runs.change, _LEFT_OUT))

    @cached_property
    def columns(self) -> ValueColumns:
        """All columns of values, by their names at the end."""
        return self._columns(None)

    def names(self, at_end: bool) -> dict[str, str]:
        """Return the names of columns at one end, by their names in :attr:`columns`."""
        place = self.pair.second if at_end else self.pair.first
        return self.columns.names_in(place.view, place.version)

    @cached_property
    def kept_columns(self) -> dict[str, str]:
        """The names of common columns in :attr:`columns` at the end.

        By their names at the fork.
        """
        stops = [self.pair.rows_after.stop, self.pair.rows_before.stop]
        end, fork = map(columns_at(stops).columns, stops)
        shown = {end[own]: name for name, own in self.names(at_end=True).items()}
        kept = {own: shown[number] for own, number in fork.items() if number in shown}
        there = self.names(at_end=True)
        return {own: name for name, own in self.names(at_end=False).items() if name in there} | kept

    def before(self, runs: ChangeRuns, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return rows at the fork, one a run, with all or some of :attr:`columns`."""
        return self._images(self._some(names)).before(runs)

    def after(self, runs: ChangeRuns, names: Sequence[str] | None = None) -> pl.DataFrame:
        """Return rows at the end, one a run, with all or some of :attr:`columns`."""
        return self._images(self._some(names)).after(runs)

    def keyed(self, key: Sequence[str], side: str) -> KeyedRows:
        """Return the changed rows by key: a removed and an added row with one key are an update.

        Raises
        ------
        InvalidArgumentError
            If two rows have the same key.
        """
        columns = self._columns(key)
        check_key(columns, key, [self.pair.rows_before.stop, self.pair.rows_after.stop])
        rows, images = self.runs.rows(), self._images(columns)
        was, now = rows.where(rows.was_live), rows.where(rows.is_live)
        old, new = images.before(was), images.after(now)
        names = old.columns
        for keys, when in ((old, "at the fork"), (new, f"on {side}")):
            _check_unique(keys.drop_nulls(), when)
        joined = old.with_row_index(_PLACE).join(
            new.with_row_index(_OTHER), on=names, how="full", coalesce=True
        )
        at_old, at_new = joined[_PLACE], joined[_OTHER]
        both = joined.filter(at_old.is_not_null() & at_new.is_not_null())
        gone = joined.filter(at_new.is_null())
        come = joined.filter(at_old.is_null())
        first, second = was.where(both[_PLACE].to_numpy()), now.where(both[_OTHER].to_numpy())
        is_one = (first.before == second.before) & (first.after == second.after)
        updated = replace(
            second,
            before=first.before,
            old_identity=first.old_identity,
            change=np.where(is_one, second.change, np.uint8(RowEvent.UPDATED)),
            evidence=np.where(is_one, second.evidence, np.uint8(Evidence.DERIVED)),
            is_uncertain=second.is_uncertain & is_one,
        )
        deleted = was.where(gone[_PLACE].to_numpy())
        inserted = now.where(come[_OTHER].to_numpy())
        return KeyedRows(
            ChangeRuns.concatenated(
                [
                    updated,
                    _alone(deleted, RowEvent.DELETED, "after"),
                    _alone(inserted, RowEvent.INSERTED, "before"),
                ]
            ),
            pl.concat([part.select(names) for part in (both, gone, come)]),
        )

    def _some(self, names: Sequence[str] | None) -> ValueColumns:
        return self.columns if names is None else self._columns(names)

    def _columns(self, names: Sequence[str] | None) -> ValueColumns:
        return columns_between([self.pair.rows_after.stop, self.pair.rows_before.stop], names)

    def _images(self, columns: ValueColumns) -> Images:
        first, second = self.pair.rows_before, self.pair.rows_after
        step = ChangeStep(self.runs, first.position, second.position, second.version)
        return Images(second.rows, columns, step, 0.0, first.rows)


def _alone(rows: ChangeRuns, change: RowEvent, missing: str) -> ChangeRuns:
    """Return rows with only one image; their keys show that they are no updates."""
    count = len(rows)
    nowhere = np.full(count, NO_ADDRESS, dtype=np.uint64)
    changes = np.full(count, change, dtype=np.uint8)
    certain = np.zeros(count, dtype=np.bool_)
    rows = replace(rows, change=changes, is_uncertain=certain)
    return replace(rows, after=nowhere) if missing == "after" else replace(rows, before=nowhere)


def _check_unique(keys: pl.DataFrame, when: str) -> None:
    twice = keys.filter(keys.is_duplicated())
    if len(twice):
        row = ", ".join([f"{name} = {value!r}" for name, value in twice.row(0, named=True).items()])
        raise InvalidArgumentError(
            f"rows cannot be matched by {', '.join(keys.columns)}: {row} is in several rows {when}"
        )
