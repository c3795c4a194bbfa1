"""A table, as a user holds it. It delegates, and contains no logic of its own."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
from numpy.typing import ArrayLike
from propcache.api import cached_property

from lance_explorer.above import explorer_of, write_recorded_page
from lance_explorer.answers import Answer
from lance_explorer.arguments import check_choice, flag, names, of_kind, whole_number
from lance_explorer.arguments import text as a_text
from lance_explorer.checks.depths import DEPTHS, Depth
from lance_explorer.checks.frame import CHECKS
from lance_explorer.disk.clones import opened_clones
from lance_explorer.errors import TableNotFoundError
from lance_explorer.findings import Severity
from lance_explorer.format.refs import Branch, Tag
from lance_explorer.frames.derived import DERIVATIONS
from lance_explorer.frames.documented import documented
from lance_explorer.frames.findings import FINDINGS
from lance_explorer.frames.followed import FOLLOWED, FOLLOWED_ADDRESSES
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.live import LiveTable
from lance_explorer.history.recorded import is_long
from lance_explorer.history.rewrites.compaction_records import CompactionLineage
from lance_explorer.history.table_input import open_view
from lance_explorer.history.version_refs import VersionRef, resolve, version_number
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import FRAMES, Inspect, frame, frame_answer
from lance_explorer.inspect.deletion_history import DELETION_HISTORY, deletion_history
from lance_explorer.inspect.inherited_versions import inherited_versions
from lance_explorer.inspect.log import LOG, log
from lance_explorer.inspect.query import run_query
from lance_explorer.inspect.row_id_checks import check_row_ids
from lance_explorer.inspect.versions import VERSIONS, versions
from lance_explorer.shown import described
from lance_explorer.snapshot import Snapshot
from lance_explorer.storage import Budget, IoCounts, Options
from lance_explorer.storage.secrets import hiding_arguments

# Modules that take long to import are imported where they are needed.
if TYPE_CHECKING:
    from lance_explorer.changes.change_feed import Changes, ImageChoice, Mode
    from lance_explorer.changes.diff import Diff
    from lance_explorer.changes.merge import MergePreview
    from lance_explorer.checks.damage import Damage
    from lance_explorer.disk.cleanup_preview import CleanupPreview
    from lance_explorer.disk.compaction_preview import CompactionPreview
    from lance_explorer.disk.usage import DiskUsage
    from lance_explorer.ledger.ledger import Ledger
    from lance_explorer.lineage.blame import Blame
    from lance_explorer.lineage.duplicates import Duplicates
    from lance_explorer.lineage.find import Found
    from lance_explorer.lineage.graph import Lineage
    from lance_explorer.lineage.row import Row
    from lance_explorer.plans.plan import Plan
    from lance_explorer.plans.records import OnConflict
    from lance_explorer.profiles import Profile
    from lance_explorer.widgets.explorer import Explorer

__all__ = ["Table", "open_table"]

_ROWS_FRAME = "dataset"
_CHANGES_FRAME = "changes"


@hiding_arguments
def open_table(
    table: Any,
    branch: str | None = None,
    storage_options: Mapping[str, str] | None = None,
    allow_bases: Iterable[str | os.PathLike[str]] = (),
    max_bytes: int | None = None,
    max_requests: int | None = None,
    ledger: "Ledger | str | os.PathLike[str] | None" = None,
    values_apart: bool = False,
    whole_manifests: bool = False,
) -> "Table":
    """Open a Lance table to explore it; nothing is ever written to it.

    Parameters
    ----------
    table : str, os.PathLike, lance.LanceDataset or lancedb table
        Path or URI of the table, or an opened table. ``s3+ddb://bucket/path?ddbTableName=NAME``
        asks the external manifest store which versions there are.
    branch : str, optional
        A branch of the table; the main branch by default. The root of a branch may also be given as
        ``table``.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store, under the names that pylance takes; by default
        those of an opened ``table``, or those in environment variables.
    allow_bases : iterable of str or os.PathLike
        Places outside the table from which its files may be read, with everything below: paths, or
        URIs such as ``s3://bucket/folder``. The files of a table may be stored elsewhere, as in
        clones. These locations are always allowed: for a local table, its parent folder and all
        other local Lance tables; for a table in an object store, everything of the same kind of
        store and account, to which ``storage_options`` give access. Any other location is reported
        in ``table.inspect.findings()``, and reading rows from it is an error. Allowed places are
        read with the same ``storage_options``.
    max_bytes, max_requests : int, optional
        Of a table in an object store, the most bytes to read and requests to make for metadata, all
        calls together; by default any number. ``table.io`` shows how many there were. A call that
        needs more raises BudgetExceededError. Values that pylance reads do not count.
    ledger : Ledger, str or os.PathLike, optional
        Where the table was recorded (:class:`Ledger`), or its path or URI. Versions that are
        recorded and no longer kept are there as if they were, but for values that are lost.
    values_apart : bool
        Whether another process reads values. pylance can end its process on a damaged data file;
        then that is an error, and this process goes on. By default values are read in another
        process once the table is known to be damaged. The first read takes about a second longer.
    whole_manifests : bool
        Of a table in an object store, whether to read each manifest whole and to ignore the cache.
        By default, of large manifests of appends only the end and the transaction are read; frames
        mark these versions as ``derived`` in ``known_from``.

    Returns
    -------
    Table

    Raises
    ------
    CorruptFileError
        If the folder of versions mixes both naming schemes of manifests.
    InvalidArgumentError
        If the URI has a scheme that is not supported, names another machine or contains a password,
        or an option cannot be used.

    Examples
    --------
    >>> lx.open_table(table.uri).at(1).operation
    'Overwrite'
    """
    storage_options = None if storage_options is None else Options(storage_options)
    budget = Budget(
        None if max_bytes is None else whole_number("max_bytes", max_bytes),
        None if max_requests is None else whole_number("max_requests", max_requests),
    )
    io = IoCounts(
        budget=budget,
        values_apart=flag("values_apart", values_apart),
        whole_manifests=flag("whole_manifests", whole_manifests),
    )
    if ledger is None:
        view = open_view(table, branch, storage_options, allow_bases, io)
        if not io.whole_manifests and is_long(view.storage, view.listing.versions):
            from lance_explorer.ledger.cache import use_cache

            view = use_cache(view)
        return Table(view)
    from lance_explorer.ledger.ledger import ledger_of, not_found, recorded_table

    of = ledger_of(ledger)
    try:
        view = open_view(table, None, storage_options, allow_bases, io)
    except TableNotFoundError as error:
        raise not_found(of, table, error) from None
    name = None if branch is None else a_text("branch", branch)
    return Table(view.with_recorded(recorded_table(of, view.uri), name))


class Table:
    """A Lance table, or one branch of it, with all its kept versions.

    Made by :func:`open_table`. Metadata is read on first use and kept; :meth:`refresh` loads newer
    versions. Versions that are cleaned up while they are read are left out, as gaps. If the table
    was dropped, or dropped and recreated, in the meantime, calls raise TableNotFoundError.

    Examples
    --------
    >>> table.uri.rpartition("/")[2], table.branch
    ('people.lance', None)
    >>> table.latest
    Snapshot people.lance version 7 by Project, ...
    >>> table.tags["clean"].version, [*table.branches]
    (4, ['dev'])
    >>> table.inspect.fragments()["num_rows"].sum()
    9
    >>> table.io.requests > 0
    True
    """

    def __init__(self, view: HistoryView) -> None:
        given = of_kind("view", view, HistoryView, "what lx.open_table(path) passes to a Table")
        self._live = LiveTable(given)

    @property
    def _view(self) -> HistoryView:
        """The history of the branch, as of opening or the last :meth:`refresh`."""
        return self._live.view

    @property
    def uri(self) -> str:
        """Root of the table."""
        return self._view.uri

    @property
    def branch(self) -> str | None:
        """The branch; None for the main branch."""
        return self._view.branch

    @property
    def io(self) -> IoCounts:
        """Requests and bytes read so far for metadata; values read by pylance do not count."""
        return self._view.storage.io

    @property
    def latest(self) -> Snapshot:
        """The latest version of the branch."""
        return self._live.answer(lambda view: Snapshot(view, view.latest_version))

    @property
    def tags(self) -> Mapping[str, Tag]:
        """The tags by name, including those on other branches."""
        return self._live.answer(lambda view: view.refs.tags)

    @property
    def branches(self) -> Mapping[str, Branch]:
        """The branches by name; the main branch is not among them."""
        return self._live.answer(lambda view: view.refs.branches)

    @cached_property
    def inspect(self) -> Inspect:
        """The catalogue of metadata frames."""
        return Inspect(self._live)

    @documented(VERSIONS)
    def versions(self, *, last: int | None = None, inherited: bool = False) -> pl.DataFrame:
        """Return what happened, one row for each kept version, oldest first.

        Parameters
        ----------
        last : int, optional
            How many versions to return, the latest; all by default. The others are not read, but
            for the one before and what a restore among them refers to.
        inherited : bool
            On a branch, whether to include the versions of its ancestors, up to those that the
            branches were created from, before its own. A branch's own versions start with the
            version of the fork.

        Examples
        --------
        >>> table.versions().row(0, named=True)["kind"]
        'create'
        >>> table.versions(last=2)["version"].to_list()
        [6, 7]
        """
        is_wanted = flag("inherited", inherited)
        number = None if last is None else whole_number("last", last, least=1)
        if is_wanted:
            every = self._live.answer(inherited_versions)
            return every if number is None else every.tail(number)
        return self._live.answer(lambda view: versions(view, number))

    @documented(LOG)
    def log(
        self,
        limit: int | None = None,
        since: VersionRef | None = None,
        until: VersionRef | None = None,
        operation: str | Sequence[str] = (),
        text: str | None = None,
        column: str | None = None,
        all_branches: bool = True,
    ) -> pl.DataFrame:
        """Return the commits, one row each, newest first, with what they did in words.

        Parameters
        ----------
        limit : int, optional
            How many commits to return at most, the newest; all by default. Without other filters,
            no others are read.
        since, until : int, str, date, datetime, tuple or Snapshot, optional
            Only commits that were made at that time or later, or earlier: times, days, ``"3 hours
            ago"``, or versions, which mean their time, all as :meth:`at` takes them.
        operation : str or sequence of str
            Only commits of these operations, such as ``"Update"``, or kinds, such as ``"schema"``.
        text : str, optional
            Only commits that have this in their words, predicate, message, properties, tags, names
            of columns or branches; small or capital letters do not matter.
        column : str, optional
            Only commits that can have changed this column: that wrote, added, renamed, cast or
            dropped it, or wrote whole rows. ``changes_values`` sets those apart that changed values
            of rows that were there.
        all_branches : bool
            Whether to return the commits of all branches, or only those of this one.

        Examples
        --------
        >>> table.log(limit=2, all_branches=False).select("version", "words").rows()
        [(7, 'Field `mood` renamed to `score`.'), (6, 'Config: `owner` set to `docs`.')]
        >>> table.log(operation="delete").select("version", "predicate").rows()
        [(4, 'id = 2')]
        >>> touching = table.log(column="mood", all_branches=False)
        >>> touching.select("version", "changes_values").rows()
        [(7, False), (3, True), (2, False), (1, False)]
        >>> table.log(text="dev").select("branch", "version", "lane", "branches_here").rows()
        [('dev', 2, 1, ''), (None, 2, 0, 'dev')]
        """
        number = None if limit is None else whole_number("limit", limit)
        operations = names("operation", operation)
        wanted = None if text is None else a_text("text", text)
        name = None if column is None else a_text("column", column)
        is_all = flag("all_branches", all_branches)
        return self._live.answer(
            lambda view: log(
                view, number, since, until, operations, wanted, name, all_branches=is_all
            )
        )

    def at(self, ref: VersionRef) -> Snapshot:
        """Return one version.

        Parameters
        ----------
        ref : int, str, date, datetime, tuple or Snapshot
            The version, in one of these forms, which all calls that take a version accept:

            - a number; ``-1`` is the latest version, ``-2`` the kept one before it, and so on;
            - a tag, also one on another branch;
            - a time, for the highest version that was committed by then: a ``datetime``, text such
              as ``"2026-11-22T12:00"``, or ``"3 hours ago"`` (seconds to years);
            - a day: a ``date``, ``"2026-11-22"``, ``"today"``, ``"yesterday"``; it means its end;
              as ``begin_version`` of changes, its start;
            - branch and version, as ``("dev", 4)``, ``"dev@4"`` or ``"dev@yesterday"``; ``"main"``
              is the main branch;
            - a Snapshot.

            Times without a time zone, days, and words such as ``"yesterday"`` are in UTC. Text of
            digits is a version number; ``"tag:26"`` is the tag named 26. If a tag has a name that
            looks like a time, the tag is meant.

        Examples
        --------
        >>> table.at(1).operation, table.at(-1).version, table.at("clean").version
        ('Overwrite', 7, 4)
        >>> table.at("dev@-1").branch, table.at("today").version
        ('dev', 7)
        """
        return self._live.answer(lambda view: Snapshot(*resolve(view, ref)))

    @documented(DELETION_HISTORY)
    def deletion_history(self, fragment_id: int) -> pl.DataFrame:
        """Return which rows of a fragment were deleted in which version, one row each.

        Parameters
        ----------
        fragment_id : int
            The fragment, of any kept version.

        Raises
        ------
        FragmentNotFoundError
            If no kept version has the fragment.

        Examples
        --------
        >>> table.deletion_history(0)["version"].to_list()
        [3, 4]
        """
        return self._live.answer(lambda view: deletion_history(view, fragment_id))

    @documented(FINDINGS)
    def check_row_ids(self) -> pl.DataFrame:
        """Check the row IDs of all kept versions; return problems and remarks.

        It looks for row IDs that two live rows share, that were never assigned or assigned twice,
        for sequences that do not match their fragment, and for writers known to store wrong ones.

        Raises
        ------
        StorageError
            If a file cannot be read. A file that cannot be decoded is a finding.

        Examples
        --------
        >>> len(table.check_row_ids())
        0
        """
        return self._live.answer(check_row_ids)

    @documented(CHECKS)
    def check(
        self,
        depth: Depth = "quick",
        severity: Severity = "info",
        key: str | Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """Check all kept versions; return problems, and what was not checked.

        These are the findings of ``table.inspect.findings()`` and ``table.inspect.health()``, those
        of :meth:`check_row_ids`, and problems of files and refs: missing files, files of another
        size, files that no version names, tags and branches that lead nowhere. Damage by a known
        bug of the release that wrote a version has the bug in ``known_bug``.

        Parameters
        ----------
        depth : {"quick", "deep", "values"}
            ``quick`` reads metadata. ``deep`` also opens the latest and all tagged versions with
            pylance, reads the end of each data file, checks row IDs even if there are more than
            200,000 states of fragments, compares what indices hold with the rows that they cover,
            which reads these columns, and searches some rows with and without each index.
            ``values`` also reads each column of each data file once, and compares the rows before
            and after each compaction.
            What a depth leaves out is a finding ``not_checked``.
        severity : {"info", "warning", "error"}
            The least severity to return.
        key : str or sequence of str, optional
            The columns that no two rows should have alike, nor null: :meth:`duplicates`.

        Examples
        --------
        >>> table.check(severity="warning").is_empty()
        True
        >>> table.check()["code"].unique().to_list()
        ['not_checked']
        """
        from lance_explorer.checks.all_checks import check

        return self._live.answer(lambda view: check(view, depth, severity, key))

    def answer(self, frame: str) -> Answer:
        """Return a frame of :attr:`inspect` as an answer: a sentence, and its rows.

        Parameters
        ----------
        frame : str
            The frame, as its method is called.

        Raises
        ------
        InvalidArgumentError
            If there is no such frame.

        Examples
        --------
        >>> print(table.answer("gaps"))
        0 rows of gaps.
        """
        a_text("frame", frame)
        return self._live.answer(lambda view: frame_answer(view, frame))

    def health(
        self,
        depth: Depth = "quick",
        severity: Severity = "info",
        key: str | Sequence[str] | None = None,
    ) -> "Answer":
        """Return the findings of :meth:`check` as an answer: sentences with causes and remedies.

        Parameters
        ----------
        depth, key
            As in :meth:`check`.
        severity : {"info", "warning", "error"}
            The least severity to list. It always says what was not checked.

        Examples
        --------
        >>> print(table.health(severity="warning").sentence)
        Nothing of severity warning or worse was found.
        """
        from lance_explorer.checks.all_checks import check_findings
        from lance_explorer.checks.answer import check_answer

        findings = self._live.answer(lambda view: check_findings(view, depth, key=key))
        return check_answer(findings, depth, severity)

    def damage(self, depth: Depth = "deep") -> "Damage":
        """Return the damage as a whole: what is lost, and where else the rows still are.

        A missing file does not mean missing rows: after a compaction, the files that it replaced
        have them until they are cleaned up. For the write-ahead log, it reports what was lost or
        damaged before it was merged.

        Parameters
        ----------
        depth : {"quick", "deep", "values"}
            How files are checked: their sizes; also their ends; also all values, as in
            :meth:`check`.

        Examples
        --------
        >>> table.damage()
        Damage(No damaged file was found in 7 versions.)
        """
        from lance_explorer.checks.damage import damage

        check_choice("depth", depth, DEPTHS)
        return self._live.answer(lambda view: damage(view, depth))

    def duplicates(
        self, key: str | Sequence[str], version: VersionRef | None = None, limit: int = 1_000
    ) -> "Duplicates":
        """Return keys that several rows have, with the commits that brought each of the rows.

        Lance has no unique keys: two writers that upsert the same new key at once both add it.

        Parameters
        ----------
        key : str or sequence of str
            The columns of the top level that should be unique together.
        version : int, str, datetime, date or tuple, optional
            The version to look at, as in :meth:`at`; the latest by default.
        limit : int, default 1000
            Of how many keys the rows are returned; all are counted.

        Examples
        --------
        >>> table.duplicates("id")
        Duplicates(Each key of id is there once in version 7.)
        """
        from lance_explorer.lineage.duplicates import duplicates

        return self._live.answer(
            lambda view: duplicates(view, key, _optional(view, version), limit)
        )

    def disk_usage(self, clones: Iterable[Any] = ()) -> "DiskUsage":
        """Return how much space the table takes on disk, and why; the table is read again.

        For single objects, see ``table.inspect.storage()``. Files in base paths of the table count,
        too; files of its source that a clone reads do not. If a base path could not be listed, the
        sentence says "at least", and ``not_counted`` says why.

        Parameters
        ----------
        clones : iterable of str, os.PathLike, Table, lance.LanceDataset or lancedb table
            Shallow clones of the table, which read its files.

        Returns
        -------
        DiskUsage

        Examples
        --------
        >>> usage = table.disk_usage()
        >>> usage.live_bytes < usage.total_bytes
        True
        """
        from lance_explorer.disk.usage import disk_usage

        return self._live.answer(lambda view: disk_usage(view, opened_clones(view, clones)))

    def cleanup_preview(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        delete_unverified: bool = False,
        clones: Iterable[Any] = (),
        versions: Sequence[VersionRef] | None = None,
    ) -> "CleanupPreview":
        """Return what ``cleanup_old_versions`` of Lance 14 would do now; nothing is removed.

        The table is read again. For a branch, it is what a cleanup of that branch would do. The
        rules changed between releases of Lance: an older one may remove less.

        Parameters
        ----------
        older_than : datetime.timedelta, optional
            How old versions must be to go; 14 days if ``retain_versions`` is not given either.
        retain_versions : int, optional
            How many of the last versions stay whatever their age.
        delete_unverified : bool, default False
            Whether files that no version names go even if they are younger than seven days.
        clones : iterable of str, os.PathLike, Table, lance.LanceDataset or lancedb table
            Shallow clones of the table. Lance does not know of them; with them,
            :meth:`CleanupPreview.losses` shows what they would lose.
        versions : sequence of int, str, datetime, date or tuple, optional
            The only versions to remove, as :meth:`at` takes them; of any age, unless ``older_than``
            is given, too.

        Returns
        -------
        CleanupPreview

        Examples
        --------
        >>> table.cleanup_preview(retain_versions=2).num_versions
        3
        >>> table.cleanup_preview(retain_versions=2).code
        'dataset.cleanup_old_versions(retain_versions=2, error_if_tagged_old_versions=False)'
        """
        from lance_explorer.disk.cleanup_preview import cleanup_preview

        return self._live.answer(
            lambda view: cleanup_preview(
                view,
                older_than,
                retain_versions,
                delete_unverified,
                opened_clones(view, clones),
                versions,
            )
        )

    def compaction_preview(self, **options: Any) -> "CompactionPreview":
        """Return what ``optimize.compact_files`` of Lance 14 would do to the latest version.

        Nothing is rewritten.

        Parameters
        ----------
        **options
            As ``compact_files`` takes them; by default what the config of the table says, else
            Lance's own. Which fragments are rewritten follows from ``target_rows_per_fragment``
            (1,048,576), ``materialize_deletions`` (True), ``materialize_deletions_threshold``
            (0.1), ``max_source_fragments``, ``max_source_rows``, ``max_source_bytes`` and
            ``excluded_fragment_ids``; the others are allowed, and say how they are written.

        Returns
        -------
        CompactionPreview

        Raises
        ------
        InvalidArgumentError
            If there is no such option.

        Examples
        --------
        >>> preview = table.compaction_preview()
        >>> preview.tasks()["fragment_ids"].to_list()
        [[0, 1, 2]]
        >>> table.compaction_preview(target_rows_per_fragment=3).fragments()["reason"].to_list()
        ['many_deleted_rows', 'small', 'large_enough']
        """
        from lance_explorer.disk.compaction_preview import compaction_preview

        return self._live.answer(lambda view: compaction_preview(view, options))

    def changes(
        self,
        begin_version: VersionRef,
        end_version: VersionRef | None = None,
        mode: "Mode" = "net",
        images: "ImageChoice | None" = "known",
        columns: Sequence[str] | None = None,
        key: str | Sequence[str] | None = None,
        include: Collection[str] = (),
        tolerance: float = 0.0,
    ) -> "Changes":
        """Return what changed after one version and up to another, as rows.

        Nothing is read yet: see :meth:`Changes.summary`, :meth:`Changes.to_polars` and
        :meth:`Changes.batches`.

        Parameters
        ----------
        begin_version : int, str, date, datetime, tuple or Snapshot
            The version before all changes, as :meth:`at` takes it; 0 is the empty table. With
            stable row IDs it need not be kept: row versions show which rows were added and written
            after it. Which were removed is lost then, and a line with the event ``lost`` says so.
        end_version : int, str, date, datetime, tuple or Snapshot, optional
            The version after all changes; the latest by default.
        mode : {"net", "per_commit"}
            ``"net"``: what differs between both versions, whatever happened in between;
            ``"per_commit"``: what each commit did.
        images : {"known", "after", "both"}, optional
            Which values to read. ``"known"``: the values after a change, and the last values of
            deleted rows, which are those in ``begin_version``, or per commit in the version before.
            Lost values (a data file is missing, or in a location that is not allowed) are null, and
            :meth:`Changes.findings` says why. ``"after"``: only the values after a change, and an
            error if they are lost; ``"both"``: also those before. None: no values, and no data file
            is opened. If versions are lost, values are those of the kept versions around them.
            Blobs are read whole: if they are large, name the other columns.
        columns : sequence of str, optional
            The columns to read, by their names in ``end_version``; all by default. A column with
            the name of a frame column gets an underscore, as in ``evidence_``. No value is rounded
            or made another kind of value: a column whose types have none that holds all values
            exactly, such as ``int64`` and ``float64``, is two columns, the latest under its name,
            the other one with a number after it, as in ``tags@1``.
        key : str or sequence of str, optional
            Columns that identify a row: a deleted row and an inserted row with the same key are one
            updated row. For tables without stable row IDs, and for rows that were deleted and
            inserted again. Keys are compared exactly: types that have none in common which holds
            all values of both are an error.
        include : collection of {"moved", "column_added"}
            Rows to include that are left out by default: rows that only moved, or only got another
            column.
        tolerance : float, default 0.0
            Floats, also in vectors, count as equal if they differ by at most ``tolerance`` times
            the largest of 1 and both absolute values. With 0 only equal values do. NaN equals NaN.

        Returns
        -------
        Changes

        Raises
        ------
        InvalidArgumentError
            If ``begin_version`` is later than ``end_version``, or one is on another branch (see
            :meth:`diff`).

        Examples
        --------
        >>> table.changes(1, 3).summary().select("inserted", "deleted", "unchanged").row(0)
        (6, 0, 3)
        >>> table.changes(3, 4).to_polars().select("_change_type", "_rowid", "id").rows()
        [('delete', 1, 2)]
        >>> changes = table.changes(1, 3, mode="per_commit", images="both")
        >>> changes.to_polars()["_change_type"].unique(maintain_order=True).to_list()
        ['insert', 'update_preimage', 'update_postimage']
        """
        from lance_explorer.changes.change_feed import changes

        return self._live.answer(
            lambda view: changes(
                view, begin_version, end_version, mode, images, columns, key, include, tolerance
            )
        )

    def diff(self, a: VersionRef, b: VersionRef) -> "Diff":
        """Return what two versions differ in: rows, schema, fragments, indices, configuration.

        Either may be the later one, and they may be on different branches. Nothing is read yet,
        except that both are checked to exist.

        Parameters
        ----------
        a, b : int, str, date, datetime, tuple or Snapshot
            The versions, as :meth:`at` takes them. For a Snapshot of another table, such as a
            clone, rows cannot be matched, but everything else can be compared.

        Returns
        -------
        Diff

        Examples
        --------
        >>> table.diff(5, 6)
        Diff(people.lance: 5 to 6: different config)
        >>> table.diff(2, ("dev", 2)).is_identical
        True
        """
        from lance_explorer.changes.diff import diff

        return self._live.answer(lambda view: diff(*_kept(view, a), *_kept(view, b)))

    def merge_preview(
        self, branch: VersionRef, key: str | Sequence[str] | None = None
    ) -> "MergePreview":
        """Return what merging another branch into this one would change: nothing is merged.

        Rows that only that branch changed since the fork would be written; rows that both changed
        differently are in conflict, cell by cell. Nothing is read yet except whether both exist.

        Parameters
        ----------
        branch : int, str, date, datetime, tuple or Snapshot
            The branch, ``"main"`` for the main branch; or a version of one, as :meth:`at` takes it:
            ``("dev", 5)`` or ``"dev@5"``.
        key : str or sequence of str, optional
            Columns that identify a row. By default rows are matched by what they were at the fork,
            so rows that both sides inserted since are different rows.

        Returns
        -------
        MergePreview

        Raises
        ------
        RefNotFoundError
            If there is no such branch.

        Examples
        --------
        >>> table.merge_preview("dev").summary()["conflicts"].item()
        0
        """
        from lance_explorer.changes.merge import merge_preview

        return self._live.answer(lambda view: merge_preview(view, branch, key))

    def plan_revert(
        self,
        version: VersionRef,
        *,
        key: str | Sequence[str] | None = None,
        on_conflict: "OnConflict" = "keep",
        author: str | None = None,
        reason: str | None = None,
    ) -> "Plan":
        """Return a plan that undoes one commit, and keeps what came after, like git revert.

        Nothing is written: :meth:`Plan.save` gives a script for its reader to run. The latest
        commit is undone by restoring the version before; for an earlier one, values are written
        back in place, rows that it inserted are deleted, and rows that it deleted are appended.

        Parameters
        ----------
        version : int, str, date, datetime, tuple or Snapshot
            The version that the commit made, as :meth:`at` takes it.
        key : str or sequence of str, optional
            Columns that identify a row, for tables without stable row IDs and for rows that were
            deleted and inserted again; by default the primary key of the schema, if it has one.
        on_conflict : {"keep", "overwrite"}
            What becomes of cells that were changed again since: they stay, or are put back, too.
        author, reason : str, optional
            What the commit will say; by default who runs the script, and what it undoes.

        Returns
        -------
        Plan

        Raises
        ------
        VersionNotFoundError
            If the version, or the one before it, is not kept.

        Examples
        --------
        >>> table.plan_revert(4)
        Plan(people.lance: Undo version 4 with 1 commit: append 1 row.)
        """
        from lance_explorer.plans.making import revert_plan

        return self._live.answer(
            lambda view: revert_plan(view, version, key, on_conflict, author, reason)
        )

    def plan_restore_rows(
        self,
        where: str,
        at: VersionRef,
        *,
        key: str | Sequence[str] | None = None,
        author: str | None = None,
        reason: str | None = None,
    ) -> "Plan":
        """Return a plan that puts rows back as they were in a version, including deleted rows.

        Parameters
        ----------
        where : str
            Which rows, as a filter of pylance such as ``"id = 42"``, on the values that they had
            then.
        at : int, str, date, datetime, tuple or Snapshot
            The version that they are to be as in.
        key : str or sequence of str, optional
            As for :meth:`plan_revert`.
        author, reason : str, optional
            As for :meth:`plan_revert`.

        Returns
        -------
        Plan

        Examples
        --------
        >>> table.plan_restore_rows("id = 2", at=3).steps[0].words
        'Append 1 row.'
        """
        from lance_explorer.plans.making import restore_rows_plan

        asked = a_text("where", where)
        return self._live.answer(
            lambda view: restore_rows_plan(view, asked, at, key, author, reason)
        )

    def plan_recovery(
        self, depth: Depth = "deep", *, author: str | None = None, reason: str | None = None
    ) -> "Plan":
        """Return a plan that repairs what :meth:`damage` finds.

        An undamaged version with the same rows is restored. Otherwise damaged fragments are rebuilt
        from undamaged files of this version and of others; what is nowhere else is left out, and
        :meth:`Plan.losses` says how much that is. Damaged indices are built again.

        Parameters
        ----------
        depth : {"quick", "deep", "values"}
            How files are checked, as in :meth:`damage`.
        author, reason : str, optional
            As for :meth:`plan_revert`.

        Returns
        -------
        Plan

        Examples
        --------
        >>> table.plan_recovery()
        Plan(people.lance: Recover: no damaged file was found in 7 versions.)
        """
        from lance_explorer.plans.making import recovery_plan

        return self._live.answer(lambda view: recovery_plan(view, depth, author, reason))

    @documented(DERIVATIONS)
    def derivations(self, version: VersionRef | None = None) -> pl.DataFrame:
        """Return what LanceDB derived in a version: computed columns, and the query of a view.

        ``num_rows_to_refresh`` counts rows that were inserted or updated after the version that the
        column was last computed from, as in the net changes of :meth:`changes`; all rows if it
        never was. It is null if that version is not kept, or the column was written in place since.

        Parameters
        ----------
        version : int, str, date, datetime, tuple or Snapshot, optional
            The version, as :meth:`at` takes it; the latest by default.

        Examples
        --------
        >>> table.derivations().is_empty()
        True
        """
        from lance_explorer.changes.derivations import derived

        ref = -1 if version is None else version
        return self._live.answer(lambda view: derived(*resolve(view, ref)))

    def compaction_lineage(
        self, version: VersionRef | None = None, include_undone: bool = False
    ) -> CompactionLineage | None:
        """Return which fragments became which in the compactions that led to a version.

        They come from the transactions of kept versions; from the config of the table, if they were
        recorded there (:mod:`lance_explorer.lineage.recording`); and from the fragment reuse index.
        Each entry names its source.

        Parameters
        ----------
        version : int, str, date, datetime, tuple or Snapshot, optional
            The version, as :meth:`at` takes it; the latest by default.
        include_undone : bool, default False
            Whether to include compactions that a later restore undid.

        Returns
        -------
        CompactionLineage or None
            ``entries``, newest first; ``max_entries``, how many the config keeps at most; and
            ``to_frame()``. None if no compaction is known, and no limit is set.

        Examples
        --------
        >>> table.compaction_lineage() is None
        True
        """
        from lance_explorer.lineage.compactions import compaction_lineage

        every = flag("include_undone", include_undone)
        return self._live.answer(
            lambda view: compaction_lineage(view, _optional(view, version), every)
        )

    def row(self, row_id: int, at: VersionRef | None = None) -> "Row":
        """Return one row, to get its history.

        Parameters
        ----------
        row_id : int
            The row ID; without stable row IDs, the address of the row: fragment ID << 32 | offset.
            An ID that was assigned to several rows, one after the other, means all of them; that
            happens after restores by releases up to 8.0.1, and after restores of detached versions.
        at : int, str, date, datetime, tuple or Snapshot, optional
            The version, as :meth:`at` takes it, in which the row has that address; by default the
            last one in which a live row has it.

        Examples
        --------
        >>> table.row(2).history().select("version", "event").rows()
        [(1, 'created'), (3, 'updated')]
        """
        from lance_explorer.lineage.row import Row

        return self._live.answer(lambda view: Row(view, row_id, _optional(view, at)))

    def find(
        self,
        where: str,
        deleted: bool = True,
        columns: str | Sequence[str] | None = None,
        limit: int = 100,
        max_bytes: int = 256 << 20,
    ) -> "Found":
        """Find rows by their values, live and deleted ones, in all kept versions, newest first.

        Each physical row is read once, however many versions share it, and only in the columns that
        the filter needs. The search ends when enough rows are found or enough bytes are read;
        :meth:`Found.go_on` continues it.

        A BTREE or BITMAP of the latest version is asked instead of its fragments, if every commit
        since it was built is kept and none moved or rewrote rows: then it finds what a scan finds.
        ``sentence`` names it. Other indices are not asked, since some lost rows.

        Parameters
        ----------
        where : str
            A filter as pylance takes it, such as ``"id = 42"``; or a word, which is looked for in
            all columns of text, and if it is a number, in those of whole numbers. Versions whose
            columns the filter does not fit are left out; :meth:`Found.findings` names them.
        deleted : bool
            Whether to look for rows that are not in the latest version any more, too, and for what
            rows were before they were updated.
        columns : str or sequence of str, optional
            The columns to return; all by default.
        limit : int, default 100
            How many rows to return at most, those that were there last.
        max_bytes : int, default 256 MiB
            How many bytes to read, until the search is interrupted.

        Returns
        -------
        Found
            ``to_polars()`` returns the rows, each with the versions in which it had these values
            and what ended that; ``sentence`` says how far the search went.

        Raises
        ------
        InvalidArgumentError
            If the filter is valid for no version, or no version has one of the columns.

        Examples
        --------
        >>> found = table.find("id = 2")
        >>> found
        Found('id = 2': 1 row found in versions 1 to 7.)
        >>> found.to_polars().select("last_version", "ended_as", "predicate", "id", "city").rows()
        [(3, 'deleted', 'id = 2', 2, 'city 2')]
        """
        from lance_explorer.lineage.find import find

        asked, is_wanted = a_text("where", where), flag("deleted", deleted)
        return self._live.answer(
            lambda view: find(view, asked, is_wanted, columns, limit, max_bytes)
        )

    def blame(
        self,
        where: str | None = None,
        columns: str | Sequence[str] | None = None,
        version: VersionRef | None = None,
        limit: int = 10_000,
    ) -> "Blame":
        """Return for each cell which commit last changed it, and its value before.

        Values are compared, so a commit that wrote a row without changing a cell is not blamed for
        the cell. A cell that never changed has the commit that created the row, or the column.
        Nested fields count if the version has them, under any earlier name, and a struct was
        created with the first of them.

        Parameters
        ----------
        where : str, optional
            Which rows, as a filter of pylance such as ``"id = 42"``; all by default.
        columns : str or sequence of str, optional
            Which columns; all by default, but for blobs.
        version : int, str, date, datetime, tuple or Snapshot, optional
            The version whose rows are looked at, as :meth:`at` takes it; the latest by default.
        limit : int, default 10000
            How many rows to look at; :meth:`Blame.go_on` looks at more.

        Returns
        -------
        Blame
            ``to_polars()`` has one row for each cell, ``commits()`` one for each commit.

        Examples
        --------
        >>> table.blame("id = 3", columns="city")
        Blame(1 cell of 1 row in version 7, last changed by 1 commit.)
        """
        from lance_explorer.lineage.blame import blame

        filter = None if where is None else a_text("where", where)
        return self._live.answer(
            lambda view: blame(view, filter, columns, _optional(view, version), limit)
        )

    def profile(
        self,
        columns: str | Sequence[str] | None = None,
        versions: Iterable[VersionRef] | None = None,
        max_bytes: int | None = None,
    ) -> "Profile":
        """Return what values columns have in each version, and which commits moved them.

        Versions share data files, so each value is read once, however many versions have it.
        Counts, minimum, maximum, mean and standard deviation are exact; quantiles, distinct and
        frequent values may not be, and then their error is given beside them. Columns have their
        names in the last of the versions, nested fields their paths; a renamed or cast column is
        one column.

        Parameters
        ----------
        columns : str or sequence of str, optional
            Which columns; all by default.
        versions : iterable of int, str, date, datetime, tuple or Snapshot, optional
            Which versions, each as :meth:`at` takes it; all kept ones by default.
        max_bytes : int, optional
            How many bytes to read, the newest versions first; :meth:`Profile.go_on` goes on from
            there. All by default.

        Returns
        -------
        Profile
            ``to_polars()`` has a line for each version and column, ``shifts()`` the commits that
            moved values furthest.

        Raises
        ------
        InvalidArgumentError
            If no version has one of the columns.

        Examples
        --------
        >>> profile = table.profile("id")
        >>> profile.to_polars().select("version", "num_rows", "mean").rows()[:2]
        [(1, 4, 2.5), (2, 6, 3.5)]
        """
        from lance_explorer.profiles import profile

        return self._live.answer(lambda view: profile(view, columns, versions, max_bytes))

    @documented(FOLLOWED)
    def follow(
        self,
        ids: ArrayLike,
        begin_version: VersionRef | None = None,
        end_version: VersionRef | None = None,
    ) -> pl.DataFrame:
        """Return what happened to many rows: one row for each ID and event, in input order.

        Parameters
        ----------
        ids : array_like
            Row IDs; without stable row IDs, row addresses in ``begin_version``, or in
            ``end_version`` if no ``begin_version`` is given. An ID that is given twice is followed
            once.
        begin_version : int, str, date, datetime, tuple or Snapshot, optional
            Events after this version; by default from the beginning.
        end_version : int, str, date, datetime, tuple or Snapshot, optional
            Events up to this version; by default the latest.

        Raises
        ------
        InvalidArgumentError
            If ``begin_version`` is the later one.

        Examples
        --------
        >>> table.follow([1, 2], begin_version=1).select("_rowid", "version", "event").rows()
        [(1, 4, 'deleted'), (2, 3, 'updated')]
        """
        from lance_explorer.lineage.following import follow

        return self._live.answer(
            lambda view: follow(
                view,
                ids,
                _optional(view, begin_version, is_begin=True),
                _optional(view, end_version),
            )
        )

    @documented(FOLLOWED_ADDRESSES)
    def follow_addresses(
        self,
        addresses: ArrayLike,
        begin_version: VersionRef | None = None,
        end_version: VersionRef | None = None,
    ) -> pl.DataFrame:
        """Return where the rows at some addresses are later, or were earlier; one row for each.

        ``outcome`` says what happened to each: ``live``, ``deleted``, ``overwritten`` and so on.
        Without stable row IDs it is unknown which of the rows that a merge removed became which of
        those it wrote: their outcome is ``updated_or_deleted``, backwards ``created_or_updated``;
        if the merge certainly deleted none, or inserted none, it is ``updated``.

        Parameters
        ----------
        addresses : array_like
            Row addresses in ``begin_version``: fragment ID << 32 | offset.
        begin_version : int, str, date, datetime, tuple or Snapshot, optional
            The version in which the rows have these addresses; by default the first kept one.
        end_version : int, str, date, datetime, tuple or Snapshot, optional
            The version to follow to, which may be an earlier one; by default the latest.

        Examples
        --------
        >>> table.follow_addresses([1, 2]).select("outcome", "end_rowaddr").rows()
        [('deleted', None), ('live', 8589934592)]
        """
        from lance_explorer.lineage.follow_addresses import follow_addresses

        return self._live.answer(
            lambda view: follow_addresses(
                view,
                addresses,
                _optional(view, begin_version, is_begin=True),
                _optional(view, end_version),
            )
        )

    def lineage(self) -> "Lineage":
        """Return where the fragments came from, as a graph of all fragments that ever existed.

        For a branch, the graph includes the fragments of its parents up to the fork; for a clone,
        those of the cloned table, if it can be read.

        Returns
        -------
        Lineage
            ``graph``, a networkx.MultiDiGraph of the lives of fragments; ``fragments()`` and
            ``edges()``, the same as frames; methods that query and export it.

        Examples
        --------
        >>> table.lineage()
        Lineage(people.lance: 3 fragments, 1 edge)
        """
        from lance_explorer.lineage.graph import lineage

        return self._live.answer(lineage)

    def explore(self, view: str = "overview", *, follow: bool = True) -> "Explorer":
        """Return a widget that shows everything about the table in a notebook.

        While it is visible, it looks for new versions every few seconds in the background: what is
        shown does not move.

        Parameters
        ----------
        view : str
            The view to begin with: ``"overview"``, ``"log"``, ``"time_travel"``, ``"changes"``,
            ``"row"``, ``"lineage"``, ``"encodings"``, ``"indices"`` or ``"disk"``.
        follow : bool, default True
            Whether to look for new versions.

        Returns
        -------
        Explorer
            Its ``selection`` is what is selected in it, its ``frame()`` what it shows.

        Examples
        --------
        >>> explorer = table.explore(view="time_travel")
        >>> explorer
        Explorer(people.lance: time_travel)
        """
        return explorer_of(self, view, follow)

    def sql(self, query: str) -> pl.DataFrame:
        """Run one SELECT over the frames.

        Each frame of :attr:`inspect` is a table under its name, ``versions``, ``findings`` and
        ``gaps`` too; ``dataset`` is the rows of the latest version with ``_rowid``, ``_rowaddr``,
        ``_row_created_at_version`` and ``_row_last_updated_at_version``; ``changes`` is what each
        commit did to rows, without values (for values, use :meth:`changes`). Only the frames that
        the query names are built. A query reads nothing else: no file, no URL, no frame of the
        caller.

        Raises
        ------
        InvalidArgumentError
            If the query is not a SELECT, or reads anything else.

        Examples
        --------
        >>> table.sql("SELECT min(version) AS first FROM versions").item()
        1
        """
        names = [*FRAMES, _ROWS_FRAME, _CHANGES_FRAME]
        return self._live.answer(
            lambda view: run_query(query, names, lambda name: _frame(view, name))
        )

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        interactive: bool = False,
        max_bytes: int = 20_000_000,
    ) -> Path:
        """Write a report on the whole table to one HTML file; return its path.

        The page has figures and tables or, if it is interactive, the explorer; it needs no kernel
        and no network. If a part cannot be made, the page says why in its place. An existing file
        is replaced.

        Parameters
        ----------
        path : str or os.PathLike
            The file; its folder must exist.
        interactive : bool, default False
            Whether the page is the explorer as :meth:`explore` shows it: the slider over all
            versions, what each commit changed, and the lives of rows, with the first rows of each.
            What needs Python, such as filters, is disabled.
        max_bytes : int, default 20 million
            How large an interactive page may get, in bytes. The newest versions come first, and the
            page says what did not fit.

        Raises
        ------
        InvalidArgumentError
            If the folder does not exist, ``path`` is a folder, or ``max_bytes`` has no room for
            the script of the explorer and the list of versions.
        StorageError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     table.report(f"{folder}/people.html").name
        'people.html'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     page = table.report(f"{folder}/people.html", interactive=True)
        ...     page.stat().st_size < 1_000_000
        True
        """
        most = whole_number("max_bytes", max_bytes, 1)
        if flag("interactive", interactive):
            return write_recorded_page(Table(self._live.view), path, most)
        from lance_explorer.report import write_report

        return self._live.answer(lambda view: write_report(view, path))

    def refresh(self) -> "Table":
        """Look for new and removed versions and changed refs; return the table itself.

        Only what is new is read. Existing snapshots and frames do not change. If the table was
        dropped and recreated, this object is the new table from now on.

        Examples
        --------
        >>> table.refresh().latest.version
        7
        """
        self._live.refresh()
        return self

    @described
    def __repr__(self) -> str:
        from lance_explorer.display import gone_text, table_text

        try:
            return self._live.answer(table_text)
        except TableNotFoundError as error:
            return gone_text(self._view, error)

    def _repr_html_(self) -> str:
        return self._html()

    def _html(self, last: int | None = None) -> str:
        """Return the table as HTML, with a picture of all versions, or of the last so many."""
        from lance_explorer.display import gone_text, table_answer

        try:
            return self._live.answer(
                lambda view: table_answer(view, versions(view, last), last)
            ).html()
        except TableNotFoundError as error:
            return Answer(gone_text(self._view, error)).html()


def _kept(view: HistoryView, ref: VersionRef) -> BranchVersion:
    """Return a kept version; it may belong to another table."""
    resolved = resolve(view, ref, any_table=True)
    resolved.view.file(resolved.version)
    return resolved


def _optional(view: HistoryView, ref: VersionRef | None, *, is_begin: bool = False) -> int | None:
    return None if ref is None else version_number(view, ref, is_begin=is_begin)


def _frame(view: HistoryView, name: str) -> pl.DataFrame | pl.LazyFrame:
    if name == _CHANGES_FRAME:
        from lance_explorer.changes.change_feed import changes

        return changes(view, 0, mode="per_commit", images=None).to_polars()
    latest = view.latest_version
    return Snapshot(view, latest).scan() if name == _ROWS_FRAME else frame(view, name)
