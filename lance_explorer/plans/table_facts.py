"""What a plan must know of the table as it is: its files, its rows and its indices."""

import hashlib
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from lance_explorer.changes.version_rows import place_rows
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.format.schema import column_fields
from lance_explorer.frames.sizes import counted
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.plans.records import Loss
from lance_explorer.plans.row_work import RowWork
from lance_explorer.rowids.addresses import fragments_of

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
        """A digest of the names of all data files; the script of a plan makes the same."""
        names = [f"{one.id} {file.path}" for one in self._rows.fragments for file in one.files]
        return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()

    @property
    def num_rows(self) -> int:
        """How many rows live in it."""
        return self._rows.num_rows

    def bytes_written(self, work: RowWork) -> int:
        """Return about how many bytes a plan writes: whole columns of the touched fragments."""
        physical = {one.id: one.physical_rows or 0 for one in self._rows.fragments}
        rewritten = sum([physical.get(one, 0) for one in fragments_of_rows(work.updated)])
        return int(rewritten * work.updated_row_bytes + work.inserted_bytes)

    def index_losses(self, work: RowWork) -> Iterator[Loss]:
        """Yield which indices no longer cover rows that a plan writes in place."""
        record = self._rows.record
        columns = column_fields(record.schema).items()
        written = {target.field.name for target in work.written}
        touched = {*fragments_of_rows(work.touched)} if written else set[int]()
        live = self._live
        for index in record.indices:
            own = {*index.fields}
            names = {name for name, fields in columns if own & {field.id for field in fields}}
            if index.name in SYSTEM_INDICES or not names & written:
                continue
            covered = index.fragment_ids()
            both = touched if covered is None else touched & {*covered}
            if both:
                count = sum([live.get(one, 0) for one in both])
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


def fragments_of_rows(addresses: np.ndarray) -> list[int]:
    """Return the fragments of some rows."""
    found: list[int] = np.unique(fragments_of(addresses)).tolist()
    return found
