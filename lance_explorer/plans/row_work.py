"""What a plan does to rows: which get values back, which are deleted, and which return."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.changed_cells import changed_values
from lance_explorer.changes.merge_rows import Images
from lance_explorer.changes.three_way import ThreeWay
from lance_explorer.format.manifest import LEGACY_FORMAT
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.plans.arrow_columns import arrow_column, stored_field
from lance_explorer.plans.column_work import Target
from lance_explorer.plans.frames import PLAN_CONFLICTS
from lance_explorer.plans.places import ROWS_AT_ONCE, Places, row_chunks
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["CHANGES", "RowWork"]

_Mask = NDArray[np.bool_]

CHANGES = ("update", "delete", "insert")
"""What is done to a row, as numbers."""
_UNCERTAIN = "uncertain", "the row cannot be identified with certainty: name a key"

MOST_NAMED = 1_000
"""The most rows that a commit names when they come back."""

_UPDATE, _DELETE, _INSERT = np.arange(3, dtype=np.uint8)


class _Side(NamedTuple):
    """Rows that their side changed, one entry each, and where they are on our side."""

    theirs: ChangeRuns
    images: Images
    address: Uint64Array
    row_id: Uint64Array
    is_doubted: _Mask


class _Piece(NamedTuple):
    """What is done to some rows."""

    change: NDArray[np.uint8]
    address: Uint64Array
    row_id: Uint64Array
    values: list[pa.Array]
    is_written: _Mask


class RowWork:
    """What a plan does to rows.

    Parameters
    ----------
    sides : ThreeWay
        What is brought over from their side.
    targets : sequence of Target
        The columns of the table.
    overwrites : bool
        Whether rows that our side changed, too, get the values of theirs.
    only : ndarray of uint64, optional
        The addresses on their side of the rows that are brought; all by default.

    Attributes
    ----------
    counts : ndarray of int64
        How many rows are updated, deleted and inserted.
    in_place : bool
        Whether values are written in place. Into legacy files pylance writes them only for the live
        rows of a fragment, and takes them for all: there, rows are written anew.
    written : list of Target
        The columns that updated rows get values of: those of which any row gets another one, or
        all if they are not written in place.
    updated, touched : ndarray of uint64
        The addresses of rows that are updated; and of those that are updated or deleted.
    updated_row_bytes : float
        How many bytes the written columns of an updated row take in memory.
    inserted_bytes : float
        How many bytes inserted rows take in memory.
    """

    def __init__(
        self,
        sides: ThreeWay,
        targets: Sequence[Target],
        *,
        overwrites: bool,
        only: Uint64Array | None = None,
    ) -> None:
        self._sides = sides
        self._targets = targets
        self._overwrites = overwrites
        self._only = only
        self._uncertain = list[pl.DataFrame]()
        data_format = sides.ours.pair.rows_after.record.manifest.data_format
        self.in_place = data_format != LEGACY_FORMAT
        self._has_null_structs = data_format not in (LEGACY_FORMAT, "2.0")
        self.counts = np.zeros(3, dtype=np.int64)
        self._kept: list[_Piece] | None = []
        written = np.zeros(len(targets), dtype=np.bool_)
        sizes = np.zeros((2, len(targets)))
        places = [[np.empty(0, np.uint64)], [np.empty(0, np.uint64)]]
        num_held = 0
        for piece in self._pieces(notes=self._uncertain):
            self.counts += np.bincount(piece.change, minlength=3)
            written |= piece.is_written
            for change in (_UPDATE, _DELETE):
                places[change].append(piece.address[piece.change == change])
            num_held += len(piece.change)
            of_each = np.array([one.nbytes for one in piece.values]) / len(piece.change)
            for row, change in enumerate((_UPDATE, _INSERT)):
                sizes[row] += of_each * (piece.change == change).sum()
            if self._kept is not None:
                self._kept = [*self._kept, piece] if num_held <= ROWS_AT_ONCE else None
        if not self.in_place:
            written |= bool(self.counts[_UPDATE])
        self.written = [one for one, is_one in zip(targets, written, strict=True) if is_one]
        self.updated, deleted = map(np.concatenate, places)
        self.touched = np.concatenate([self.updated, deleted])
        self.updated_row_bytes = float(sizes[0][written].sum()) / max(int(self.counts[0]), 1)
        self.inserted_bytes = float(sizes[1].sum())

    @property
    def num_rows(self) -> int:
        """How many rows are changed."""
        return int(self.counts.sum())

    @property
    def schema(self) -> pa.Schema:
        """The columns of :meth:`batches`."""
        own = [
            pa.field("_change", pa.string()),
            pa.field("_rowid", pa.uint64()),
            pa.field("_rowaddr", pa.uint64()),
        ]
        return pa.schema([*own, *[stored_field(one.field) for one in self._targets]])

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the changed rows: what is done to each, where it is, and its values.

        Updated rows have values of the columns that are written, deleted ones have none.
        """
        is_written = [one in self.written for one in self._targets]
        for piece in self._pieces() if self._kept is None else self._kept:
            inserted = piece.change == _INSERT
            updated = piece.change == _UPDATE
            arrays = [
                pa.array(np.array(CHANGES, dtype=np.object_)[piece.change], pa.string()),
                pa.array(piece.row_id, pa.uint64()),
                pa.array(piece.address, pa.uint64(), mask=inserted),
            ]
            for array, is_one in zip(piece.values, is_written, strict=True):
                there = inserted | updated if is_one else inserted
                arrays.append(_where(array, there))
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    @cached_property
    def conflicts(self) -> pl.DataFrame:
        """The cells that both sides changed, and the rows that cannot be identified."""
        return pl.concat([PLAN_CONFLICTS.polars_schema.to_frame(), *self._cells, *self._uncertain])

    @property
    def num_overwritten(self) -> int:
        """How many rows that our side changed get their side's values nevertheless."""
        return int(self._conflicting.sum()) if self._overwrites else 0

    @property
    def num_left_alone(self) -> int:
        """How many rows are left alone because both sides changed them or they are uncertain."""
        both = 0 if self._overwrites else int(self._conflicting.sum())
        return both + sum(map(len, self._uncertain))

    @cached_property
    def _conflicting(self) -> _Mask:
        compared = self._sides.compared
        chosen = compared.has_outcome("conflict") & ~self._came_back
        if self._only is not None:
            chosen = chosen & np.isin(compared.theirs.after, self._only)
        return chosen

    @property
    def _cells(self) -> Iterator[pl.DataFrame]:
        if not self._conflicting.any():
            return
        compared = self._sides.compared
        rows, _ = np.nonzero(compared.cells)
        cells = self._sides.cells().filter(pl.Series(self._conflicting[rows]))
        rows = rows[self._conflicting[rows]]
        version = compared.ours.version[rows]
        reasons = {"deleted": "deleted_since", "inserted": "inserted_since"}
        yield PLAN_CONFLICTS.build(
            {
                "reason": [reasons.get(one, "changed_since") for one in cells["change_ours"]],
                "subject": ["row"] * len(cells),
                "_rowid": cells["_rowid"],
                "key": cells["key"],
                "name": cells["column"],
                "planned": cells["theirs"],
                "now": cells["ours"],
                "version": pl.Series(version, dtype=pl.UInt64).set(
                    pl.Series(version == NO_VERSION), None
                ),
                "note": [
                    "the row would be deleted" if one == "deleted" else None
                    for one in cells["change_theirs"]
                ],
            }
        )

    def _pieces(self, notes: list[pl.DataFrame] | None = None) -> Iterator[_Piece]:
        for side in self._changed():
            doubted, lacking = self._doubted(side), self._lacking(side)
            lacking &= ~doubted
            if notes is not None:
                notes += [
                    _noted(side, chosen, *why)
                    for chosen, why in ((doubted, _UNCERTAIN), (lacking, self._not_possible))
                    if chosen.any()
                ]
            piece = self._piece(side, ~doubted & ~lacking)
            if len(piece.change):
                yield piece

    def _changed(self) -> Iterator[_Side]:
        """Yield the rows that are written, so many at a time."""
        for chunk in row_chunks(self._sides.matched.only_theirs):
            some = chunk if self._only is None else chunk.where(np.isin(chunk.after, self._only))
            images = self._sides.values.only(some, is_ours=False)
            address = self._places.after(some.before)
            here = address != NO_ADDRESS
            was, _, there = images.are_there
            images = images._replace(are_there=(was, here, there))
            if not self.in_place:  # columns that were added since are written, too
                images = images._replace(ours=self._sides.values.ours_at(some, address))
            ids = np.where(was, some.old_identity, some.identity)
            if not self._sides.has_row_ids:
                ids = np.where(was, address, some.after)
            doubted = ~some.was_live & self._may_be_here
            yield _Side(some, images, address, ids, doubted)
        compared = self._sides.compared
        outcomes = ("incoming", "combined", *(["conflict"] if self._overwrites else []))
        chosen = compared.has_outcome(*outcomes) | _is_doubted(compared.ours)
        chosen &= ~self._came_back
        if self._only is not None:
            chosen &= np.isin(compared.theirs.after, self._only)
        if chosen.any():
            ours = compared.ours.where(chosen)
            ids = np.where(ours.is_live, ours.identity, ours.old_identity)
            if not self._sides.has_row_ids:
                ids = np.where(ours.is_live, ours.after, ours.before)
            images = compared.images.where(chosen)
            yield _Side(compared.theirs.where(chosen), images, ours.after, ids, _is_doubted(ours))

    def _doubted(self, side: _Side) -> _Mask:
        """Return which rows cannot be identified with certainty."""
        was, here, there = side.images.are_there
        lost: _Mask = was & ~here & ~there
        return lost | side.is_doubted | _is_doubted(side.theirs)

    def _lacking(self, side: _Side) -> _Mask:
        """Return which rows would have no value in a non-nullable column."""
        _, here, there = side.images.are_there
        comes = there & ~here
        is_lacking = np.zeros(len(comes), dtype=np.bool_)
        for target in self._required:
            theirs = target.images[2]
            is_lacking |= (
                comes if theirs is None else comes & side.images.theirs[theirs].is_null().to_numpy()
            )
        return is_lacking

    @property
    def _required(self) -> list[Target]:
        """The columns that may not be null."""
        return [target for target in self._targets if not target.field.nullable]

    @property
    def _not_possible(self) -> tuple[str, str]:
        names = ", ".join([f"`{target.name}`" for target in self._required])
        return "not_possible", f"it has no value for {names}, which may not be null"

    def _piece(self, side: _Side, chosen: _Mask) -> _Piece:
        """Return what is done to some rows, without rows that have their values already."""
        images = side.images.where(chosen)
        was, here, there = images.are_there
        change = np.where(here & there, _UPDATE, np.where(there, _INSERT, _DELETE))
        num_rows = len(change)
        values, is_written = list[pa.Array](), np.zeros(len(self._targets), dtype=np.bool_)
        differs = np.zeros(num_rows, dtype=np.bool_)
        for place, target in enumerate(self._targets):
            base, ours, theirs = target.images
            nulls = pa.nulls(num_rows, stored_field(target.field).type)
            new = nulls if theirs is None else arrow_column(images.theirs[theirs], target.field)
            if base is not None and ours is not None and theirs is not None:
                by_them = changed_values(images.base[base], images.theirs[theirs])
                apart = changed_values(images.ours[ours], images.theirs[theirs])
                by_them = np.where(was, by_them, apart) & (change == _UPDATE) & here
                differs |= by_them & apart
                is_written[place] = bool((by_them & apart).any())
                if not by_them.all():
                    now = arrow_column(images.ours[ours], target.field)
                    chosen_values = np.where(by_them | ~here, num_rows, 0) + np.arange(num_rows)
                    new = pa.concat_arrays([now, new]).take(pa.array(chosen_values))
            elif ours is not None and (change == _UPDATE).any():
                now = arrow_column(images.ours[ours], target.field)
                chosen_values = np.where(here, 0, num_rows) + np.arange(num_rows)
                new = pa.concat_arrays([now, new]).take(pa.array(chosen_values))
            values.append(new if self._has_null_structs else _without_null_structs(new))
        kept = (change != _UPDATE) | differs
        left = pa.array(kept)
        return _Piece(
            change[kept],
            side.address[chosen][kept],
            side.row_id[chosen][kept],
            [one.filter(left) for one in values],
            is_written,
        )

    @cached_property
    def _came_back(self) -> _Mask:
        """Which rows of both sides that the base lacks are one row: a restore undid a delete."""
        ours, theirs = self._sides.compared.ours, self._sides.compared.theirs
        are_new = ~ours.was_live & ~theirs.was_live & ours.is_live & theirs.is_live
        is_back: _Mask = are_new & (ours.identity == theirs.identity)
        return is_back & self._sides.share_identities

    @cached_property
    def _may_be_here(self) -> bool:
        """Whether a row that comes back may be one that was added to our side since."""
        ours = self._sides.ours.runs
        return not self._sides.key and bool((ours.is_uncertain & ~ours.was_live).any())

    @cached_property
    def _places(self) -> Places:
        """Where rows of the base are on our side."""
        ours = self._sides.ours
        return Places(ChangeRuns.empty() if ours.is_none else ours.pair.runs)

    @property
    def former_row_ids(self) -> list[int]:
        """The row IDs that the inserted rows had; none if there are many, or they have none."""
        if self._kept is None or self.counts[_INSERT] > MOST_NAMED or not self._sides.has_row_ids:
            return []
        row_ids = [piece.row_id[piece.change == _INSERT] for piece in self._kept]
        return np.concatenate(row_ids).tolist() if row_ids else []


