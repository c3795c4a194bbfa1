"""Fragments as columns, and records of them on request (docs/FORMAT.md 2.5 to 2.8).

Text and sequences are not copied from the manifest: a column holds where they begin and end.
"""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.data_file_columns import DataFileColumns
from lance_explorer.format.fragment_encoding import encode_fragment
from lance_explorer.format.fragments import (
    DeletionFile,
    ExternalFile,
    Fragment,
    StoredSequence,
    decode_inline_sequences,
    inline_sequence,
)
from lance_explorer.rowids.arrays import Positions, Uint64Array

__all__ = [
    "DeletionColumns",
    "FragmentColumns",
    "SequenceColumns",
    "SequenceStorage",
    "sequence_storage",
]


class SequenceStorage(IntEnum):
    """Where a fragment keeps a sequence."""

    ABSENT = 0
    INLINE = 1
    EXTERNAL = 2
    SPILLED = 3


def sequence_storage(stored: StoredSequence | None) -> SequenceStorage:
    """Return where a fragment keeps a sequence."""
    return SequenceStorage[stored.storage.upper()] if stored else SequenceStorage.ABSENT


@dataclass(frozen=True, slots=True, eq=False)
class SequenceColumns:
    """Where fragments keep their sequences of one kind.

    Attributes
    ----------
    storage : ndarray of uint8
        A SequenceStorage for each fragment.
    begin, end : ndarray of int64
        Where an inline sequence stands in the bytes that were decoded; 0 for others.
    external : dict of int to ExternalFile
        The spans of files that external ones are, by the number of the fragment.
    """

    storage: NDArray[np.uint8]
    begin: Positions
    end: Positions
    external: dict[int, ExternalFile]

    @classmethod
    def absent(cls, count: int) -> "SequenceColumns":
        """Return the columns of fragments without such a sequence."""
        begin, end = np.zeros((2, count), dtype=np.int64)
        return cls(np.zeros(count, dtype=np.uint8), begin, end, {})

    def record(self, fragment: int, data: bytes) -> StoredSequence | None:
        """Return the sequence of one fragment as a record."""
        match int(self.storage[fragment]):
            case SequenceStorage.ABSENT:
                return None
            case SequenceStorage.INLINE:
                return inline_sequence(data[self.begin[fragment] : self.end[fragment]])
            case SequenceStorage.EXTERNAL:
                return StoredSequence("external", file=self.external[fragment])
            case _:
                return StoredSequence("spilled")


@dataclass(frozen=True, slots=True, eq=False)
class DeletionColumns:
    """The deletion files of fragments; columns are 0 where there is none, ``present``.

    Attributes
    ----------
    present : ndarray of bool
        Whether the fragment has one.
    file_type : ndarray of int32
        A DeletionFileType.
    read_version, id : ndarray of uint64
        What names the file beside the fragment ID.
    num_deleted_rows : ndarray of uint64
        How many rows it has; 0 where the writer did not store it.
    base_id : ndarray of int64
        The base path under which the file lies, -1 for the root of the table.
    """

    present: NDArray[np.bool_]
    file_type: NDArray[np.int32]
    read_version: Uint64Array
    id: Uint64Array
    num_deleted_rows: Uint64Array
    base_id: Positions

    @classmethod
    def absent(cls, count: int) -> "DeletionColumns":
        """Return the columns of fragments without deletion files."""
        read_version, ids, num_deleted_rows = np.zeros((3, count), dtype=np.uint64)
        return cls(
            np.zeros(count, dtype=np.bool_),
            np.zeros(count, dtype=np.int32),
            read_version,
            ids,
            num_deleted_rows,
            np.zeros(count, dtype=np.int64),
        )

    def record(self, fragment: int) -> DeletionFile | None:
        """Return that of one fragment as a record."""
        if not self.present[fragment]:
            return None
        base_id = int(self.base_id[fragment])
        return DeletionFile(
            file_type=int(self.file_type[fragment]),
            read_version=int(self.read_version[fragment]),
            id=int(self.id[fragment]),
            num_deleted_rows=int(self.num_deleted_rows[fragment]) or None,
            base_id=None if base_id < 0 else base_id,
        )


