"""Fragments and segments of indices that differ between two versions."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import polars as pl
from msgspec import structs
from numpy.typing import NDArray

from lance_explorer.errors import FormatError
from lance_explorer.format.fragments import BasePath, DataFile, Fragment
from lance_explorer.format.index_details import index_type
from lance_explorer.format.indices import IndexMetadata
from lance_explorer.format.schema import field_paths
from lance_explorer.frames.columns import BYTES, COUNT, ID, TEXT, Column, FrameSchema
from lance_explorer.frames.counts import nullable
from lance_explorer.history.file_roots import find_base
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.storage import Storage, place_of

__all__ = ["FRAGMENT_DIFF", "INDEX_DIFF", "FragmentParts", "fragment_diff", "index_diff"]

Parts = dict[str, Any]


def _both(name: str, dtype: pl.DataType, meaning: str, unit: str = "") -> tuple[Column, ...]:
    return tuple(
        [
            Column(f"{name}_{side}", dtype, f"{meaning} in the {which} version", True, unit)
            for side, which in (("before", "first"), ("after", "second"))
        ]
    )


FRAGMENT_DIFF = FrameSchema(
    "fragment_diff",
    (
        Column(
            "change",
            pl.Enum(["added", "removed", "changed", "replaced"]),
            "how it differs; replaced: same ID, but no data file in common",
        ),
        Column("fragment_id", ID, "fragment ID"),
        *_both("num_rows", COUNT, "live rows", "rows"),
        *_both("physical_rows", COUNT, "rows including deleted ones", "rows"),
        *_both("num_data_files", COUNT, "data files, including overlays"),
        *_both("data_bytes", BYTES, "size of the data files", "bytes"),
        Column("differs", pl.List(TEXT), "what differs, if both versions have the fragment"),
    ),
)
"""The columns of ``Diff.fragments()``."""

INDEX_DIFF = FrameSchema(
    "index_diff",
    (
        Column(
            "change",
            pl.Enum(["added", "removed", "changed"]),
            "how the segment differs; changed: it covers other fragments, or was moved",
        ),
        Column("name", TEXT, "name of the index"),
        Column("uuid", TEXT, "identity of the segment"),
        Column("index_type", TEXT, "type of the index"),
        Column(
            "fields",
            pl.List(TEXT),
            "paths of the indexed fields; a null element is not in the schema",
        ),
        *_both("num_fragments", COUNT, "covered fragments"),
        *_both("dataset_version", ID, "version that it was built from"),
    ),
)
"""The columns of ``Diff.indices()``."""


class FragmentParts:
    """The fragments of a version, each in parts that can be compared across branches.

    Parameters
    ----------
    history : History
        The history of that version alone.
    storage : Storage
        Its branch.
    """

    def __init__(self, history: History, storage: Storage) -> None:
        self._bases = history.records[0].manifest.base_paths
        self._storage = storage
        self._root = cache(self._uncached_root)
        self.uri = storage.uri
        self.history = history
        self.states = {state.id: n for n, state in enumerate(history.states)}

    def of(self, fragment_id: int) -> Parts:
        """Return the parts of a fragment by their names."""
        fragment = self.history.states[self.states[fragment_id]]
        deletions = fragment.deletion_file
        return {
            "data_files": tuple([self._file(file) for file in fragment.files]),
            "overlays": tuple(
                [
                    structs.replace(overlay, data_file=self._file(overlay.data_file))
                    for overlay in fragment.overlays
                ]
            ),
            "deletions": deletions
            and (self._root(deletions.base_id), structs.replace(deletions, base_id=None)),
            "row_ids": fragment.row_ids,
            "row_versions": (fragment.created_at, fragment.last_updated_at),
            "physical_rows": fragment.physical_rows,
            "metadata": (fragment.metadata, fragment.clustering_id),
        }

    def fragment(self, fragment_id: int) -> Fragment:
        """Return a fragment as its manifest stores it."""
        return self.history.states[self.states[fragment_id]]

    def _file(self, file: DataFile) -> DataFile:
        return structs.replace(file, path=f"{self._root(file.base_id)}/{file.path}", base_id=None)

    def _uncached_root(self, base_id: int | None) -> str:
        """Return the folder of a base path in a normal form."""
        if base_id is None:
            return f"{self._folder_of(self._storage.uri)}/data"
        base: BasePath = find_base(base_id, self._bases)
        root = self._folder_of(base.path)
        return f"{root}/data" if base.is_dataset_root else root

    def _folder_of(self, uri: str) -> str:
        place = place_of(uri, self._storage.options)
        return uri if place is None else "/".join([*place[:3], *place.path])


def fragment_diff(before: FragmentParts, after: FragmentParts) -> pl.DataFrame:
    """Return one row for each fragment that differs, by fragment ID."""
    is_one_branch = (
        before.history.records[0].manifest.base_paths
        == (after.history.records[0].manifest.base_paths)
        and before.uri == after.uri
    )
    differences = list[tuple[int, str, list[str]]]()
    for fragment_id in sorted(before.states.keys() | after.states.keys()):
        if fragment_id not in before.states:
            differences.append((fragment_id, "added", []))
        elif fragment_id not in after.states:
            differences.append((fragment_id, "removed", []))
        elif not is_one_branch or before.fragment(fragment_id) != after.fragment(fragment_id):
            old, new = before.of(fragment_id), after.of(fragment_id)
            differs = [name for name in old if old[name] != new[name]]
            if differs:
                differences.append((fragment_id, _change(old, new), differs))
    ids = [fragment_id for fragment_id, *_ in differences]
    return FRAGMENT_DIFF.build(
        {
            "change": [change for _, change, _ in differences],
            "fragment_id": ids,
            **_counts(ids, before, after),
            "differs": [differs for *_, differs in differences],
        }
    )


def _change(old: Parts, new: Parts) -> str:
    paths = [{file.path for file in parts["data_files"]} for parts in (old, new)]
    return "replaced" if paths[0].isdisjoint(paths[1]) and all(paths) else "changed"


def _counts(ids: Sequence[int], before: FragmentParts, after: FragmentParts) -> dict[str, Any]:
    measures: dict[str, Callable[[History], NDArray[np.int64]]] = {
        "num_rows": lambda history: history.live_rows,
        "physical_rows": lambda history: history.states.physical_rows,
        "num_data_files": lambda history: history.states.num_files,
        "data_bytes": lambda history: history.states.data_bytes,
    }
    columns = dict[str, Any]()
    for name, measure in measures.items():
        for side, parts in (("before", before), ("after", after)):
            counts = np.append(measure(parts.history), -1)  # the last one is unknown
            places = [parts.states.get(fragment_id, -1) for fragment_id in ids]
            columns[f"{name}_{side}"] = nullable(counts[np.array(places, dtype=np.int64)])
    return columns


def index_diff(before: VersionRecord, after: VersionRecord) -> pl.DataFrame:
    """Return one row for each segment that differs: those of the second version first."""
    old, new = ({s.uuid: s for s in one.indices} for one in (before, after))
    changed = [uuid for uuid in [*new, *old.keys() - new.keys()] if _differs(old, new, uuid)]
    pairs = [(old.get(uuid), new.get(uuid)) for uuid in changed]
    segments = [new.get(uuid) or old[uuid] for uuid in changed]
    names = [field_paths(one.schema) for one in (before, after)]
    return INDEX_DIFF.build(
        {
            "change": [
                "added" if one is None else "removed" if other is None else "changed"
                for one, other in pairs
            ],
            "name": [segment.name for segment in segments],
            "uuid": changed,
            "index_type": [index_type(segment) for segment in segments],
            "fields": [
                [names[uuid in new].get(field) for field in segment.fields]
                for uuid, segment in zip(changed, segments, strict=True)
            ],
            "num_fragments_before": [_num_fragments(one) for one, _ in pairs],
            "num_fragments_after": [_num_fragments(other) for _, other in pairs],
            "dataset_version_before": [one and one.dataset_version for one, _ in pairs],
            "dataset_version_after": [other and other.dataset_version for _, other in pairs],
        }
    )


def _differs(old: dict[str, IndexMetadata], new: dict[str, IndexMetadata], uuid: str) -> bool:
    """Whether a segment differs; on a branch it is below a base path, which is no difference."""
    if uuid not in old or uuid not in new:
        return True
    return replace(old[uuid], base_id=None) != replace(new[uuid], base_id=None)


def _num_fragments(segment: IndexMetadata | None) -> int | None:
    try:
        covered = None if segment is None else segment.fragment_ids()
    except FormatError:
        return None
    return None if covered is None else len(covered)
