"""The values of rows of one version: all of them, or those that are not lost."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.changes.lost_values import LostValues
from lance_explorer.changes.shared_reads import Take
from lance_explorer.errors import StorageError, UnsupportedFeatureError
from lance_explorer.format.fragments import DataFile, Fragment
from lance_explorer.format.schema import column_fields
from lance_explorer.history.file_roots import data_file
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.value_files import (
    check_values,
    has_no_values,
    value_root,
    why_values_are_lost,
)
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.values import read_rows_at, refused_blobs

__all__ = ["all_values", "known_values"]

_Cells = NDArray[np.bool_]
"""For each row and column, whether its value is lost."""

_FRAGMENT_BITS = np.uint64(32)


def all_values(
    rows: StateRows,
    position: int,
    addresses: Uint64Array,
    ids: Uint64Array,
    names: Sequence[str],
    take: Take | None = None,
) -> pl.DataFrame:
    """Return values of rows of a version.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    position : int
        The position of the version in ``rows.history``.
    addresses, ids : ndarray of uint64
        The addresses of the rows there, and their identities.
    names : sequence of str
        The columns, as they are called there.
    take : callable, optional
        Returns rows that were read already, or None.
    """
    version = rows.history.records[position].version
    check_blob = check_values(rows.view, version)
    return _Reader(rows, position, check_blob, take).read(addresses, ids, names)


def known_values(
    rows: StateRows,
    position: int,
    addresses: Uint64Array,
    ids: Uint64Array,
    names: Sequence[str],
    lost: LostValues,
    take: Take | None = None,
) -> pl.DataFrame:
    """Return the same as :func:`all_values`, null where values are lost, which is noted.

    A column of nulls alone has the type Null. What is lost does not depend on which rows are asked
    for together.
    """
    version = rows.history.records[position].version
    why = why_values_are_lost(rows.view, version) if has_no_values(rows.view) else None
    if why is not None:
        lost.recorded_only(rows, position, why)
        return _nulls(names, len(addresses))
    try:
        check_blob = check_values(rows.view, version, some_rows=True)
    except UnsupportedFeatureError as error:
        lost.refused(rows, position, error)
        return _nulls(names, len(addresses))
    return _Reader(rows, position, check_blob, take).read_known(addresses, ids, names, lost)


class _Reader:
    """Reads rows of one version, whose files may be read."""

    def __init__(
        self,
        rows: StateRows,
        position: int,
        check_blob: Callable[[int, str], None],
        take: Take | None,
    ) -> None:
        self._take = take
        self._rows = rows
        self._position = position
        self._check_blob = check_blob
        self._record = rows.history.records[position]
        self._storage = rows.view.storage
        self._root = value_root(rows.view, self._record.version)

    def read(self, addresses: Uint64Array, ids: Uint64Array, names: Sequence[str]) -> pl.DataFrame:
        """Return values; all are there."""
        if self._take and (found := self._take(self._position, addresses, names)) is not None:
            return found
        return read_rows_at(
            self._root,
            self._record.version,
            addresses,
            self._rows.lance_ids_at(self._position, ids, addresses),
            [*names],
            self._storage.options,
            self._check_blob,
        )

    def read_known(
        self, addresses: Uint64Array, ids: Uint64Array, names: Sequence[str], lost: LostValues
    ) -> pl.DataFrame:
        """Return values; whatever fails for another reason than that they are lost is raised."""
        try:
            return self.read(addresses, ids, names)
        except StorageError as error:
            failure: Exception = error
            cells = self._gone(addresses, names, lost)
        except UnsupportedFeatureError as error:
            failure = error
            cells = self._refused(addresses, names, lost)
        if not cells.any():
            raise failure
        kinds, kind = np.unique(cells, axis=0, return_inverse=True)
        order, parts = [], []
        for number, is_lost in enumerate(kinds):
            some = np.flatnonzero(kind.ravel() == number)
            there = [name for name, gone in zip(names, is_lost.tolist(), strict=True) if not gone]
            part = _nulls(names, len(some))
            if there:
                found = self.read_known(addresses[some], ids[some], there, lost)
                part = part.with_columns(found.get_columns())
            order.append(some)
            parts.append(part)
        return pl.concat(parts, how="vertical_relaxed")[np.argsort(np.concatenate(order))]

    def _gone(self, addresses: Uint64Array, names: Sequence[str], lost: LostValues) -> _Cells:
        """Return which values are in no file, or in one that cannot be read."""
        shape = len(addresses), len(names)
        if self._storage.find(self._record.file.path) is None:
            lost.version_gone(self._rows, self._position)
            return np.ones(shape, dtype=np.bool_)
        if lost.has_unknown_format(self._rows, self._position):
            return np.ones(shape, dtype=np.bool_)
        why = why_values_are_lost(self._rows.view, self._record.version)
        if why is not None:
            lost.recorded_only(self._rows, self._position, why)
        cells = np.zeros(shape, dtype=np.bool_)
        fields = column_fields(self._record.schema)
        columns = [{field.id for field in fields[name]} for name in names]
        owners = addresses >> _FRAGMENT_BITS
        wanted = set(np.unique(owners).tolist())
        history = self._rows.history
        for state in history.intervals.at(self._position).tolist():
            fragment = history.states[state]
            if fragment.id in wanted:
                told = lost if why is None else None
                held = self._fields_lost(fragment, set[int]().union(*columns), told)
                is_lost = [not held.isdisjoint(column) for column in columns]
                cells[owners == fragment.id] |= np.array(is_lost)
        return cells if why is None or cells.any() else np.ones(shape, dtype=np.bool_)

    def _fields_lost(
        self, fragment: Fragment, wanted: set[int], lost: LostValues | None
    ) -> set[int]:
        found = set[int]()
        bases = self._record.manifest.base_paths
        for file in _files(fragment):
            if wanted.isdisjoint(file.fields):
                continue
            root, path = data_file(file, bases, self._storage)
            if root.find(path) is None:
                if lost is not None:
                    lost.file_gone(self._rows, self._position, fragment.id, root.uri, path)
                found.update(file.fields)
        return found

    def _refused(self, addresses: Uint64Array, names: Sequence[str], lost: LostValues) -> _Cells:
        """Return which blobs may not be read."""
        refused = refused_blobs(
            self._root,
            self._record.version,
            addresses,
            names,
            self._check_blob,
            self._storage.options,
        )
        for name, rows in refused.items():
            if rows.any():
                lost.blobs_refused(self._rows, self._position, name)
        none = np.zeros(len(addresses), dtype=np.bool_)
        return np.column_stack([refused.get(name, none) for name in names])


def _files(fragment: Fragment) -> Iterator[DataFile]:
    yield from fragment.files
    for overlay in fragment.overlays:
        yield overlay.data_file


def _nulls(names: Sequence[str], num_rows: int) -> pl.DataFrame:
    return pl.DataFrame({name: pl.repeat(None, num_rows, eager=True) for name in names})
