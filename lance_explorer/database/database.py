"""A database: many tables in one folder, bucket or namespace. It delegates to its tables."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import polars as pl

from lance_explorer.above import database_explorer_of
from lance_explorer.answers import Answer, Answering
from lance_explorer.arguments import check_choice, names, path, paths, shown, whole_number
from lance_explorer.arguments import text as a_text
from lance_explorer.checks.all_checks import check_findings
from lance_explorer.checks.depths import DEPTHS, Depth
from lance_explorer.database.cleanup import DatabaseCleanup
from lance_explorer.database.found import DatabaseFound
from lance_explorer.database.kept_looks import KeptLooks
from lance_explorer.database.look import TABLES, Look, in_order
from lance_explorer.database.looking import looks_of
from lance_explorer.database.members import Member, Members, members_of
from lance_explorer.database.moment import Moment, Verifications, locks_in, verify_all
from lance_explorer.database.other_files import OtherFiles, other_files
from lance_explorer.database.tables_answer import (
    DATABASE_CHECKS,
    DATABASE_LOG,
    database_findings,
    database_health,
    database_log_answer,
    tables_answer,
)
from lance_explorer.database.tags import tag_findings
from lance_explorer.database.usage import DatabaseUsage
from lance_explorer.errors import (
    InvalidArgumentError,
    LanceExplorerError,
    RefNotFoundError,
    TableNotFoundError,
)
from lance_explorer.findings import SEVERITIES, Finding, Severity
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import counted
from lance_explorer.history.progress import with_progress
from lance_explorer.history.version_refs import parsed_time
from lance_explorer.ledger.ledger import Ledger, ledger_of
from lance_explorer.shown import described
from lance_explorer.snapshot import Snapshot
from lance_explorer.storage import done_in_order
from lance_explorer.storage.opening import is_remote
from lance_explorer.storage.secrets import Options, hiding_arguments
from lance_explorer.table import Table

if TYPE_CHECKING:
    from lance_explorer.widgets.database import DatabaseExplorer

__all__ = ["Database", "open_database"]

_T = TypeVar("_T")

_FEW = 24
_MOST_WAITING = 8
"""Tables in an object store that are asked at once: some questions read values into memory."""


@hiding_arguments
def open_database(
    database: Any,
    storage_options: Mapping[str, str] | None = None,
    allow_bases: Iterable[str | os.PathLike[str]] = (),
    ledger: "Ledger | str | os.PathLike[str] | None" = None,
) -> "Database":
    """Open all tables of a folder, a bucket, a LanceDB connection or a namespace as one.

    Nothing is ever written. Tables are opened on first use; one that cannot be read is a line with
    the reason.

    Parameters
    ----------
    database : str, os.PathLike, lancedb connection or namespace
        Path or URI of a folder with tables anywhere below it; an opened LanceDB database; or a
        namespace, as ``lance_namespace.connect`` gives one. Links that lead out of the folder are
        not followed.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store, under the names that pylance takes.
    allow_bases : iterable of str or os.PathLike
        Places outside the tables from which their files may be read, as for :func:`open_table`.
    ledger : Ledger, str or os.PathLike, optional
        Where the tables were recorded.

    Returns
    -------
    Database

    Raises
    ------
    TableNotFoundError
        If there is no table.

    Examples
    --------
    >>> database = lx.open_database(database.uri)
    >>> database.names
    ['people']
    >>> database["people"].latest.num_rows
    9
    """
    options = None if storage_options is None else Options(storage_options)
    allowed = tuple(paths("allow_bases", allow_bases))
    known = ledger
    if known is not None and not isinstance(known, Ledger):
        known = path("ledger", known)
        ledger_of(known)  # wrong arguments raise at once
    return Database(lambda: members_of(database, options, allowed, known))


class Database(Answering):
    """Many tables as one.

    Made by :func:`open_database`. ``database["photos"]`` is a Table, and the names are those of the
    folders without ``.lance``, with a slash where one lies in a folder below. Tables are read once
    for all answers; :meth:`refresh` reads them again.

    Attributes
    ----------
    answer : Answer
        All tables, what hurts most first.

    Examples
    --------
    >>> database
    Database(db: 1 table)
    >>> [*database], "people" in database, len(database)
    (['people'], True, 1)
    """

    def __init__(self, find: Callable[[], Members]) -> None:
        self._find = find
        self._members = find()
        self._opened: dict[str, Table] = {}
        self._seen: list[Look] | None = None
        self._kept = KeptLooks(self._members.uri)

    # ------------------------------------------------------------------------------- its tables

    @property
    def uri(self) -> str:
        """Where it is."""
        return self._members.uri

    @property
    def name(self) -> str:
        """The last part of :attr:`uri`."""
        return self.uri.rstrip("/").rpartition("/")[2] or self.uri

    @property
    def names(self) -> list[str]:
        """The names of its tables, including those that cannot be read."""
        return [member.name for member in self._members.tables]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self._members.tables)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Table:
        table = self._opened.get(name)
        if table is None:
            table = self._opened[name] = self._member(name).open()
        return table

    @property
    def _subject(self) -> str:
        return self.name

    @described
    def __repr__(self) -> str:
        return f"Database({self.name}: {counted(len(self), 'table')})"

    @property
    def answer(self) -> Answer:
        """All tables, what hurts most first."""
        return tables_answer(self.tables(), self.disk_usage())

    @documented(TABLES)
    def tables(self) -> pl.DataFrame:
        """Return one row for each table, the most urgent first.

        First come tables that cannot be read, then order is by the worst finding, then by bytes
        besides the latest version.

        Examples
        --------
        >>> database.tables().select("name", "num_rows", "num_versions", "problem").rows()
        [('people', 9, 7, None)]
        """
        return in_order(self._looks)

    @property
    def tags(self) -> set[str]:
        """The tags of all tables that were read; none before."""
        return {tag for look in self._seen or [] for tag in look.tags}

    # ------------------------------------------------------------------------------ all of them

    def disk_usage(self) -> DatabaseUsage:
        """Return how much all tables take on disk, and why, including files that are in no table.

        Returns
        -------
        DatabaseUsage

        Examples
        --------
        >>> database.disk_usage().live_bytes < database.disk_usage().total_bytes
        True
        """
        return DatabaseUsage(self.name, self._looks, self._other_files())

    @documented(DATABASE_CHECKS)
    def check(self, depth: Depth = "quick", severity: Severity = "info") -> pl.DataFrame:
        """Return the findings of all tables, the most serious first.

        Parameters
        ----------
        depth : {"quick", "deep", "values"}
            How deep is looked, as in :meth:`Table.check`.
        severity : {"error", "warning", "info"}
            The least severity to return.

        Examples
        --------
        >>> database.check(severity="warning").height
        0
        """
        check_choice("severity", severity, SEVERITIES)
        worst = SEVERITIES[: SEVERITIES.index(severity) + 1]
        return database_findings([one for one in self._findings(depth) if one[1].severity in worst])

    def health(self, depth: Depth = "quick", severity: Severity = "info") -> Answer:
        """Return the same as an answer, table by table.

        Examples
        --------
        >>> database.health(severity="warning").sentence
        'Nothing of severity warning or worse was found in 1 table.'
        """
        check_choice("severity", severity, SEVERITIES)
        return database_health(self._findings(depth), len(self), depth, severity)

    @documented(DATABASE_LOG)
    def log(
        self,
        limit: int | None = 100,
        since: str | date | None = None,
        until: str | date | None = None,
        operation: str | Sequence[str] = (),
        text: str | None = None,
        column: str | None = None,
    ) -> pl.DataFrame:
        """Return the commits of all tables, one row each, newest first; each table is a lane.

        Parameters
        ----------
        limit : int or None, default 100
            How many commits to return at most, the newest; None is all.
        since, until : str, date or datetime, optional
            Only commits that were made at that time or later, or earlier, as :meth:`Table.log`
            takes them; no versions, which differ from table to table.
        operation, text, column
            Only some commits, as for :meth:`Table.log`.

        Examples
        --------
        >>> database.log(limit=2).select("table", "branch", "version").rows()
        [('people', 'dev', 2), ('people', None, 7)]
        """
        return self._log(limit, since, until, operation, text, column)[0]

    def log_answer(self, **filters: Any) -> Answer:
        """Return :meth:`log` as an answer, for the same arguments.

        Examples
        --------
        >>> database.log_answer(limit=3).sentence
        'The newest 3 commits of 1 table.'
        """
        return database_log_answer(*self._log(**filters), filters)

    def _log(
        self,
        limit: int | None = 100,
        since: str | date | None = None,
        until: str | date | None = None,
        operation: str | Sequence[str] = (),
        text: str | None = None,
        column: str | None = None,
    ) -> tuple[pl.DataFrame, dict[str, str]]:
        """Return the commits, and the reasons for tables that cannot be read completely."""
        number = None if limit is None else whole_number("limit", limit)
        begin, end = _time("since", since), _time("until", until)
        operations = names("operation", operation)
        wanted = None if text is None else a_text("text", text)
        name = None if column is None else a_text("column", column)

        def read(table: Table) -> tuple[pl.DataFrame, int]:
            frame = table.log(number, begin, end, operations, wanted, name)
            return frame, len(table._view.history.unreadable)

        answers = self._of_each(read, "Reading the logs")
        frames = list[pl.DataFrame]()
        problems = dict[str, str]()
        for lane, (table, one) in enumerate(answers.items()):
            if isinstance(one, LanceExplorerError):
                problems[table] = str(one)
                continue
            frame, left_out = one
            if left_out:
                problems[table] = f"{counted(left_out, 'version')} cannot be read"
            frames.append(
                frame.with_columns(lane=pl.lit(lane, pl.Int64)).select(
                    pl.lit(table).alias("table"), pl.all()
                )
            )
        every = pl.concat([DATABASE_LOG.polars_schema.to_frame(), *frames])
        every = every.sort("timestamp", descending=True, nulls_last=True, maintain_order=True)
        every = every if number is None else every.head(number)
        return DATABASE_LOG.build(every.to_dict()), problems

    def at(self, when: str | date) -> Moment:
        """Return all tables at one time.

        Parameters
        ----------
        when : str, date or datetime
            A time, ``"12:00"``, ``"yesterday 12:00"``, ``"3 hours ago"``, a day, which means its
            end, or a tag, all as for :meth:`Table.at`. A number is refused: versions differ from
            table to table.

        Examples
        --------
        >>> database.at("clean")["people"].version
        4
        """
        given: Any = when
        if not isinstance(given, str | date) or (isinstance(given, str) and _is_number(given)):
            raise InvalidArgumentError(
                f"when is a time, a day or a tag, not {shown(when)}: versions of tables have "
                "numbers of their own"
            )
        time = parsed_time(when)  # once: words such as "a minute ago" mean one time for all tables
        meant = when if time is None or when in self.tags else time
        answers = self._of_each(lambda table: table.at(meant), "Reading versions")
        return Moment(self.name, self.uri, str(when), answers)

    def lock(self, when: str | date | None = None) -> str:
        """Return what identifies the versions of all tables, as a text to keep in a file.

        Parameters
        ----------
        when : str, date or datetime, optional
            As for :meth:`at`; by default the latest version of each.

        Examples
        --------
        >>> print(database.lock())
        {
          "lance_explorer_locks": 1,
          "database": "...",
          "tables": {
            "people": {
              "lance_explorer_lock": 1,
        ...
        """
        if when is not None:
            return self.at(when).lock()
        answers: dict[str, Snapshot | LanceExplorerError] = self._of_each(
            lambda table: table.refresh().latest, "Reading versions"
        )
        return Moment(self.name, self.uri, "now", answers).lock()

    def verify(self, lock: str | os.PathLike[str]) -> Verifications:
        """Return the state of the versions in a lock of many tables.

        Parameters
        ----------
        lock : str or os.PathLike
            The text that :meth:`lock` returned, or the path of a file that has it.

        Examples
        --------
        >>> bool(database.verify(database.lock()))
        True
        """
        locks = locks_in(lock)
        if locks is None:
            raise InvalidArgumentError(
                f"lock is {shown(lock)}: expected a path of the lock of many tables, or its text"
            )
        here = self._of_each(lambda table: table, "Opening tables")
        return verify_all(
            locks, {name: one for name, one in here.items() if isinstance(one, Table)}
        )

    def find(self, where: str, limit: int = 100, max_bytes: int = 256 << 20) -> DatabaseFound:
        """Find rows by their values in all tables, live and deleted ones, in all kept versions.

        Parameters
        ----------
        where : str
            A filter or a word, as for :meth:`Table.find`. Tables that lack its columns are not
            searched, which the answer says.
        limit : int, default 100
            How many rows of each table to return at most.
        max_bytes : int, default 256 MiB
            How many bytes of each table to read.

        Examples
        --------
        >>> database.find("id = 2")
        DatabaseFound(..., 'id = 2': 1 row found in 1 table of 1.)
        """
        asked = a_text("where", where)
        most, most_bytes = whole_number("limit", limit), whole_number("max_bytes", max_bytes)
        answers = self._of_each(
            lambda table: table.find(asked, limit=most, max_bytes=most_bytes), "Searching tables"
        )
        return DatabaseFound(self.name, asked, answers)

    def cleanup_preview(
        self,
        older_than: timedelta | None = None,
        retain_versions: int | None = None,
        delete_unverified: bool = False,
    ) -> DatabaseCleanup:
        """Return what a cleanup of each table would free, with the calls; nothing is removed.

        Tables of the database that are clones of others are considered: calls that would break one
        are left out.

        Parameters
        ----------
        older_than, retain_versions, delete_unverified
            As for :meth:`Table.cleanup_preview`.

        Examples
        --------
        >>> preview = database.cleanup_preview(retain_versions=2)
        >>> preview.tables().select("name", "num_versions").rows()
        [('people', 3)]
        """
        clones = self._clones()
        answers = self._of_each(
            lambda table: table.cleanup_preview(
                older_than, retain_versions, delete_unverified, clones=clones.get(table.uri, [])
            ),
            "Looking what cleanups would remove",
        )
        members = {one.name: one for one in self._members.tables}
        return DatabaseCleanup(self.name, answers, members)

    def explore(self, view: str = "tables", *, follow: bool = True) -> "DatabaseExplorer":
        """Return a widget with all tables, to look at in a notebook; a click opens one of them.

        Parameters
        ----------
        view : {"tables", "log", "disk"}
            The view to begin with.
        follow : bool, default True
            Whether to look for new versions and tables.

        Returns
        -------
        DatabaseExplorer
            Its ``frame()`` is what it shows.

        Examples
        --------
        >>> database.explore()
        DatabaseExplorer(db: tables)
        """
        return database_explorer_of(self, view, follow)

    def refresh(self) -> "Database":
        """Look for new tables and new versions; return the database itself.

        Examples
        --------
        >>> database.refresh().names
        ['people']
        """
        self._members = self._find()
        self._opened = {}
        self._seen = None
        return self

    # --------------------------------------------------------------------------------- how

    @property
    def _looks(self) -> list[Look]:
        if self._seen is None:
            self._seen = looks_of(self._members.tables, self._kept)
        return self._seen

    def _member(self, name: str) -> Member:
        for member in self._members.tables:
            if member.name == name:
                return member
        like = get_close_matches(str(name), self.names, n=3)
        hint = f"; is it {' or '.join(like)}?" if like else ""
        raise TableNotFoundError(f"{self.name} has no table {shown(name)}{hint}")

    def _of_each(self, ask: Callable[[Table], _T], what: str) -> dict[str, _T | LanceExplorerError]:
        """Return the answer of each table, or why there is none; several are asked at once.

        Raises
        ------
        InvalidArgumentError, RefNotFoundError
            If no readable table accepts the question.
        """

        def asked(name: str) -> _T | LanceExplorerError:
            try:
                return ask(self[name])
            except LanceExplorerError as error:
                return error

        is_waiting = any(is_remote(member.uri) for member in self._members.tables)
        most = _MOST_WAITING if is_waiting else 1
        answers = done_in_order([(1, partial(asked, name)) for name in self], most, most)
        listed = with_progress(self.names, what, "tables", few=_FEW)
        by_name = dict(zip(listed, answers, strict=True))
        there = [one for one in by_name.values() if not isinstance(one, TableNotFoundError)]
        for kind in (InvalidArgumentError, RefNotFoundError):
            refused = [one for one in there if isinstance(one, kind)]
            if refused and len(refused) == len(there):
                raise refused[0]
        return by_name

    def _findings(self, depth: Depth) -> list[tuple[str, Finding]]:
        """Return the findings with their tables, the most serious first."""
        check_choice("depth", depth, DEPTHS)
        if depth == "quick":
            findings = [(look.name, one) for look in self._looks for one in look.findings]
            findings += [
                (look.name, _unreadable(look.problem)) for look in self._looks if look.problem
            ]
        else:
            findings = []
            asked = self._of_each(
                lambda table: table._live.answer(lambda view: check_findings(view, depth)),
                "Checking tables",
            )
            for name, one in asked.items():
                some = [_unreadable(str(one))] if isinstance(one, LanceExplorerError) else one
                findings += [(name, finding) for finding in some]
        findings += tag_findings(self._looks)
        return sorted(findings, key=lambda each: SEVERITIES.index(each[1].severity))

    def _other_files(self) -> OtherFiles:
        """Return the files of the folder that are in no table."""
        if not self._members.is_folder:
            return OtherFiles(0, 0)
        tables = [one.uri for one in self._members.tables]
        return other_files(self.uri, tables, self._members.storage_options)

    def _clones(self) -> dict[str, list[str]]:
        """Return the tables of the database that read the files of another one, by its URI."""
        sources: dict[str, list[str]] = {}
        for look in self._looks:
            for uri in look.bases:
                sources.setdefault(uri, []).append(look.uri)
        return sources


def _unreadable(problem: str) -> Finding:
    return Finding("unreadable_table", problem)


def _time(name: str, when: str | date | None) -> Any:
    """Return a time in the form that tables accept, the same for all tables."""
    if when is None:
        return None
    if parsed_time(when) is None:
        raise InvalidArgumentError(f"{name} is a time or a day, not {shown(when)}")
    is_day = isinstance(when, str) and len(when.strip().split(" ")) == 1
    return when if is_day else parsed_time(when)


def _is_number(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()