@dataclass(frozen=True, slots=True, eq=False)
class FragmentColumns:
    """Fragments as columns, in the order in which they were given.

    Attributes
    ----------
    data : bytes
        What the places in all columns refer to.
    begin, end : ndarray of int64
        Where the message of each fragment stands.
    id : ndarray of uint64
        The fragment IDs.
    physical_rows : ndarray of uint64
        Rows, deleted ones included; 0 where the writer did not store it.
    files : DataFileColumns
        The data files.
    deletion_files : DeletionColumns
        The deletion files.
    row_ids, last_updated_at, created_at : SequenceColumns
        Where the sequences are.
    unusual : dict of int to Fragment
        The records of the fragments that were parsed one by one, by their number. Overlays, the
        clustering ID and metadata are only here; any fragment with them is unusual.
    """

    data: bytes
    begin: Positions
    end: Positions
    id: Uint64Array
    physical_rows: Uint64Array
    files: DataFileColumns
    deletion_files: DeletionColumns
    row_ids: SequenceColumns
    last_updated_at: SequenceColumns
    created_at: SequenceColumns
    unusual: dict[int, Fragment]

    def __len__(self) -> int:
        return len(self.id)

    def record(self, fragment: int) -> Fragment:
        """Return one fragment as a record, as if it had been decoded alone.

        Parameters
        ----------
        fragment : int
            Its number, from 0.

        Examples
        --------
        >>> from lance_explorer.format.fragment_walk import columns_of_messages
        >>> columns = columns_of_messages([bytes.fromhex("080712060a04612e706c200a")])
        >>> columns.id.tolist(), columns.physical_rows.tolist()
        ([7], [10])
        >>> [file.path for file in columns.record(0).files]
        ['a.pl']
        """
        self._check(fragment)
        if fragment in self.unusual:
            return self.unusual[fragment]
        first, stop = self.files.offsets[fragment : fragment + 2].tolist()
        return Fragment(
            id=int(self.id[fragment]),
            files=tuple([self.files.record(file, self.data) for file in range(first, stop)]),
            deletion_file=self.deletion_files.record(fragment),
            physical_rows=int(self.physical_rows[fragment]) or None,
            row_ids=self.row_ids.record(fragment, self.data),
            last_updated_at=self.last_updated_at.record(fragment, self.data),
            created_at=self.created_at.record(fragment, self.data),
            overlays=(),
            clustering_id=None,
            metadata=(),
        )

    def have_same_files(self, ones: Positions, others: Positions) -> NDArray[np.bool_]:
        """Tell of pairs of fragments whether both have the same files; False of unusual ones.

        Parameters
        ----------
        ones, others : ndarray of int64
            Their numbers.
        """
        unusual = np.array([*self.unusual], dtype=np.int64)
        is_usual = ~np.isin(ones, unusual) & ~np.isin(others, unusual)
        return is_usual & self.files.are_same(ones, others, self.data)

    def key(self, fragment: int) -> bytes:
        """Return bytes that are the same for two fragments if and only if they are equal.

        Fragments are equal if their records are. The key is the message itself, unless it is
        spelled unusually: then it is the message in the spelling of writers.

        Parameters
        ----------
        fragment : int
            Its number, from 0.

        Examples
        --------
        >>> from lance_explorer.format.fragment_walk import columns_of_messages
        >>> columns = columns_of_messages([bytes.fromhex("0807200a"), bytes.fromhex("200a0807")])
        >>> columns.key(0) == columns.key(1)
        True
        """
        self._check(fragment)
        message = self.data[self.begin[fragment] : self.end[fragment]]
        record = self.unusual.get(fragment)
        if record is None:
            return message
        return encode_fragment(record, decode_inline_sequences(message))

    def _check(self, fragment: int) -> None:
        if not 0 <= fragment < len(self):
            raise InvalidArgumentError(f"no fragment {fragment} among {len(self)}")
