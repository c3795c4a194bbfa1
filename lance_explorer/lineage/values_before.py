"""The values that rows had before events, for many rows and events at once.

Rows that are in the same files in several versions are read once, in as few versions as possible.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT, Field, column_fields
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.columns.identity import FieldsBefore
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.values.later_values import values_at
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.stored_rows import Piece, StoredRows, Wanted, reads_of, stored_rows
from lance_explorer.lineage.where import fields_of
from lance_explorer.rowids.addresses import FRAGMENT_BITS
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.values.inner_names import InnerNames, inner_names, renamed

__all__ = ["Before", "BranchValues"]

Schema = tuple[Field, ...]

_Key = tuple[int, int]
"""A schema, and how many times field IDs were assigned anew before it: an Overwrite does that."""

_GIVES_ANEW = (OperationName.OVERWRITE, OperationName.RESTORE, OperationName.UNKNOWN, None)
"""Operations after which an earlier schema may return, with other fields."""

_OFFSETS = np.uint64((1 << FRAGMENT_BITS) - 1)


@dataclass(frozen=True, slots=True)
class Before:
    """Values of some rows.

    Attributes
    ----------
    rows : ndarray of int64
        Which of the rows that were asked for they are of.
    values : polars.DataFrame
        The columns that their version had, by the names that they have now.
    in_doubt : frozenset of str
        The columns of now of which it is not known whether their version had them.
    only_now : InnerNames
        Nested fields that are left out of the present values, because their version did not have
        them.
    """

    rows: NDArray[np.int64]
    values: pl.DataFrame
    in_doubt: frozenset[str]
    only_now: InnerNames


@dataclass
class BranchValues:
    """The values of rows in the versions of one branch, by the names that columns have in another.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    now : BranchVersion
        The version whose columns are asked for.
    columns : sequence of str
        Their names there.
    whole_blobs : bool
        Whether blobs are read, and not what describes them.
    """

    rows: StateRows
    now: BranchVersion
    columns: Sequence[str]
    whole_blobs: bool
    _names: dict[_Key, dict[str, str]] = field(default_factory=dict)
    _inside: dict[_Key, tuple[InnerNames, InnerNames]] = field(default_factory=dict)
    _doubts: dict[_Key, frozenset[str]] = field(default_factory=dict)
    _asked: dict[_Key, Wanted] = field(default_factory=dict)
    _stored: dict[int, list[tuple[Piece, StoredRows]]] | None = None

    def names_at(self, position: int) -> Mapping[str, str]:
        """Return the names of columns in a version, by present names; some may be missing."""
        record, key = self.rows.history.records[position], self._key(position)
        if key not in self._names:
            self._names[key] = self._mapped(record.schema, record.version)
        return self._names[key]

    def _key(self, position: int) -> _Key:
        return id(self.rows.history.records[position].schema), int(self._times[position])

    @cached_property
    def _times(self) -> NDArray[np.int64]:
        history = self.rows.history
        anew = [record.operation in _GIVES_ANEW for record in history.records]
        return np.cumsum(np.array(anew, dtype=np.bool_) | ~np.asarray(history.follows_previous))

    def in_doubt_at(self, position: int) -> frozenset[str]:
        """Return which of the present columns a version may have had: lost versions would tell.

        A column also counts if this is true of a field inside it, or if only its name is known.
        """
        record, key = self.rows.history.records[position], self._key(position)
        if key not in self._doubts:
            history, now = self.now.view.found(self.now.version)
            ids = self._fields.in_doubt(record.version)
            columns = column_fields(history.records[now].schema)
            same = self._later_ids(record.version).values()
            names, left = (
                self.names_at(position),
                {f.id for f in history.records[now].schema} - {*same},
            )
            guessed = self._fields.guessed(record.version) if left else frozenset()
            self._doubts[key] = frozenset(
                name
                for name, fields in columns.items()
                if not ids.isdisjoint(f.id for f in fields)
                or (name in names and fields[0].id in guessed & left)
            )
        return self._doubts[key]

    def read(
        self, positions: NDArray[np.int64], addresses: Uint64Array, row_ids: Uint64Array
    ) -> list[Before]:
        """Return the values of rows that can be read.

        Parameters
        ----------
        positions : ndarray of int64
            The position of a version in which each row is live.
        addresses : ndarray of uint64
            Where it is then.
        row_ids : ndarray of uint64
            The row IDs; without stable ones they do not matter.
        """
        wanted = list[tuple[NDArray[np.int64], Piece]]()
        for stored, chosen in self._by_stored(positions, addresses):
            offsets = (addresses[chosen] & _OFFSETS).astype(np.int64)
            left = np.ones(len(chosen), dtype=np.bool_)
            for piece in stored.to_read(self.rows):
                here = left & ~np.isin(offsets, deleted_offsets(self.rows.deleted(piece.state)))
                if here.any():
                    wanted.append((chosen[here], piece))
                left &= ~here
        parts = list[Before]()
        for position, several in reads_of(self.rows, wanted):
            some = np.concatenate(several)
            values = self._read(position, addresses[some], row_ids[some])
            if values is not None:
                only_now = self._names_inside(position)[1]
                parts.append(Before(some, values, self.in_doubt_at(position), only_now))
        return parts

    def _by_stored(
        self, positions: NDArray[np.int64], addresses: Uint64Array
    ) -> list[tuple[StoredRows, NDArray[np.int64]]]:
        """Return the rows grouped by the files that hold them."""
        if self._stored is None:
            self._stored = {}
            whole = range(len(self.rows.history))
            for stored in stored_rows(self.rows, self._wanted, whole):
                for piece in stored.pieces:
                    self._stored.setdefault(stored.fragment_id, []).append((piece, stored))
        fragments = (addresses >> np.uint64(FRAGMENT_BITS)).astype(np.int64)
        order = np.lexsort((positions, fragments))
        keys = np.stack([fragments[order], positions[order]])
        begins = np.flatnonzero(np.append(True, (np.diff(keys) != 0).any(axis=0)))
        by_stored = dict[int, tuple[StoredRows, list[NDArray[np.int64]]]]()
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(order)], strict=True):
            if begin == end:
                continue
            fragment, position = int(keys[0, begin]), int(keys[1, begin])
            for piece, stored in self._stored.get(fragment, ()):
                if piece.first <= position <= piece.last:
                    by_stored.setdefault(id(stored), (stored, []))[1].append(order[begin:end])
                    break
        return [(stored, np.concatenate(parts)) for stored, parts in by_stored.values()]

    def _wanted(self, position: int) -> Wanted:
        key = self._key(position)
        if key not in self._asked:
            schema = self.rows.history.records[position].schema
            fields = fields_of(self.names_at(position).values(), schema)
            fields_key = [
                (f.id, f.name, f.parent_id, f.logical_type) for f in schema if f.id in fields
            ]
            self._asked[key] = Wanted(fields, (tuple(fields_key), *self.names_at(position).items()))
        return self._asked[key]

    def _mapped(self, schema: Schema, version: int) -> dict[str, str]:
        """Return the names of columns in a version, by their present names.

        Columns are matched by name where field IDs cannot tell, because versions are lost or all
        IDs were assigned anew. A column was not there if none of the fields that hold its values
        now was there, unless it held the values itself: a vector that was cast to a list has
        another inner field.
        """
        history, position = self.now.view.found(self.now.version)
        inside = column_fields(history.records[position].schema)
        ids = {name: inside[name][0].id for name in self.columns}
        own = {f.id: f.name for f in schema if f.parent_id == NO_PARENT}
        later = self._later_ids(version)
        known = {later[id_]: name for id_, name in own.items() if id_ in later}
        plain = {later[id_] for id_ in own.keys() & {*_leaves(schema)} if id_ in later}
        same = {*later.values()}
        former = {
            name: known[ids[name]]
            for name in self.columns
            if ids[name] in known
            and (ids[name] in plain or not same.isdisjoint(_leaves(inside[name])))
        }
        if all(id_ in known for id_ in ids.values()):
            return former
        earlier = self._fields.earlier_columns(version)
        there = {name: own.get(earlier.get(ids[name], NO_PARENT)) for name in self.columns}
        guessed = {
            name: was
            for name, was in there.items()
            if was is not None and ids[name] not in known and was not in former.values()
        }
        return former | guessed

    def _names_inside(self, position: int) -> tuple[InnerNames, InnerNames]:
        """Return the nested fields that have another name now, or no longer exist.

        The second part: nested fields of the present columns that did not exist then.
        """
        record, key = self.rows.history.records[position], self._key(position)
        if key not in self._inside:
            history, now = self.now.view.found(self.now.version)
            schema = history.records[now].schema
            names = {f.id: f.name for f in schema}
            later = self._later_ids(record.version)
            kept = {id_: names[is_] for id_, is_ in later.items() if is_ in names}
            gone = {f.id for f in record.schema if f.id not in kept}
            new = names.keys() - {*later.values()}
            self._inside[key] = inner_names(record.schema, kept, gone), inner_names(schema, {}, new)
        return self._inside[key]

    @cached_property
    def _fields(self) -> FieldsBefore:
        return FieldsBefore(self.rows, self.now)

    def _later_ids(self, version: int) -> Mapping[int, int]:
        """Return the IDs that fields of a version have now."""
        return self._fields.later_ids(version)

    def _read(
        self, position: int, addresses: Uint64Array, row_ids: Uint64Array
    ) -> pl.DataFrame | None:
        """Return values of rows of one version under the present names; None if they are lost."""
        view: HistoryView = self.rows.view
        record = self.rows.history.records[position]
        names = self.names_at(position)
        if not names:
            return pl.DataFrame({"": np.zeros(len(addresses), dtype=np.int8)}).select([])
        try:
            values = values_at(
                self.rows,
                position,
                addresses,
                row_ids,
                [*names.values()],
                whole_blobs=self.whole_blobs,
            )
        except LanceExplorerError:
            view.values_missing(record.version)
            return None
        values = renamed(values, self._names_inside(position)[0])
        return values.rename(dict(zip(names.values(), names, strict=True)))


def _leaves(fields: Sequence[Field]) -> list[int]:
    """Return the IDs of the fields that contain no other field."""
    parents = {field.parent_id for field in fields}
    return [field.id for field in fields if field.id not in parents]
