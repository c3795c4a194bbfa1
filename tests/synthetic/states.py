"""What the next version of a synthetic table will hold."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from uuid import UUID

import numpy as np
from pyroaring import BitMap

from lance_explorer.format._pb import index_pb2, table_pb2
from tests.synthetic.deletions import BITMAP, deletion_file, usual_type
from tests.synthetic.folders import MetadataFolder
from tests.synthetic.fragments import RowSequences, SyntheticFragment, row_sequences, without_id
from tests.synthetic.sequences import consecutive_runs

__all__ = ["Rows", "TableState", "column"]

_DELETION_FILES, _STABLE_ROW_IDS, _TABLE_CONFIG, _BASE_PATHS = 1, 2, 8, 16  # feature flags

Rows = Mapping[int, Iterable[int]]
"""Rows by fragment ID and offset."""


def column(number: int, name: str, logical_type: str = "int64") -> table_pb2.Field:
    """Return a column at the top level of a schema."""
    return table_pb2.Field(
        name=name, id=number, parent_id=-1, logical_type=logical_type, nullable=True, encoding=1
    )


class TableState:
    """Fragments, indices and all else that a manifest holds.

    Names and numbers that writers draw at random come from one seed. Deletion files are written as
    soon as there is something in them.
    """

    def __init__(self, folder: MetadataFolder, stable_row_ids: bool) -> None:
        self.fragments: dict[int, SyntheticFragment] = {}
        self.indices: list[index_pb2.IndexMetadata] = []
        self.manifest = table_pb2.ManifestEnvelope(
            fields=[column(0, "id"), column(1, "score", "double")],
            writer_version=table_pb2.WriterVersion(library="lance", version="14.0.2"),
            data_format=table_pb2.DataStorageFormat(file_format="lance", version="2.2"),
        )
        self.stable_row_ids = stable_row_ids
        self._folder = folder
        self._random = Random(0)

    @property
    def next_fragment_id(self) -> int:
        highest = self.manifest.max_fragment_id
        return highest + 1 if self.manifest.HasField("max_fragment_id") else 0

    def add(self, rows: int, count: int) -> list[table_pb2.DataFragment]:
        """Add fragments of new rows; return them as a transaction holds them."""
        added = []
        for _ in range(count):
            sequences = self._new_rows(rows) if self.stable_row_ids else None
            message = without_id(self.put(self.next_fragment_id, rows, sequences).message)
            for name in ("inline_row_ids", "inline_created_at", "inline_last_updated_at"):
                message.ClearField(name)
            added.append(message)
        return added

    def put(self, number: int, rows: int, sequences: RowSequences | None) -> SyntheticFragment:
        """Add one fragment of rows that may have been in others."""
        file = self.data_file(rows, [field.id for field in self.manifest.fields])
        message = table_pb2.DataFragment(id=number, files=[file], physical_rows=rows)
        if sequences is not None:
            sequences.write_to(message)
        self.fragments[number] = SyntheticFragment(message, sequences)
        self.manifest.max_fragment_id = max(self.manifest.max_fragment_id, number)
        return self.fragments[number]

    def mask(
        self, rows: Rows, counted: bool = True
    ) -> tuple[list[table_pb2.DataFragment], list[int]]:
        """Delete rows; return the fragments that changed, and the IDs of those that are gone.

        Without ``counted`` the fragments do not say how many rows they lost, as once they did not.
        """
        updated, removed = [], []
        for key, offsets in rows.items():
            fragment = self.fragments[key]
            more = BitMap(offsets)
            assert more <= fragment.live_offsets, "only live rows can be deleted"
            if more == fragment.live_offsets:
                del self.fragments[key]
                removed.append(key)
                continue
            deleted = fragment.deleted | more
            file = self._write_deletions(key, deleted)
            if not counted:
                file.ClearField("num_deleted_rows")
            self.fragments[key] = fragment.with_deletions(file, deleted)
            updated.append(self.fragments[key].message)
        return updated, removed

    def moved_rows(self, rows: Rows, inserted: int) -> RowSequences | None:
        """Return the sequences of the fragment that an update writes: moved rows, then new ones."""
        if not self.stable_row_ids:
            return None
        parts = [self._sequences(key).take(offsets) for key, offsets in rows.items()]
        moved = row_sequences([*parts, self._new_rows(inserted)])
        versions = np.full_like(moved.created_at, self.manifest.version + 1)
        pieces = consecutive_runs(np.concatenate(moved.row_ids))
        return RowSequences(pieces, moved.created_at, versions)

    def rewrite(
        self, group: Sequence[int], new_ids: Sequence[int]
    ) -> tuple[list[table_pb2.DataFragment], list[table_pb2.DataFragment]]:
        """Copy the live rows of fragments into others; return the old ones and the new ones."""
        old = [self.fragments.pop(key) for key in group]
        rows = row_sequences([f.sequences.take(f.live_offsets) for f in old if f.sequences])
        count = sum([fragment.num_rows for fragment in old])
        assert count >= len(new_ids), "no fragment is empty"
        new = []
        for number, part in zip(
            new_ids, np.array_split(np.arange(count), len(new_ids)), strict=True
        ):
            sequences = None
            if self.stable_row_ids:
                sequences = rows if len(part) == count else rows.take(part)
            new.append(self.put(number, len(part), sequences).message)
        return [fragment.message for fragment in old], new

    def data_file(self, rows: int, columns: Sequence[int]) -> table_pb2.DataFile:
        """Return a file of columns that was never written."""
        bits, digits = self._random.getrandbits(24), self._random.getrandbits(104)
        return table_pb2.DataFile(
            path=f"{bits:024b}{digits:026x}.lance",
            fields=columns,
            column_indices=range(len(columns)),
            file_major_version=2,
            file_minor_version=2,
            file_size_bytes=300 + 8 * rows * len(columns),
        )

    def uuid(self) -> UUID:
        return UUID(int=self._random.getrandbits(128), version=4)

    def set_flags(self) -> None:
        """Bring the feature flags up to all else."""
        both = _STABLE_ROW_IDS if self.stable_row_ids else 0
        if any(fragment.deleted for fragment in self.fragments.values()):
            both |= _DELETION_FILES
        if self.manifest.base_paths:
            both |= _BASE_PATHS
        self.manifest.reader_feature_flags = both
        self.manifest.writer_feature_flags = both | (_TABLE_CONFIG if self.manifest.config else 0)

    def _sequences(self, fragment_id: int) -> RowSequences:
        sequences = self.fragments[fragment_id].sequences
        assert sequences is not None
        return sequences

    def _new_rows(self, count: int) -> RowSequences:
        first = self.manifest.next_row_id
        self.manifest.next_row_id += count
        versions = np.full(count, self.manifest.version + 1, dtype=np.uint64)
        return RowSequences([np.arange(first, first + count, dtype=np.uint64)], versions, versions)

    def _write_deletions(self, fragment_id: int, deleted: BitMap) -> table_pb2.DeletionFile:
        file = table_pb2.DeletionFile(
            file_type=usual_type(deleted),
            read_version=self.manifest.version,
            id=self._random.getrandbits(64),
            num_deleted_rows=len(deleted),
        )
        suffix = "bin" if file.file_type == BITMAP else "arrow"
        name = f"{fragment_id}-{file.read_version}-{file.id}.{suffix}"
        path = self._folder.root / "_deletions" / name
        self._folder.write_bytes(path, deletion_file(deleted, file.file_type))
        return file
