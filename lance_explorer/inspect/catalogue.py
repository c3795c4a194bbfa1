"""The catalogue of metadata frames: ``table.inspect``, and every frame by its name for SQL."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

import polars as pl

from lance_explorer.answers import Answer
from lance_explorer.disk.clones import opened_clones
from lance_explorer.disk.columns import COLUMNS, columns
from lance_explorer.disk.owners import STORAGE, storage
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.documented import documented, schema_of
from lance_explorer.frames.findings import FINDINGS
from lance_explorer.history.live import LiveTable
from lance_explorer.history.version_refs import VersionRef, resolve
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.all_index_coverage import ALL_INDEX_COVERAGE, all_index_coverage
from lance_explorer.inspect.base_paths import (
    ALL_BASE_PATHS,
    BASE_PATHS,
    all_base_paths,
    base_paths,
)
from lance_explorer.inspect.config import ALL_CONFIG, CONFIG, all_config, config
from lance_explorer.inspect.data_files import (
    ALL_DATA_FILES,
    DATA_FILES,
    all_data_files,
    data_files,
)
from lance_explorer.inspect.deletions import ALL_DELETIONS, DELETIONS, all_deletions, deletions
from lance_explorer.inspect.detached import DETACHED, detached
from lance_explorer.inspect.fields import ALL_FIELDS, FIELDS, all_fields, fields
from lance_explorer.inspect.findings import findings
from lance_explorer.inspect.fragment_reuse import (
    ALL_FRAGMENT_REUSE,
    FRAGMENT_REUSE,
    all_fragment_reuse,
    fragment_reuse_entries,
)
from lance_explorer.inspect.fragments import ALL_FRAGMENTS, FRAGMENTS, all_fragments, fragments
from lance_explorer.inspect.frame_answers import answer_of
from lance_explorer.inspect.gaps import GAPS, gaps
from lance_explorer.inspect.health import HEALTH, health
from lance_explorer.inspect.index_coverage import INDEX_COVERAGE, index_coverage
from lance_explorer.inspect.index_settings import INDEX_SETTINGS, index_settings
from lance_explorer.inspect.index_summary import INDEX_SUMMARY, index_summary
from lance_explorer.inspect.indices import ALL_INDICES, INDICES, all_indices, indices
from lance_explorer.inspect.manifests import MANIFESTS, manifests
from lance_explorer.inspect.mem_wal import MEM_WAL, mem_wal
from lance_explorer.inspect.rebases import REBASES, rebases
from lance_explorer.inspect.refs import REFS, refs
from lance_explorer.inspect.rewrite_groups import REWRITE_GROUPS, rewrite_groups
from lance_explorer.inspect.row_id_encodings import (
    ALL_ROW_ID_ENCODINGS,
    ROW_ID_ENCODINGS,
    all_row_id_encodings,
    row_id_encodings,
)
from lance_explorer.inspect.row_id_segments import (
    ALL_ROW_ID_SEGMENTS,
    ROW_ID_SEGMENTS,
    all_row_id_segments,
    row_id_segments,
)
from lance_explorer.inspect.row_id_totals import ROW_ID_TOTALS, row_id_totals
from lance_explorer.inspect.transactions import TRANSACTIONS, transactions
from lance_explorer.inspect.version_runs import (
    ALL_VERSION_RUNS,
    VERSION_RUNS,
    all_version_runs,
    version_runs,
)
from lance_explorer.inspect.versions import VERSIONS, versions
from lance_explorer.shown import described

__all__ = ["FRAMES", "Inspect", "frame", "frame_answer"]


_T = TypeVar("_T")

_of_version = partial(
    documented,
    parameters="""version : int, str, date, datetime, tuple or Snapshot, optional
    The version, as :meth:`Table.at` takes it; the latest by default.""",
)


class Inspect:
    """The metadata of a table, or of one branch of it, as frames.

    Frames of one version are of the latest one by default. Their ``all_`` forms cover all kept
    versions: one row for each state of a thing and each interval of versions that have it, and
    whether both ends of the interval are certain. Unknown values are null, never 0; an empty frame
    has all its columns.
    """

    def __init__(self, table: LiveTable) -> None:
        self._table = table

    @described
    def __repr__(self) -> str:
        frames = [name for name in vars(type(self)) if not name.startswith("_")]
        return f"Inspect({self._table.view.uri}): {', '.join(frames)}"

    @_of_version(FRAGMENTS)
    def fragments(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return the fragments of a version, one row each, in the order of a scan.

        Examples
        --------
        >>> table.inspect.fragments().select("fragment_id", "num_rows", "physical_rows").rows()
        [(0, 2, 4), (1, 2, 2), (2, 5, 5)]
        """
        return self._at(fragments, version)

    @documented(ALL_FRAGMENTS)
    def all_fragments(self) -> pl.DataFrame:
        """Return every state that a fragment was ever in, one row for each interval of it.

        Examples
        --------
        >>> states = table.inspect.all_fragments().filter(pl.col("fragment_id") == 0)
        >>> states.select("num_rows", "first_version", "last_version").rows()
        [(4, 1, 2), (3, 3, 3), (2, 4, 7)]
        """
        return self._table.answer(all_fragments)

    @_of_version(DATA_FILES)
    def data_files(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return the data files of a version, one row each, by fragment in the order of a scan.

        Examples
        --------
        >>> table.inspect.data_files(1).select("fragment_id", "fields", "format_version").rows()
        [(0, ['id', 'city', 'mood'], '2.1')]
        """
        return self._at(data_files, version)

    @documented(ALL_DATA_FILES)
    def all_data_files(self) -> pl.DataFrame:
        """Return every data file of any version, one row for each interval of each state.

        The state of a file changes when more of its fields are replaced. Names of fields, and
        ``root``, are those of the first version of the interval.

        Examples
        --------
        >>> table.inspect.all_data_files().select("fragment_id", "first_version").rows()
        [(0, 1), (1, 2), (2, 3)]
        """
        return self._table.answer(all_data_files)

    @documented(TRANSACTIONS)
    def transactions(self) -> pl.DataFrame:
        """Return the transactions of commits, one row for each kept version, oldest first.

        Large transactions are read again, with one request each.

        Raises
        ------
        StorageError
            If a file cannot be read. A file that cannot be decoded becomes a finding.

        Examples
        --------
        >>> deletion = table.inspect.transactions().row(3, named=True)
        >>> deletion["operation"], deletion["read_version"]
        ('Delete', 3)
        >>> deletion["summary"]
        '{"predicate": "id = 2", "updated_fragments": 1, "deleted_fragments": 0}'
        """
        return self._table.answer(transactions)

    @_of_version(FIELDS)
    def fields(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return the schema of a version, one row for each field, depth first.

        Examples
        --------
        >>> table.inspect.fields().select("field_id", "path", "logical_type").rows()
        [(0, 'id', 'int64'), (1, 'city', 'string'), (2, 'score', 'int32')]
        """
        return self._at(fields, version)

    @documented(ALL_FIELDS)
    def all_fields(self) -> pl.DataFrame:
        """Return every state that a field was ever in, one row for each interval of it.

        Field IDs are reused: a column is identified by its ID and the interval.

        Examples
        --------
        >>> states = table.inspect.all_fields().filter(pl.col("field_id") == 2)
        >>> states.select("path", "last_version", "began_as", "ended_as").rows()
        [('mood', 6, 'added', 'renamed'), ('score', 7, 'renamed', None)]
        """
        return self._table.answer(all_fields)

    @_of_version(INDICES)
    def indices(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return the indices of a version, one row for each segment.

        Examples
        --------
        >>> table.inspect.indices().select("name", "index_type", "fields", "fragment_ids").rows()
        [('id_idx', 'BTREE', ['id'], [0, 1, 2])]
        """
        return self._at(indices, version)

    @documented(ALL_INDICES)
    def all_indices(self) -> pl.DataFrame:
        """Return every state that an index segment was ever in, one row for each interval of it.

        The state of a segment changes when it covers other fragments.

        Examples
        --------
        >>> table.inspect.all_indices().select("name", "first_version", "is_current").rows()
        [('id_idx', 5, True)]
        """
        return self._table.answer(all_indices)

    @_of_version(INDEX_SETTINGS)
    def index_settings(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return how the indices of a version were built, one row for each setting.

        An index whose type has no settings, or whose writer stored none, has no row. Settings that
        this release has no name for are under ``other_fields``, by their numbers in the file.

        Examples
        --------
        >>> table.inspect.index_settings().is_empty()  # a BTREE has none
        True
        """
        return self._at(index_settings, version)

    @_of_version(INDEX_SUMMARY)
    def index_summary(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return how much of a version its indices cover, one row for each index.

        The numbers are those of pylance's ``stats.index_stats``: ``num_rows_answered`` is
        ``num_indexed_rows`` there, ``num_rows_to_scan`` is ``num_unindexed_rows``, and
        ``num_segments`` is ``num_indices``. Only metadata is read. System indices are left out.

        Examples
        --------
        >>> summary = table.inspect.index_summary()
        >>> summary.select("name", "num_segments", "num_rows_answered", "num_rows_to_scan").rows()
        [('id_idx', 1, 9, 0)]
        """
        return self._at(index_summary, version)

    @_of_version(INDEX_COVERAGE)
    def index_coverage(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return what the indices of a version cover, one row for each fragment and segment.

        A fragment that no segment of an index covers has a row without segment. Fragments that a
        segment still lists, but the version no longer has, come last. System indices are left out.

        An entry is stale if its row was deleted or updated since the segment was built; a search
        skips it. Counts are upper bounds for a segment that was merged from several. With stable
        row IDs the entry of an updated row still finds it, unless the index stores addresses, or
        the row is in a fragment that is not covered. Entries of rows that a compaction dropped are
        not counted.

        Examples
        --------
        >>> coverage = table.inspect.index_coverage()
        >>> coverage.select("name", "fragment_id", "num_rows_answered", "num_rows_to_scan").rows()
        [('id_idx', 0, 2, 0), ('id_idx', 1, 2, 0), ('id_idx', 2, 5, 0)]
        """
        return self._at(index_coverage, version)

    @documented(ALL_INDEX_COVERAGE)
    def all_index_coverage(self) -> pl.DataFrame:
        """Return how much each index covered, one row for each interval without a change.

        The numbers are totals of an index. For single fragments and segments, see
        :meth:`index_coverage` of a version: over all versions, that would be versions times
        fragments.

        Examples
        --------
        >>> coverage = table.inspect.all_index_coverage()
        >>> coverage.select("name", "num_rows_answered", "num_rows_to_scan", "first_version").rows()
        [('id_idx', 9, 0, 5)]
        """
        return self._table.answer(all_index_coverage)

    @documented(REWRITE_GROUPS)
    def rewrite_groups(self) -> pl.DataFrame:
        """Return which fragments compactions rewrote into which, one row for each old and new one.

        Known from transactions, recorded compaction lineage, fragment reuse histories, stable row
        IDs or, if nothing else is left, from counts and order: ``evidence`` and ``source`` say from
        which. Rows add up: each row of an old fragment was moved or dropped, each row of a new one
        was moved into it. Compactions that a later restore undid are included.

        Raises
        ------
        StorageError
            If a transaction exists but cannot be read.

        Examples
        --------
        >>> table.inspect.rewrite_groups().is_empty()
        True
        """
        return self._table.answer(rewrite_groups)

    @_of_version(FRAGMENT_REUSE)
    def fragment_reuse(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return the fragment reuse index of a version, one row for each deferred compaction.

        Lance trims an entry once no index needs it any longer; ``indices_behind`` are those that
        still do.

        Examples
        --------
        >>> table.inspect.fragment_reuse().is_empty()
        True
        """
        return self._at(fragment_reuse_entries, version)

    @documented(ALL_FRAGMENT_REUSE)
    def all_fragment_reuse(self) -> pl.DataFrame:
        """Return every entry of the fragment reuse index of any version, one row for each interval.

        An entry that is not current was trimmed after ``last_version``. Reuse indices that cannot
        be read are left out; :meth:`fragment_reuse` of such a version says why.

        Examples
        --------
        >>> table.inspect.all_fragment_reuse().is_empty()
        True
        """
        return self._table.answer(all_fragment_reuse)

    @_of_version(CONFIG)
    def config(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return the config and all metadata of a version, one row for each key.

        Examples
        --------
        >>> table.inspect.config().select("map", "field", "key", "value").rows()
        [('config', None, 'owner', 'docs')]
        """
        return self._at(config, version)

    @documented(ALL_CONFIG)
    def all_config(self) -> pl.DataFrame:
        """Return every entry of config and metadata of any version, one row for each interval.

        Examples
        --------
        >>> table.inspect.all_config().select("key", "value", "first_version").rows()
        [('owner', 'docs', 6)]
        """
        return self._table.answer(all_config)

    @documented(REFS)
    def refs(self) -> pl.DataFrame:
        """Return the tags and branches of the whole table, one row each: tags first, by name.

        Lists the versions of each branch that a tag or branch refers to.

        Raises
        ------
        StorageError
            If a file cannot be read. A file that cannot be decoded becomes a finding.

        Examples
        --------
        >>> table.inspect.refs().select("kind", "name", "version", "is_kept").rows()
        [('tag', 'clean', 4, True), ('branch', 'dev', 2, True)]
        """
        return self._table.answer(refs)

    @documented(MANIFESTS)
    def manifests(self) -> pl.DataFrame:
        """Return the size of manifests and of their parts, one row for each kept version.

        Examples
        --------
        >>> table.inspect.manifests().select("path", "naming").row(6)
        ('_versions/18446744073709551608.manifest', 'V2')
        """
        return self._table.answer(manifests)

    @_of_version(BASE_PATHS)
    def base_paths(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return the base paths of a version: the roots besides its own that it uses, one row each.

        Examples
        --------
        >>> dev = lx.open_table(table.uri, branch="dev")
        >>> dev.inspect.base_paths().select("base_id", "is_dataset_root", "num_data_files").rows()
        [(0, True, 2)]
        """
        return self._at(base_paths, version)

    @documented(ALL_BASE_PATHS)
    def all_base_paths(self) -> pl.DataFrame:
        """Return every base path of any version, one row for each interval of it.

        Examples
        --------
        >>> table.inspect.all_base_paths().is_empty()
        True
        """
        return self._table.answer(all_base_paths)

    @_of_version(ROW_ID_SEGMENTS)
    def row_id_segments(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return the row-ID sequences of a version, one row for each segment.

        Without stable row IDs there are no rows. The ``encoded_bytes`` of a fragment add up to its
        ``row_ids_bytes`` in :meth:`fragments`.

        Examples
        --------
        >>> segments = table.inspect.row_id_segments()
        >>> segments.select("fragment_id", "encoding", "start", "stop", "num_values").rows()
        [(0, 'range', 0, 4, 4), (1, 'range', 4, 6, 2), (2, 'range_with_bitmap', 2, 10, 5)]
        """
        return self._at(row_id_segments, version)

    @documented(ALL_ROW_ID_SEGMENTS)
    def all_row_id_segments(self) -> pl.DataFrame:
        """Return every row-ID sequence of any version, one row for each segment and each interval.

        Deleting rows does not change a sequence, so the cost depends on the number of distinct
        sequences, not of versions. Versions with unknown reader flags are left out, and so are
        sequences that cannot be decoded; :meth:`row_id_segments` of such a version says why.

        Examples
        --------
        >>> table.inspect.all_row_id_segments().select("fragment_id", "first_version").rows()
        [(0, 1), (1, 2), (2, 3)]
        """
        return self._table.answer(all_row_id_segments)

    @_of_version(ROW_ID_ENCODINGS)
    def row_id_encodings(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return how well row IDs are encoded, one row for each fragment that stores any.

        Finding the best encoding takes up to half a second for a fragment with scattered row IDs.

        Examples
        --------
        >>> sizes = table.inspect.row_id_encodings()
        >>> sizes.select("fragment_id", "encoded_bytes", "best_bytes", "saving_bytes").rows()
        [(0, 6, 6, 0), (1, 8, 8, 0), (2, 11, 11, 0)]
        """
        return self._at(row_id_encodings, version)

    @documented(ALL_ROW_ID_ENCODINGS)
    def all_row_id_encodings(self) -> pl.DataFrame:
        """Return how well each row-ID sequence of any version is encoded, by interval.

        Versions with unknown reader flags are left out, and so are sequences that cannot be
        decoded; :meth:`row_id_encodings` of such a version says why.

        Examples
        --------
        >>> table.inspect.all_row_id_encodings().select("fragment_id", "first_version").rows()
        [(0, 1), (1, 2), (2, 3)]
        """
        return self._table.answer(all_row_id_encodings)

    @documented(ROW_ID_TOTALS)
    def row_id_totals(self) -> pl.DataFrame:
        """Return how many bytes row IDs and row versions take, one row for each kept version.

        Segments, runs, holes and index bytes are null if a sequence cannot be decoded; with an
        unknown reader flag, rows are null, too.

        Examples
        --------
        >>> totals = table.inspect.row_id_totals()
        >>> totals.select("version", "num_segments", "row_ids_bytes", "bytes_per_row").rows()[:3]
        [(1, 1, 6, 1.5), (2, 2, 14, 2.3333333333333335), (3, 3, 25, 2.5)]
        """
        return self._table.answer(row_id_totals)

    @_of_version(VERSION_RUNS)
    def version_runs(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return since when rows exist, one row for each run of the row-version sequences.

        Fragments without such sequences have no rows here.

        Examples
        --------
        >>> runs = table.inspect.version_runs().filter(pl.col("fragment_id") == 2)
        >>> runs.select("sequence", "offset", "num_rows", "row_version").rows()
        [('created_at', 0, 1, 1), ('created_at', 1, 4, 3), ('last_updated_at', 0, 5, 3)]
        """
        return self._at(version_runs, version)

    @documented(ALL_VERSION_RUNS)
    def all_version_runs(self) -> pl.DataFrame:
        """Return every row-version sequence of any version, one row for each run and each interval.

        Versions with unknown reader flags are left out, and so are sequences that cannot be
        decoded; :meth:`version_runs` of such a version says why.

        Examples
        --------
        >>> runs = table.inspect.all_version_runs().filter(pl.col("fragment_id") == 2)
        >>> runs["first_version"].unique().to_list()
        [3]
        """
        return self._table.answer(all_version_runs)

    @_of_version(DELETIONS)
    def deletions(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return the deletion files of a version, one row each, by fragment in the order of a scan.

        Reads each of them. A missing or damaged file has a ``problem``.

        Raises
        ------
        StorageError
            If a file cannot be read for any other reason.

        Examples
        --------
        >>> files = table.inspect.deletions()
        >>> files.select("fragment_id", "file_type", "num_deleted_rows", "fraction").rows()
        [(0, 'arrow_array', 2, 0.5)]
        """
        return self._at(deletions, version)

    @documented(ALL_DELETIONS)
    def all_deletions(self) -> pl.DataFrame:
        """Return every deletion file of any version, one row for each interval of it.

        Reads each of them once. A missing or damaged file has a ``problem``. Versions with unknown
        reader flags are left out.

        Raises
        ------
        StorageError
            If a file cannot be read for any other reason.

        Examples
        --------
        >>> files = table.inspect.all_deletions()
        >>> files.select("num_deleted_rows", "first_version", "last_version").rows()
        [(1, 3, 3), (2, 4, 7)]
        """
        return self._table.answer(all_deletions)

    @documented(DETACHED)
    def detached(self) -> pl.DataFrame:
        """Return the detached versions, which are on no branch, one row each.

        Reads each of their manifests.

        Examples
        --------
        >>> table.inspect.detached().is_empty()
        True
        """
        return self._table.answer(detached)

    @documented(MEM_WAL)
    def mem_wal(self) -> pl.DataFrame:
        """Return what is in the write-ahead log, one row for each generation of each shard.

        Writers put rows into a log first, in shards; later they are written as small tables, called
        generations, and merged. A scan of the table does not see rows that are not merged. Deletes
        count as changes, and a row that was written twice counts twice. The folder of the log is
        listed anew, and entries of the log that are in no generation are read. A table without a
        log has no rows here.

        Examples
        --------
        >>> table.inspect.mem_wal().is_empty()
        True
        """
        return self._table.answer(mem_wal)

    @_of_version(COLUMNS)
    def columns(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return how many bytes each column takes, and how its values are laid out, largest first.

        Reads the end of each data file of the version. A nested column has a row for each part that
        has values of its own. Values of columns that were dropped or replaced are still in files.
        If some files cannot be read, sizes are null.

        Examples
        --------
        >>> found = table.inspect.columns(1).sort("field_id")
        >>> found.select("path", "num_pages", "num_values").rows()
        [('id', 1, 4), ('city', 1, 4), ('mood', 1, 4)]
        """
        return self._at(columns, version)

    @documented(STORAGE)
    def storage(self, clones: Iterable[Any] = ()) -> pl.DataFrame:
        """Return the owner of each object: one row for each below the root, and each missing one.

        The table is read again, so versions may be newer than those of other frames. All branches
        are considered; ``live`` is what the latest version of this one needs. In other places, such
        as base paths, only files that a manifest names have a row. If a manifest, or the file of a
        tag or branch, cannot be read, files that no other one names are ``unknown``. What clones of
        the table need is known only if they are named in ``clones``.

        Parameters
        ----------
        clones : iterable of str, os.PathLike, Table, lance.LanceDataset or lancedb table
            Shallow clones of the table, which read its files.

        Examples
        --------
        >>> objects = table.inspect.storage()
        >>> objects.filter(kind="deletion").sort("status").select("status", "needed_by").rows()
        [('live', 'versions 4 to 7'), ('old', 'version 3')]
        """
        return self._table.answer(lambda view: storage(view, opened_clones(view, clones)))

    @_of_version(HEALTH)
    def health(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return what the owner of the table should do, one row each, warnings first.

        Lists only what the metadata prove, with numbers, and the call that fixes it. A small
        healthy table has no rows here. Damaged files are in ``table.inspect.findings()``.

        ====================== ==================================================================
        small_fragments        a compaction would save 20 fragments; a warning from 100 on
        deleted_rows           10,000 deleted rows, or 100 MB of them, in fragments that a
                               compaction would rewrite: by default those that lost more than a
                               tenth
        spread_deleted_rows    as many in other fragments, if 2 % of all rows
        index_covers_nothing   an index finds no row, however few there are
        unindexed_rows         an index misses 10,000 rows; a warning from a tenth of all rows on
        stale_index_entries    10,000 entries of an index, a fifth of all, are of removed rows
        many_index_segments    an index is in 4 segments
        index_on_dropped_field an index is on a field that was dropped from the schema
        index_without_fields   an index is on no field
        index_coverage_unknown the record of what an index covers is missing or damaged
        fragment_reuse_lags    indices have not yet been updated after a deferred compaction
        large_manifest         the manifest has 10 MB; no more than a note if the transaction of the
                               commit takes most of it
        row_id_encoding        row IDs could take 1 MB and a fifth less; of the largest sequences,
                               20,000,000 rows are examined
        fragment_ids_run_out   more than half of all possible fragment IDs are used up
        fragment_too_large     a fragment has more than half of the rows that addresses reach
        many_versions          1,000 versions are kept
        rows_not_scanned       rows of the write-ahead log are not in the table
        v1_manifest_names      manifests are named by the older scheme
        unstable_row_ids       1,000,000 indexed rows moved, since row IDs are not stable
        not_checked            a file that a check needs is missing or damaged
        ====================== ==================================================================

        The checks of the number and names of versions, of unstable row IDs and of the log concern
        the whole history, and are listed for the latest version only. Fragments are small if they
        have fewer rows than compactions aim at: 1,048,576, unless the config of the table says
        otherwise.

        Examples
        --------
        >>> table.inspect.health().is_empty()
        True
        """
        return self._at(health, version)

    @documented(GAPS)
    def gaps(self) -> pl.DataFrame:
        """Return the gaps: ranges of version numbers that are not kept, one row each.

        Examples
        --------
        >>> table.inspect.gaps().is_empty()
        True
        """
        return self._table.answer(gaps)

    @documented(REBASES)
    def rebases(self) -> pl.DataFrame:
        """Return over which commits each commit was put, one row a pair, and why that was allowed.

        A commit that began on version 5 and became version 8 was put over 6 and 7. Lance rewrites
        the version that deletes and updates read when it puts them over others, so that their
        rebases are not all told. Reasons are those of :func:`lance_explorer.conflicts`.

        Examples
        --------
        >>> table.inspect.rebases().select("version", "passed_version", "reason").rows()
        []
        """
        return self._table.answer(rebases)

    @documented(FINDINGS)
    def findings(self) -> pl.DataFrame:
        """Return the findings about the table, one row each.

        Examples
        --------
        >>> table.inspect.findings().is_empty()
        True
        """
        return self._table.answer(findings)

    def _at(
        self, build: Callable[[HistoryView, int], pl.DataFrame], version: VersionRef | None
    ) -> pl.DataFrame:
        ref = -1 if version is None else version
        return self._table.answer(lambda view: build(*resolve(view, ref)))


class _Still(LiveTable):
    """A branch whose answers are not repeated, since the caller of a frame does that."""

    def answer(self, build: Callable[[HistoryView], _T]) -> _T:
        return build(self.view)


FRAMES: dict[str, FrameSchema] = {
    VERSIONS.name: VERSIONS,
    **{name: schema for name, method in vars(Inspect).items() if (schema := schema_of(method))},
}
"""The schema of each public frame by its name."""


def frame_answer(view: HistoryView, name: str) -> Answer:
    """Return a frame as an answer, by its name."""
    rows = frame(view, name)
    return answer_of(view, FRAMES[name], rows)


def frame(view: HistoryView, name: str) -> pl.DataFrame:
    """Return a frame by its name; frames of a single version are of the latest one.

    Examples
    --------
    >>> frame(table._view, "gaps").is_empty()
    True
    """
    if name not in FRAMES:
        raise InvalidArgumentError(f"no frame {name!r}; there are: {', '.join(FRAMES)}")
    if name == VERSIONS.name:
        return versions(view)
    build: Callable[[], pl.DataFrame] = getattr(Inspect(_Still(view)), name)
    return build()
