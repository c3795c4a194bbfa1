"""Tables that pylance compacts, versions taken away from them, and where pylance says rows are."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa

from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.history.rewrites.address_maps import AddressMap
from lance_explorer.history.rewrites.all_groups import RewriteGroup
from lance_explorer.history.view import HistoryView

__all__ = [
    "Compacted",
    "all_addresses",
    "assert_rows_follow",
    "copy_without",
    "deferred_rounds",
    "ids_of",
    "places",
]

Ids = tuple[tuple[int, ...], tuple[int, ...]]


class Compacted:
    """A table with a column ``key``, whose values tell its rows, and a column ``value``."""

    def __init__(
        self, path: Path, *, stable: bool = False, rows: int = 24, per_fragment: int = 6
    ) -> None:
        self.uri = str(path)
        self._next = rows
        lance.write_dataset(
            self._rows(range(rows)),
            self.uri,
            max_rows_per_file=per_fragment,
            enable_stable_row_ids=stable,
        )

    @property
    def dataset(self) -> Any:
        return lance.dataset(self.uri)

    @property
    def version(self) -> int:
        """The latest version."""
        return int(self.dataset.version)

    @property
    def view(self) -> HistoryView:
        return HistoryView.open(self.uri)

    def append(self, rows: int = 6) -> None:
        """Append a fragment."""
        first, self._next = self._next, self._next + rows
        lance.write_dataset(self._rows(range(first, self._next)), self.uri, mode="append")

    def compact(self, **options: Any) -> int:
        """Compact, and return the version of the rewrite."""
        self.dataset.optimize.compact_files(**{"target_rows_per_fragment": 1000, **options})
        return self.version

    def index(self, column: str = "key", kind: str = "BTREE") -> None:
        """Create an index."""
        self.dataset.create_scalar_index(column, kind, replace=True)

    @staticmethod
    def _rows(keys: Iterable[int]) -> pa.Table:
        keys = pa.array(keys, pa.int64())
        return pa.table({"key": keys, "value": keys})


def deferred_rounds(path: Path) -> Compacted:
    """Return a table of addresses with three deferred rounds; rows change between them."""
    table = Compacted(path, rows=36)
    table.index()
    table.dataset.delete("key IN (1, 8, 20)")
    table.compact(target_rows_per_fragment=12, defer_index_remap=True)
    table.dataset.update({"value": "value + 1"}, where="key IN (2, 30)")
    table.dataset.delete("key = 5")
    table.compact(defer_index_remap=True, materialize_deletions_threshold=0.0)
    table.append(6)
    table.index("value", "BITMAP")
    table.dataset.delete("key = 6")
    table.compact(defer_index_remap=True, materialize_deletions_threshold=0.0)
    return table


def places(uri: str, version: int, column: str = "key") -> dict[int, Any]:
    """Return the value of a column by row address, as pylance reads them."""
    dataset: Any = lance.dataset(uri, version=version)
    rows = dataset.to_table(columns=[column], with_row_address=True)
    return dict(zip(rows["_rowaddr"].to_pylist(), rows[column].to_pylist(), strict=True))


def assert_rows_follow(
    moves: AddressMap, before: dict[int, Any], after: dict[int, Any], *, lost: int = 0
) -> None:
    """Assert that rows are carried to where their keys are, and back.

    All rows after must be reached; ``lost`` rows of before may be gone.
    """
    addresses = np.array([*before], dtype=np.uint64)
    new, found = moves.carry(addresses)
    keys = [*before.values()]
    carried = {a: keys[i] for i, a in enumerate(new.tolist()) if found[i] and a in after}
    assert carried == {address: after[address] for address in carried}
    assert len(before) - len(carried) == lost
    there = np.array([*carried], dtype=np.uint64)
    back, was = moves.carry_back(there)
    assert was.all()
    assert [before[address] for address in back.tolist()] == [*carried.values()]


def all_addresses(digests: Iterable[FragDigest]) -> np.ndarray:
    """Return the addresses of all rows of fragments, deleted ones too."""
    pieces = [
        np.arange(digest.physical_rows or 0, dtype=np.uint64) + np.uint64(digest.id << 32)
        for digest in digests
    ]
    return np.concatenate([np.empty(0, dtype=np.uint64), *pieces])


def ids_of(groups: Iterable[RewriteGroup]) -> list[Ids]:
    """Return the fragments of groups."""
    return [(group.old_ids, group.new_ids) for group in groups]


def copy_without(table: Path | str, target: Path, *versions: int) -> HistoryView:
    """Return a copy of a table from which versions were taken away, as a cleanup does."""
    shutil.copytree(table, target)
    files = {file.version: file.path for file in HistoryView.open(str(target)).listing.versions}
    for version in versions:
        (target / files[version]).unlink()
    return HistoryView.open(str(target))
