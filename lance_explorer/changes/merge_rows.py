"""Rows that two sides changed since their fork: matched, and with their outcome."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.changed_cells import changed_values
from lance_explorer.changes.combined_changes import borders, cut_at_addresses
from lance_explorer.changes.merge_frames import OUTCOME
from lance_explorer.changes.merge_side import MergeSide
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.columns.common_types import common_type
from lance_explorer.history.columns.names import numbered_name
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["Compared", "Images", "MatchedRows", "MergedColumns", "Places", "Values", "matched"]

_Mask = NDArray[np.bool_]
_OUTCOMES = {name: np.uint8(number) for number, name in enumerate(OUTCOME.categories)}
_NOTHING = np.uint8(len(_OUTCOMES))
"""Stands for rows whose values turn out to be unchanged."""


class MatchedRows(NamedTuple):
    """The changed rows of both sides, matched.

    Attributes
    ----------
    only_ours, only_theirs : ChangeRuns
        Rows that one side changed.
    both_ours, both_theirs : ChangeRuns
        Rows that both changed, in the same order, one a run.
    """

    only_ours: ChangeRuns
    only_theirs: ChangeRuns
    both_ours: ChangeRuns
    both_theirs: ChangeRuns


def matched(
    ours: MergeSide,
    theirs: MergeSide,
    key: Sequence[str],
    sides: tuple[str, str],
    *,
    share_identities: bool,
) -> MatchedRows:
    """Return which changed rows of both sides are the same.

    Without a key, rows are the same if they had the same address at the fork. If both sides
    ``share_identities``, as two versions of one branch do, later rows are the same if their
    identities are.
    """
    if key:
        mine, their = ours.keyed(key, sides[0]), theirs.keyed(key, sides[1])
        keys = [mine.keys.with_row_index("__ours"), their.keys.with_row_index("__theirs")]
        types = _common_types(mine.keys.schema, their.keys.schema)
        joined = keys[0].cast(types).join(keys[1].cast(types), on=[*types])  # type: ignore[arg-type]
        return _split(
            mine.runs, their.runs, joined["__ours"].to_numpy(), joined["__theirs"].to_numpy()
        )
    one = cut_at_addresses(ours.runs, "before", borders(theirs.runs, "before"))
    other = cut_at_addresses(theirs.runs, "before", borders(one, "before"))
    if share_identities and not (one.was_live.all() or other.was_live.all()):
        one, other = _new_rows_apart(one), _new_rows_apart(other)
        pairs = [_same(one, other, "before"), _same(one, other, "identity")]
        at_one, at_other = map(np.concatenate, zip(*pairs, strict=True))
        return _split(one, other, at_one, at_other)
    return _split(one, other, *_same(one, other, "before"))


def _new_rows_apart(runs: ChangeRuns) -> ChangeRuns:
    """Return runs in which each row that did not exist at the fork has a run of its own."""
    return ChangeRuns.concatenated([runs.where(runs.was_live), runs.where(~runs.was_live).rows()])


def _same(
    one: ChangeRuns, other: ChangeRuns, by: Literal["before", "identity"]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return which runs of both are the same rows, of those at the fork, or of the others."""
    chosen = [runs.was_live == (by == "before") for runs in (one, other)]
    here, there = map(np.flatnonzero, chosen)
    values = getattr(one, by)[here], getattr(other, by)[there]
    _, at_one, at_other = np.intersect1d(*values, return_indices=True)
    return here[at_one], there[at_other]


def _common_types(ours: pl.Schema, theirs: pl.Schema) -> dict[str, pl.DataType]:
    """Return the types of keys; each must hold the values of both sides."""
    types = dict[str, pl.DataType]()
    for (name, one), other in zip(ours.items(), theirs.values(), strict=True):
        common = common_type(one, other)
        if common is None:
            raise InvalidArgumentError(
                f"rows cannot be matched by {name!r}: it is {one} on one side and {other} on the "
                "other, and no type holds the values of both exactly; name another key"
            )
        types[name] = common
    return types


def _split(
    mine: ChangeRuns, their: ChangeRuns, at_mine: NDArray[np.integer], at_their: NDArray[np.integer]
) -> MatchedRows:
    return MatchedRows(
        mine.where(np.delete(np.arange(len(mine)), at_mine)),
        their.where(np.delete(np.arange(len(their)), at_their)),
        mine.where(at_mine.astype(np.intp)).rows(),
        their.where(at_their.astype(np.intp)).rows(),
    )


Places = tuple[str, str | None, str | None]
"""The names of a column in the images of the fork and of both sides; None if it does not exist."""


