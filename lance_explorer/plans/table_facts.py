"""What a plan needs to know about the table: its files, rows and indices."""

import hashlib
from collections.abc import Iterator

import numpy as np
from propcache.api import cached_property

from lance_explorer.changes.version_rows import place_rows
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.format.schema import column_fields
from lance_explorer.frames.sizes import counted
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.plans.rebuilt_rows import RebuiltRows
from lance_explorer.plans.records import Loss
from lance_explorer.plans.row_work import RowWork
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["TableFacts"]


class TableFacts:
    """What a version holds.

    Parameters
    ----------
    place : BranchVersion
        The version.
    """

    def __init__(self, place: BranchVersion) -> None:
        self._rows = place_rows(place)

    @property
    def fingerprint(self) -> str:
        """A digest of the names of all data files; the script of a plan computes the same."""
        names = [f"{one.id} {file.path}" for one in self._rows.fragments for file in one.files]
        return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()

    @property
    def num_rows(self) -> int:
        """The number of live rows in it."""
        return self._rows.num_rows

    def bytes_written(self, work: RowWork) -> int:
        """Return about how many bytes a plan writes: whole columns of the touched fragments."""
        physical = {one.id: one.physical_rows or 0 for one in self._rows.fragments}
        rewritten = sum([physical.get(one, 0) for one in num_by_fragment(work.updated)[0]])
        return int(rewritten * work.updated_row_bytes + work.inserted_bytes)

    def index_losses(self, work: RowWork | RebuiltRows) -> Iterator[Loss]:
        """Yield which indices no longer cover some rows.

        With values written in place, it no longer covers the fragments of updated and deleted rows;
        otherwise, the rows that are written again.
        """
        record = self._rows.record
        columns = column_fields(record.schema).items()
        written = {one.name for one in work.written}
        if isinstance(work, RowWork) and work.in_place:
            touched, _ = num_by_fragment(work.touched)
            rows = {fragment: self._live.get(fragment, 0) for fragment in touched}
        else:
            rows = dict(zip(*num_by_fragment(work.updated), strict=True))
        for index in record.indices:
            own = {*index.fields}
            names = {name for name, fields in columns if own & {field.id for field in fields}}
            if index.name in SYSTEM_INDICES or not names & written:
                continue
            covered = index.fragment_ids()
            both = rows.keys() if covered is None else rows.keys() & {*covered}
            if count := sum([rows[one] for one in both]):
                words = (
                    f"index `{index.name}` does not cover {counted(count, 'row')} afterwards: they "
                    "are scanned, until `dataset.optimize.optimize_indices()`"
                )
                yield Loss("indices", words, count)

    @cached_property
    def _live(self) -> dict[int, int]:
        """How many rows live in each fragment."""
        history = self._rows.rows.history
        states = history.states_at(self._rows.position)
        return {history.states[one].id: self._rows.rows.num_live(one) for one in states}


def num_by_fragment(addresses: Uint64Array) -> tuple[list[int], list[int]]:
    """Return the fragments of some rows, and how many rows are in each."""
    fragments, counts = np.unique(fragments_of(addresses), return_counts=True)
    return fragments.tolist(), counts.tolist()
