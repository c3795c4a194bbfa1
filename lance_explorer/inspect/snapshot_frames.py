"""The metadata frames of one version: ``snapshot.inspect``."""

from collections.abc import Callable

import polars as pl

from lance_explorer.frames.documented import documented
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.base_paths import BASE_PATHS, base_paths
from lance_explorer.inspect.config import CONFIG, config
from lance_explorer.inspect.data_files import DATA_FILES, data_files
from lance_explorer.inspect.deletions import DELETIONS, deletions
from lance_explorer.inspect.fields import FIELDS, fields
from lance_explorer.inspect.fragment_reuse import FRAGMENT_REUSE, fragment_reuse_entries
from lance_explorer.inspect.fragments import FRAGMENTS, fragments
from lance_explorer.inspect.health import HEALTH, health
from lance_explorer.inspect.index_coverage import INDEX_COVERAGE, index_coverage
from lance_explorer.inspect.index_settings import INDEX_SETTINGS, index_settings
from lance_explorer.inspect.index_summary import INDEX_SUMMARY, index_summary
from lance_explorer.inspect.indices import INDICES, indices
from lance_explorer.inspect.row_id_encodings import ROW_ID_ENCODINGS, row_id_encodings
from lance_explorer.inspect.row_id_segments import ROW_ID_SEGMENTS, row_id_segments
from lance_explorer.inspect.version_runs import VERSION_RUNS, version_runs
from lance_explorer.shown import described

__all__ = ["SnapshotInspect"]

_Build = Callable[[HistoryView, int], pl.DataFrame]


class SnapshotInspect:
    """The metadata of one version, as frames: those of ``table.inspect`` for this version.

    Unknown values are null, never 0; an empty frame has all its columns.
    """

    def __init__(self, name: str, answer: Callable[[_Build], pl.DataFrame]) -> None:
        self._name = name
        self._answer = answer

    @described
    def __repr__(self) -> str:
        frames = [name for name in vars(type(self)) if not name.startswith("_")]
        return f"SnapshotInspect({self._name}): {', '.join(frames)}"

    @documented(FRAGMENTS)
    def fragments(self) -> pl.DataFrame:
        """Return the fragments, one row each, in the order of a scan.

        Examples
        --------
        >>> table.at(1).inspect.fragments().select("fragment_id", "num_rows").rows()
        [(0, 4)]
        """
        return self._answer(fragments)

    @documented(DATA_FILES)
    def data_files(self) -> pl.DataFrame:
        """Return the data files, one row each, by fragment in the order of a scan.

        Examples
        --------
        >>> table.at(1).inspect.data_files().select("fragment_id", "fields").rows()
        [(0, ['id', 'city', 'mood'])]
        """
        return self._answer(data_files)

    @documented(FIELDS)
    def fields(self) -> pl.DataFrame:
        """Return the schema, one row for each field, depth first.

        Examples
        --------
        >>> table.at(1).inspect.fields()["path"].to_list()
        ['id', 'city', 'mood']
        """
        return self._answer(fields)

    @documented(INDICES)
    def indices(self) -> pl.DataFrame:
        """Return the indices, one row for each segment.

        Examples
        --------
        >>> table.at(1).inspect.indices().is_empty()
        True
        """
        return self._answer(indices)

    @documented(INDEX_SETTINGS)
    def index_settings(self) -> pl.DataFrame:
        """Return how the indices were built, one row for each setting.

        Examples
        --------
        >>> table.at(1).inspect.index_settings().is_empty()
        True
        """
        return self._answer(index_settings)

    @documented(INDEX_SUMMARY)
    def index_summary(self) -> pl.DataFrame:
        """Return how much of the version its indices cover, one row for each index.

        Examples
        --------
        >>> table.at(5).inspect.index_summary()["num_segments"].to_list()
        [1]
        """
        return self._answer(index_summary)

    @documented(INDEX_COVERAGE)
    def index_coverage(self) -> pl.DataFrame:
        """Return what the indices cover, one row for each fragment and segment.

        Examples
        --------
        >>> table.at(1).inspect.index_coverage().is_empty()
        True
        """
        return self._answer(index_coverage)

    @documented(FRAGMENT_REUSE)
    def fragment_reuse(self) -> pl.DataFrame:
        """Return the fragment reuse index, one row for each deferred compaction.

        Examples
        --------
        >>> table.at(1).inspect.fragment_reuse().is_empty()
        True
        """
        return self._answer(fragment_reuse_entries)

    @documented(CONFIG)
    def config(self) -> pl.DataFrame:
        """Return the config and all metadata, one row for each key.

        Examples
        --------
        >>> table.at(1).inspect.config()["key"].is_in(["owner"]).any()
        False
        """
        return self._answer(config)

    @documented(BASE_PATHS)
    def base_paths(self) -> pl.DataFrame:
        """Return the base paths: the roots beside its own that the version uses, one row each.

        Examples
        --------
        >>> table.at(1).inspect.base_paths().is_empty()
        True
        """
        return self._answer(base_paths)

    @documented(ROW_ID_SEGMENTS)
    def row_id_segments(self) -> pl.DataFrame:
        """Return the row-ID sequences, one row for each segment.

        Examples
        --------
        >>> table.at(1).inspect.row_id_segments().select("fragment_id", "encoding").rows()
        [(0, 'range')]
        """
        return self._answer(row_id_segments)

    @documented(ROW_ID_ENCODINGS)
    def row_id_encodings(self) -> pl.DataFrame:
        """Return how well row IDs are encoded, one row for each fragment that stores any.

        Examples
        --------
        >>> table.at(1).inspect.row_id_encodings()["fragment_id"].to_list()
        [0]
        """
        return self._answer(row_id_encodings)

    @documented(VERSION_RUNS)
    def version_runs(self) -> pl.DataFrame:
        """Return since when rows exist, one row for each run of the row-version sequences.

        Examples
        --------
        >>> table.at(1).inspect.version_runs()["version"].unique().to_list()
        [1]
        """
        return self._answer(version_runs)

    @documented(DELETIONS)
    def deletions(self) -> pl.DataFrame:
        """Return the deletion files, one row each, by fragment in the order of a scan.

        Examples
        --------
        >>> table.at(4).inspect.deletions()["num_deleted_rows"].to_list()
        [2]
        """
        return self._answer(deletions)

    @documented(HEALTH)
    def health(self) -> pl.DataFrame:
        """Return what the owner of the table should do, one row each, warnings first.

        ``help(table.inspect.health)`` lists the checks. Those of the whole history are made for the
        latest version only.

        Examples
        --------
        >>> table.at(1).inspect.health().is_empty()
        True
        """
        return self._answer(health)