@dataclass(frozen=True, slots=True)
class MergedColumns:
    """The names of columns in a preview.

    Attributes
    ----------
    schema : polars.Schema
        All columns, by the names that they have on our side, if it has them.
    theirs : dict of str to str
        These names, by those of the columns of their side.
    compared : dict of str to tuple of (str or None)
        The columns that the fork and a side have, each with the columns of the preview that have
        its values at the fork and on both sides: several, where a cast gave it a type that does not
        hold all; None where a side does not have it.
    """

    schema: pl.Schema
    theirs: dict[str, str]
    compared: dict[str, Places]

    @classmethod
    def of(cls, ours: MergeSide, theirs: MergeSide) -> "MergedColumns":
        """Return the columns of two sides."""
        our_base = {own: name for name, own in ours.names(at_end=False).items()}
        origins = {name: own for own, name in theirs.kept_columns.items()}
        origins |= theirs.names(at_end=False)
        own = {name for at_end in (True, False) for name in theirs.names(at_end).values()}
        types, names = dict(ours.columns.schema), dict[str, str]()
        for name, dtype in theirs.columns.schema.items():
            place = our_base[origins[name]] if name in origins else name
            is_shared = name in origins or (place in types and place not in our_base.values())
            common = common_type(types[place], dtype) if is_shared else None
            if common is None and place in types:
                place = numbered_name(place, {*types, *own})
            types[place] = dtype if common is None else common
            names[name] = place
        here, there = ours.kept_columns, theirs.kept_columns
        compared = dict[str, Places]()
        for at_fork, name in our_base.items():
            mine, their = here.get(at_fork), names.get(there.get(at_fork, ""))
            if (called := mine or their) is not None:
                compared[called] = name, mine, their
        return cls(pl.Schema(types), names, compared)


class Images(NamedTuple):
    """Values of the same rows at the fork, on our side and on theirs; null for missing rows.

    ``are_there`` tells of each which rows are.
    """

    base: pl.DataFrame
    ours: pl.DataFrame
    theirs: pl.DataFrame
    are_there: tuple[_Mask, _Mask, _Mask]

    def where(self, chosen: _Mask) -> "Images":
        """Return the values of some of the rows."""
        base, ours, theirs = [image.filter(pl.Series(chosen)) for image in self[:3]]
        was, here, there = self.are_there
        return Images(base, ours, theirs, (was[chosen], here[chosen], there[chosen]))

    def select(self, columns: Sequence[str]) -> "Images":
        """Return the values of some columns."""
        base, ours, theirs = [image.select(columns) for image in self[:3]]
        return Images(base, ours, theirs, self.are_there)


class Values:
    """Reads the values of rows at the fork and on both sides, in the columns of a preview.

    Parameters
    ----------
    ours, theirs : MergeSide
        Both sides.
    chosen : sequence of str, optional
        Only these columns of the preview are read.
    """

    def __init__(
        self, ours: MergeSide, theirs: MergeSide, chosen: Sequence[str] | None = None
    ) -> None:
        self._ours, self._theirs = ours, theirs
        self._chosen = chosen

    @cached_property
    def schema(self) -> pl.Schema:
        """The columns that are read."""
        every = self.columns.schema
        if self._chosen is None:
            return every
        if missing := [name for name in self._chosen if name not in every]:
            raise InvalidArgumentError(
                f"columns has {missing[0]!r}: the merged table has only {', '.join(every)}"
            )
        return pl.Schema({name: every[name] for name in self._chosen})

    @cached_property
    def columns(self) -> MergedColumns:
        """The columns."""
        return MergedColumns.of(self._ours, self._theirs)

    def both(self, ours: ChangeRuns, theirs: ChangeRuns) -> Images:
        """Return the values of rows that both changed."""
        base = self._read(self._ours, ours, ours.was_live, at_end=False)
        if not ours.was_live.all():
            others = ~ours.was_live & theirs.was_live
            base = _either(ours.was_live, base, self._read(self._theirs, theirs, others, False))
        return Images(
            base,
            self._read(self._ours, ours, ours.is_live, at_end=True),
            self._read(self._theirs, theirs, theirs.is_live, at_end=True),
            (ours.was_live | theirs.was_live, ours.is_live, theirs.is_live),
        )

    def none(self) -> Images:
        """Return the values of no rows."""
        nothing, nobody = pl.DataFrame(schema=self.schema), np.zeros(0, dtype=np.bool_)
        return Images(nothing, nothing, nothing, (nobody, nobody, nobody))

    def only(self, runs: ChangeRuns, *, is_ours: bool) -> Images:
        """Return the values of rows that one side changed: the other side has those of the fork."""
        side = self._ours if is_ours else self._theirs
        base = self._read(side, runs, runs.was_live, at_end=False)
        after = self._read(side, runs, runs.is_live, at_end=True)
        was, now = runs.was_live, runs.is_live
        if is_ours:
            return Images(base, after, base, (was, now, was))
        return Images(base, base, after, (was, was, now))

    def ours_at(self, runs: ChangeRuns, addresses: Uint64Array) -> pl.DataFrame:
        """Return the values of rows on our side at some addresses."""
        place = replace(runs, after=addresses, identity=runs.old_identity)
        return self._read(self._ours, place, place.is_live, at_end=True)

    def _read(self, side: MergeSide, runs: ChangeRuns, there: _Mask, at_end: bool) -> pl.DataFrame:
        """Return values of the existing rows, and nulls for the others."""
        schema, some = self.schema, runs.where(there)
        called = (
            self.columns.theirs if side is self._theirs else {n: n for n in side.columns.schema}
        )
        wanted = [own for own, name in called.items() if name in schema]
        if not len(some) or not wanted:
            return pl.DataFrame(schema=schema).clear(len(runs))
        names = None if self._chosen is None else wanted
        values = side.after(some, names) if at_end else side.before(some, names)
        if side is self._theirs:
            values = values.rename({own: called[own] for own in values.columns})
        values = pl.concat([pl.DataFrame(schema=schema), values], how="diagonal_relaxed")
        if there.all():
            return values
        place = pl.Series(np.cumsum(there) - 1, dtype=pl.Int64).set(pl.Series(~there), None)
        return values.select(pl.all().gather(place))


