"""Fragments without data: what a manifest says about them, and what is in their sequences."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from propcache.api import cached_property
from pyroaring import BitMap

from lance_explorer.format._pb import table_pb2 as pb
from tests.synthetic.sequences import Numbers, row_id_sequence, version_sequence
from tests.synthetic.wire import record

__all__ = ["RowSequences", "SyntheticFragment", "row_sequences", "without_id"]

_FRAGMENTS = 2

_NO_ROWS = np.empty(0, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class RowSequences:
    """Row IDs of a fragment, in the pieces that become segments, and the versions of its rows."""

    row_ids: Sequence[Numbers]
    created_at: Numbers
    last_updated_at: Numbers

    def take(self, offsets: Iterable[int]) -> "RowSequences":
        """Return the sequences of some rows, their IDs in one piece."""
        rows = np.array(offsets, dtype=np.int64)
        ids = np.concatenate(self.row_ids)[rows]
        return RowSequences([ids], self.created_at[rows], self.last_updated_at[rows])

    def write_to(self, message: pb.DataFragment) -> None:
        """Set the sequences of a fragment."""
        message.inline_row_ids = row_id_sequence(self.row_ids)
        message.inline_created_at = version_sequence(self.created_at)
        message.inline_last_updated_at = version_sequence(self.last_updated_at)


def row_sequences(parts: Sequence[RowSequences]) -> RowSequences:
    """Return the sequences of the rows of all parts, one after the other."""
    return RowSequences(
        [piece for part in parts for piece in part.row_ids],
        np.concatenate([_NO_ROWS, *[part.created_at for part in parts]]),
        np.concatenate([_NO_ROWS, *[part.last_updated_at for part in parts]]),
    )


@dataclass(frozen=True)
class SyntheticFragment:
    """One state of a fragment. The message is never changed once it is in here."""

    message: pb.DataFragment
    sequences: RowSequences | None = None
    deleted: BitMap = field(default_factory=BitMap)

    @property
    def id(self) -> int:
        return self.message.id

    @property
    def num_rows(self) -> int:
        """Live rows."""
        return self.message.physical_rows - len(self.deleted)

    @property
    def live_offsets(self) -> BitMap:
        return BitMap(range(self.message.physical_rows)) - self.deleted

    @cached_property
    def data(self) -> bytes:
        return self.message.SerializeToString()

    @cached_property
    def record(self) -> bytes:
        """The fragment as it stands in a manifest."""
        return record(_FRAGMENTS, self.data)

    def with_deletions(self, file: pb.DeletionFile, deleted: BitMap) -> "SyntheticFragment":
        """Return the fragment with another deletion file."""
        message = self._copy()
        message.deletion_file.CopyFrom(file)
        return SyntheticFragment(message, self.sequences, deleted)

    def with_file(self, file: pb.DataFile, version: int) -> "SyntheticFragment":
        """Return the fragment with one more data file, which updates every row."""
        message = self._copy()
        message.files.append(file)
        sequences = self.sequences
        if sequences is not None:
            versions = np.full(message.physical_rows, version, dtype=np.uint64)
            sequences = replace(sequences, last_updated_at=versions)
            sequences.write_to(message)
        return SyntheticFragment(message, sequences, self.deleted)

    def on_base(self, base_id: int) -> "SyntheticFragment":
        """Return the fragment with those of its files on a base that are on none."""
        message = self._copy()
        files: list[pb.DataFile | pb.DeletionFile] = [*message.files]
        if message.HasField("deletion_file"):
            files.append(message.deletion_file)
        for file in files:
            if not file.HasField("base_id"):
                file.base_id = base_id
        return SyntheticFragment(message, self.sequences, self.deleted)

    def _copy(self) -> pb.DataFragment:
        message = pb.DataFragment()
        message.CopyFrom(self.message)
        return message


def without_id(message: pb.DataFragment) -> pb.DataFragment:
    """Return a new fragment as its transaction holds it: IDs are given when it is committed."""
    bare = pb.DataFragment()
    bare.CopyFrom(message)
    bare.ClearField("id")
    return bare
