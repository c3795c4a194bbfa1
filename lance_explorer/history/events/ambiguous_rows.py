"""Rows without stable IDs that a restore removes and adds, and that may be the same.

An update whose rows cannot be paired gives new identities to the rows that it touches. A restore
over it removes these and brings the old ones back, so again it is unknown which is which. The same
holds for lost versions.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.events.row_comparison import compare_step
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.rowids.addresses import first_address, fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["Births", "births_at"]


class Births(NamedTuple):
    """The births of runs of rows: columns, a value for each run.

    ``created`` is the first version that created rows of the run's fragment, NO_VERSION where that
    is not known; for those of a restored detached version the first one that has them.
    ``open_until`` is that of its :class:`~lance_explorer.history.identity.row_origins.RowOrigins`.
    """

    created: Uint64Array
    open_until: Uint64Array

    @classmethod
    def of(cls, rows: StateRows, states: Collection[int], addresses: Uint64Array) -> "Births":
        """Return the births of rows at some addresses, which must be in the given states."""
        origins = [rows.origins(state) for state in states]
        created = [_first(rows, state) for state in states]
        open_until = [some.open_until for some in origins]
        ids = np.array([rows.history.states[state].id for state in states], dtype=np.uint64)
        order = np.argsort(ids)
        place = order[np.searchsorted(ids[order], fragments_of(addresses))]
        return cls(
            np.array(created, dtype=np.uint64)[place], np.array(open_until, dtype=np.uint64)[place]
        )

    def may_be(self, others: "Births") -> NDArray[np.bool_]:
        """Tell which runs may have become rows of the others, or the reverse."""
        if not len(others.created):
            return np.zeros(len(self.created), dtype=np.bool_)
        became = self.created < others.open_until.max()
        were = self.open_until > others.created.min()
        return np.asarray(became | were)


def _first(rows: StateRows, state: int) -> int:
    origins = rows.origins(state)
    created = origins.created.versions if origins.created else np.empty(0, dtype=np.uint64)
    if len(created) and created.min() != NO_VERSION:  # that is known for each row
        return int(created.min())
    starts, stops = origins.ids.ranges()
    own = first_address(rows.history.states[state].id)
    is_born_here = (
        len(starts) == 1 and starts[0] == own and stops[0] - starts[0] == len(origins.ids)
    )
    if is_born_here and origins.open_until == NO_VERSION:  # of no row of a version before
        return rows.history.records[int(rows.first_positions[state])].version
    return NO_VERSION


def births_at(rows: StateRows, step: StepFacts) -> tuple[Births, Births]:
    """Return the births of all rows that a version removed, and of all that it added."""
    runs = compare_step(rows, step)
    return (
        Births.of(rows, step.removed.values(), runs.before[~runs.is_live]),
        Births.of(rows, step.added.values(), runs.after[~runs.was_live]),
    )