def _either(is_first: _Mask, first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Return some rows of one frame, and the rest of another one."""
    count = len(first)
    place = np.where(is_first, np.arange(count), count + np.arange(count))
    return pl.concat([first, second])[place]


class Compared:
    """Rows that both sides changed: the outcome of each, and the cells in conflict.

    Parameters
    ----------
    values : Values
        What reads their values.
    rows : MatchedRows
        The rows.
    """

    def __init__(self, values: Values, rows: MatchedRows) -> None:
        self.ours, self.theirs = rows.both_ours, rows.both_theirs
        self._values = values

    @cached_property
    def images(self) -> Images:
        """Their values."""
        return self._values.both(self.ours, self.theirs)

    @cached_property
    def cells(self) -> _Mask:
        """Which cells are in conflict: one line a row, one column for each compared column."""
        by_us, by_them, differ = self._changed
        was, here, there = self.images.are_there
        cells = by_us & by_them & differ
        cells[~was] = differ[~was]
        cells[was & ~here] = by_them[was & ~here]
        cells[was & ~there] = by_us[was & ~there]
        cells[~here & ~there] = False
        return cells

    @cached_property
    def outcome(self) -> NDArray[np.uint8]:
        """The outcome of each row: numbers of OUTCOME, or one more if nothing has changed."""
        by_us, by_them, _ = self._changed
        was, here, there = self.images.are_there
        ours, theirs = by_us.any(axis=1), by_them.any(axis=1)
        outcomes = np.full(len(self.ours), _OUTCOMES["combined"], dtype=np.uint8)
        outcomes[(by_us == by_them).all(axis=1)] = _OUTCOMES["same"]
        outcomes[~ours] = _OUTCOMES["incoming"]
        outcomes[~theirs] = _OUTCOMES["kept"]
        outcomes[~ours & ~theirs] = _NOTHING
        outcomes[~was | (~here & ~there)] = _OUTCOMES["same"]
        outcomes[was & ~here & there] = _OUTCOMES["kept"]
        outcomes[was & here & ~there] = _OUTCOMES["incoming"]
        outcomes[self.cells.any(axis=1)] = _OUTCOMES["conflict"]
        return outcomes

    def has_outcome(self, *outcomes: str) -> _Mask:
        """Return which rows have one of these outcomes."""
        result: _Mask = np.isin(self.outcome, [_OUTCOMES[outcome] for outcome in outcomes])
        return result

    def count(self, outcome: str) -> int:
        """Return how many rows there are of an outcome."""
        return int(self.has_outcome(outcome).sum())

    @property
    def columns(self) -> list[str]:
        """The compared columns."""
        return [*self._values.columns.compared]

    def places(self, name: str) -> Places:
        """Return the columns of each image that contain the values of a compared column."""
        return self._values.columns.compared[name]

    def conflicting_columns(self, chosen: _Mask) -> pl.Series:
        """Return for some of the rows the names of the columns in conflict."""
        names = np.array(self.columns, dtype=np.object_)
        lists = [names[cells].tolist() for cells in self.cells[chosen]]
        return pl.Series(lists, dtype=pl.List(pl.String()))

    @property
    def is_uncertain(self) -> _Mask:
        """The rows whose deletion or insertion is uncertain: the values of all others are known."""
        result = np.zeros(len(self.ours), dtype=np.bool_)
        for runs in (self.ours, self.theirs):
            result |= runs.is_uncertain & (runs.was_live != runs.is_live)
        return result

    @cached_property
    def _changed(self) -> tuple[_Mask, _Mask, _Mask]:
        """Which of the compared cells we changed, which they changed, and which differ."""
        if not len(self.ours) or not self.columns:
            nothing = np.zeros((len(self.ours), 0), dtype=np.bool_)
            return nothing, nothing, nothing
        base, mine, their = self.images[:3]
        cells = [np.zeros((len(self.ours), len(self.columns)), dtype=np.bool_) for _ in range(3)]
        for number, (was, here, there) in enumerate(map(self.places, self.columns)):
            if here is not None:
                cells[0][:, number] = changed_values(base[was], mine[here])
            if there is not None:
                cells[1][:, number] = changed_values(base[was], their[there])
            if here is not None and there is not None:
                cells[2][:, number] = changed_values(mine[here], their[there])
        return cells[0], cells[1], cells[2]