def _noted(side: _Side, chosen: _Mask, reason: str, note: str) -> pl.DataFrame:
    """Return rows that are left alone for one reason."""
    ids = side.row_id[chosen]
    count = len(ids)
    nothing = [None] * count
    return PLAN_CONFLICTS.build(
        {
            "reason": [reason] * count,
            "subject": ["row"] * count,
            "_rowid": pl.Series(ids, dtype=pl.UInt64).set(pl.Series(ids == NO_ADDRESS), None),
            "key": nothing,
            "name": nothing,
            "planned": nothing,
            "now": nothing,
            "version": nothing,
            "note": [note] * count,
        }
    )


def _without_null_structs(array: pa.Array) -> pa.Array:
    """Return values with a struct of nulls for each null struct, which data format 2.0 lacks."""
    if not pa.types.is_struct(array.type):
        return array
    inside = [_without_null_structs(one) for one in array.flatten()]
    return pa.StructArray.from_arrays(inside, fields=[*array.type])


def _is_doubted(runs: ChangeRuns) -> _Mask:
    """Return for which rows it is uncertain what a side did to them.

    An uncertain update may not have changed the values, so the values are compared.
    """
    came_or_went = runs.was_live != runs.is_live
    is_doubted: _Mask = runs.is_uncertain & (came_or_went | (runs.evidence >= Evidence.INFERRED))
    return is_doubted


def _where(array: pa.Array, there: _Mask) -> pa.Array:
    """Return values where a mask is true, and nulls elsewhere."""
    if there.all():
        return array
    return array.take(pa.array(np.arange(len(array)), mask=~there))
