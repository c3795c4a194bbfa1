"""The values of rows of one version, with the reasons for lost ones."""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.changes.lost_values import LostValues, unknown_format
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
from lance_explorer.history.values.later_values import later_values, stored_values
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.values import refused_blobs

__all__ = ["known_values"]

_Cells = NDArray[np.bool_]
"""For each row and column, whether its value is lost."""

_FRAGMENT_BITS = np.uint64(32)


def known_values(
    rows: StateRows,
    position: int,
    addresses: Uint64Array,
    ids: Uint64Array,
    names: Sequence[str],
    lost: LostValues,
) -> pl.DataFrame:
    """Return the same as :func:`.values_at`, with null for lost values, which are recorded.

    A column that is all null has the type Null. Whether a value is lost does not depend on the
    other rows of the request.
    """
    reader = _Reader(rows, position, lost)
    if has_no_values(rows.view):
        return reader.later(addresses, names)
    try:
        check_values(rows.view, rows.history.records[position].version, some_rows=True)
    except UnsupportedFeatureError as error:
        lost.refused(rows, position, error)
        return _nulls(names, len(addresses))
    return reader.read(addresses, ids, names)


class _Reader:
    """Reads rows of one version some of whose values may be lost."""

    def __init__(self, rows: StateRows, position: int, lost: LostValues) -> None:
        self._rows = rows
        self._position = position
        self._lost = lost
        self._record = rows.history.records[position]
        self._storage = rows.view.storage

    def read(self, addresses: Uint64Array, ids: Uint64Array, names: Sequence[str]) -> pl.DataFrame:
        """Return values; failures other than losses are raised."""
        try:
            return stored_values(self._rows, self._position, addresses, ids, names)
        except StorageError as error:
            failure: Exception = error
            cells = self._gone(addresses, names)
        except UnsupportedFeatureError as error:
            failure = error
            cells = self._refused(addresses, names)
        if not cells.any():
            raise failure
        kinds, kind = np.unique(cells, axis=0, return_inverse=True)
        order, parts = [], []
        for number, is_lost in enumerate(kinds):
            some = np.flatnonzero(kind.ravel() == number)
            there = [name for name, gone in zip(names, is_lost.tolist(), strict=True) if not gone]
            gone = [name for name in names if name not in there]
            part = _nulls(names, len(some))
            if gone and isinstance(failure, StorageError):
                part = part.with_columns(self.later(addresses[some], gone).get_columns())
            if there:
                part = part.with_columns(self.read(addresses[some], ids[some], there).get_columns())
            order.append(some)
            parts.append(part)
        return pl.concat(parts, how="vertical_relaxed")[np.argsort(np.concatenate(order))]

    def later(self, addresses: Uint64Array, names: Sequence[str]) -> pl.DataFrame:
        """Return values that are in no file, from later versions or a ledger."""
        if self._is_gone:  # opening the table again shows what is left
            self._lost.version_gone(self._rows, self._position)
            return _nulls(names, len(addresses))
        values, known = later_values(self._rows, self._position, addresses, names)
        if not known.all():
            self._note(addresses, names, ~known)
        return values

    def _gone(self, addresses: Uint64Array, names: Sequence[str]) -> _Cells:
        """Return which values are in no file, or in an unreadable one."""
        shape = len(addresses), len(names)
        if self._is_gone or unknown_format(self._rows, self._position) is not None:
            return np.ones(shape, dtype=np.bool_)
        cells = np.zeros(shape, dtype=np.bool_)
        for chosen, held, _ in self._files_gone(addresses, names):
            cells[chosen] |= held
        is_recorded = self._record.file.is_recorded and self._rows.view.recorded is not None
        return cells if cells.any() or not is_recorded else np.ones(shape, dtype=np.bool_)

    def _note(self, addresses: Uint64Array, names: Sequence[str], cells: _Cells) -> None:
        """Note why values are lost."""
        if self._lost.has_unknown_format(self._rows, self._position):
            return
        why = why_values_are_lost(self._rows.view, self._record.version)
        if why is not None:
            self._lost.recorded_only(self._rows, self._position, why)
            return
        for chosen, held, (fragment, root, path) in self._files_gone(addresses, names):
            if (cells[chosen] & held).any():
                self._lost.file_gone(self._rows, self._position, fragment, root, path)

    @property
    def _is_gone(self) -> bool:
        """Whether the version was removed while it was read."""
        return self._storage.find(self._record.file.path) is None

    def _files_gone(
        self, addresses: Uint64Array, names: Sequence[str]
    ) -> Iterator[tuple[_Cells, _Cells, tuple[int, str, str]]]:
        """Yield missing files: their rows and columns, and what they contain."""
        fields = column_fields(self._record.schema)
        columns = [{field.id for field in fields[name]} for name in names]
        owners = addresses >> _FRAGMENT_BITS
        wanted = set(np.unique(owners).tolist())
        bases, history = self._record.manifest.base_paths, self._rows.history
        for state in history.intervals.at(self._position).tolist():
            fragment = history.states[state]
            if fragment.id not in wanted:
                continue
            for file in _files(fragment):
                held = np.array([not column.isdisjoint(file.fields) for column in columns])
                if held.any():
                    root, path = data_file(file, bases, self._storage)
                    if root.find(path) is None:
                        yield owners == fragment.id, held, (fragment.id, root.uri, path)

    def _refused(self, addresses: Uint64Array, names: Sequence[str]) -> _Cells:
        """Return which blobs may not be read."""
        view, version = self._rows.view, self._record.version
        refused = refused_blobs(
            value_root(view, version),
            version,
            addresses,
            names,
            check_values(view, version, some_rows=True),
            self._storage.options,
        )
        for name, rows in refused.items():
            if rows.any():
                self._lost.blobs_refused(self._rows, self._position, name)
        none = np.zeros(len(addresses), dtype=np.bool_)
        return np.column_stack([refused.get(name, none) for name in names])


def _files(fragment: Fragment) -> Iterator[DataFile]:
    yield from fragment.files
    for overlay in fragment.overlays:
        yield overlay.data_file


def _nulls(names: Sequence[str], num_rows: int) -> pl.DataFrame:
    return pl.DataFrame({name: pl.repeat(None, num_rows, eager=True) for name in names})
