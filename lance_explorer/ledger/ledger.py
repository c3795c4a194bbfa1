"""A ledger: what is known of the past of tables, kept outside of them."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import astuple, replace
from datetime import datetime
from importlib.metadata import version as release_of
from typing import TYPE_CHECKING, Any

import polars as pl

from lance_explorer.above import table_of
from lance_explorer.arguments import flag, names, path, shown, text, whole_number
from lance_explorer.errors import (
    InvalidArgumentError,
    NotFoundError,
    TableNotFoundError,
)
from lance_explorer.frames.columns import BRANCH, BYTES, COUNT, ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.table_input import open_view, view_of
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.checksums import checksums_folder, record_checksums
from lance_explorer.ledger.forgetting import FORGOTTEN, forget_values
from lance_explorer.ledger.kinds import REFS
from lance_explorer.ledger.lives import Life
from lance_explorer.ledger.merging import forget_versions, merge_branch
from lance_explorer.ledger.places import Place, folder_name, folder_of
from lance_explorer.ledger.recorded_storage import NoStorage
from lance_explorer.ledger.recorded_table import RecordedTable
from lance_explorer.ledger.recording import Added, record_branch
from lance_explorer.ledger.segments import write_segment
from lance_explorer.ledger.value_recorder import ValuesKept, record_values
from lance_explorer.shown import described
from lance_explorer.storage import EXTERNAL_SCHEME, Options, open_storage
from lance_explorer.storage.secrets import hiding_arguments, without_secrets

if TYPE_CHECKING:
    from lance_explorer.table import Table

__all__ = [
    "ADDED",
    "RECORDED",
    "TABLES",
    "Ledger",
    "ledger_of",
    "not_found",
    "place_of",
    "record_and_merge",
    "recorded_row",
    "recorded_table",
]

ADDED = FrameSchema(
    "added",
    (
        Column("uri", TEXT, "root of the table"),
        BRANCH,
        Column("new_versions", COUNT, "versions that were added to the ledger", unit="versions"),
        Column("first_version", ID, "first one that was added; null if none", nullable=True),
        Column("last_version", ID, "last one that was added; null if none", nullable=True),
        Column("bytes_read", BYTES, "manifests that were read", unit="bytes"),
    ),
)
"""What was added to a ledger, a row for each branch."""

RECORDED = FrameSchema(
    "recorded",
    (
        *ADDED.columns,
        Column("kept_rows", COUNT, "rows whose former values were kept", unit="rows"),
        Column("kept_bytes", BYTES, "size of the files with them", unit="bytes"),
        Column("left_out_rows", COUNT, "rows that did not fit into `max_bytes`", unit="rows"),
        Column("lost_rows", COUNT, "rows of which a former value was gone", unit="rows"),
    ),
)

TABLES = FrameSchema(
    "tables",
    (
        Column("uri", TEXT, "root of the table"),
        BRANCH,
        Column("life", COUNT, "number of the table among those at this location, from 1"),
        Column("versions", COUNT, "recorded versions", unit="versions"),
        Column("first_version", ID, "first recorded version"),
        Column("last_version", ID, "last recorded version"),
        Column("first_commit", TIME, "when the first one was committed", nullable=True),
        Column("last_commit", TIME, "when the last one was committed", nullable=True),
        Column("last_recorded", TIME, "when anything new was recorded last"),
        Column("segments", COUNT, "recordings that were not merged yet", unit="segments"),
        Column("bytes", BYTES, "size of their files", unit="bytes"),
        Column("kept_bytes", BYTES, "size of the files of kept values, of all lives", unit="bytes"),
    ),
)

SEEN_REFS = FrameSchema("seen_refs", REFS.columns[:-2])


class Ledger:
    """A folder, or a prefix in an object store, that keeps the past of tables.

    It may hold many tables, and many processes may record into it and read it at the same time.
    Nothing is ever written to a table.

    Parameters
    ----------
    uri : str or os.PathLike
        A local path, or ``s3://``, ``gs://``, ``az://`` or ``abfss://``. It need not exist yet.
    storage_options : mapping of str to str, optional
        Address and credentials of the ledger's own store, under the names that pylance takes.

    Raises
    ------
    InvalidArgumentError
        If the URI has a scheme that is not supported, or an option cannot be used.

    Examples
    --------
    >>> ledger = lx.Ledger(folder / "ledger")
    >>> ledger.record(table.uri).select("branch", "new_versions").rows()
    [(None, 7), ('dev', 1)]
    >>> ledger.record(table.uri)["new_versions"].sum()
    0
    """

    @hiding_arguments
    def __init__(
        self,
        uri: str | os.PathLike[str],
        storage_options: Mapping[str, str] | None = None,
    ) -> None:
        options = None if storage_options is None else Options(storage_options)
        self._place = Place(path("uri", uri), options)

    @described
    def __repr__(self) -> str:
        return f"Ledger({self.uri!r})"

    @property
    def uri(self) -> str:
        """Where it lies."""
        return self._place.uri

    @hiding_arguments
    @documented(RECORDED)
    def record(
        self,
        table: Any,
        branch: str | None = None,
        storage_options: Mapping[str, str] | None = None,
        allow_bases: Iterable[str | os.PathLike[str]] = (),
        *,
        words: bool = True,
        checksums: bool = False,
        values: bool | Iterable[str] = False,
        max_bytes: int = 1 << 30,
        as_: str | os.PathLike[str] | None = None,
    ) -> pl.DataFrame:
        """Record the versions of a table that the ledger lacks; one row for each branch.

        What is recorded outlives a cleanup: versions and their transactions, fragments, row IDs and
        deleted rows, schemas, indices, tags and branches; all metadata, and with ``values`` what
        commits ended, too. Manifests are read once. An interrupted recording keeps what it wrote,
        and the next call continues.

        Parameters
        ----------
        table : str, os.PathLike, Table, lance.LanceDataset or lancedb table
            The table.
        branch : str, optional
            The one branch to record; ``"main"`` is the main branch. By default all of them.
        storage_options : mapping of str to str, optional
            Address and credentials of the table's store.
        allow_bases : iterable of str or os.PathLike
            Places outside the table from which its files may be read, as for ``open_table``.
        words : bool, default True
            Whether to keep what people wrote: predicates of deletes, messages of commits, and other
            properties of transactions. Names of columns, tags and branches are kept anyway.
        checksums : bool, default False
            Whether to read each data file that was not read so before, and keep digests of its
            columns. Then ``open_table(..., ledger=).check(depth="values")`` finds what changed in
            them since, which nothing in the format shows. Continues where it was interrupted.
        values : bool or iterable of str, default False
            Whether to keep the values that rows had before a commit wrote or removed them, or
            dropped their column; or of which columns, by any name that they had. True means all
            columns except blobs, which are kept if they are named. What is kept answers after a
            cleanup, too: :meth:`Table.changes`, :meth:`Row.history`, :meth:`Table.find`,
            :meth:`Table.blame` and plans need not know where a value was. Each commit is read once,
            as long as its files are there.
        max_bytes : int, default 1 GiB
            How many bytes of values to keep for each branch. A commit that ended more than what is
            left of them is left out, which ``left_out_rows`` tells; the next call tries again.
        as_ : str or os.PathLike, optional
            Where the table was recorded before it was moved, as :meth:`open` takes it: what is
            known of it is then known of the table at its new place, too.

        Examples
        --------
        >>> lx.Ledger(folder / "one").record(table, branch="dev")["last_version"].to_list()
        [2]
        """
        view = view_of(table)
        if view is None:
            view = open_view(table, None, storage_options, allow_bases)
        main = view.on_branch(None).refreshed()
        wanted: list[str | None] = [None, *main.refs.branches]
        if branch is not None:
            name = text("branch", branch)
            wanted = [None if name == "main" else name]
        keeps_words, takes_checksums = flag("words", words), flag("checksums", checksums)
        columns = values if isinstance(values, bool) else [*_columns(values)]
        most = whole_number("max_bytes", max_bytes)
        self._place.check_apart(main.uri)
        if as_ is not None:
            self._copy(self._named(path("as_", as_)), main.uri)
        recorded = self._record(main, wanted, words=keeps_words)
        kept = [ValuesKept()] * len(recorded)
        if columns is not False:
            asked = None if columns is True else columns
            kept = self._keep(main, recorded["branch"].to_list(), asked, most)
        kept_columns = [list(row) for row in zip(*map(astuple, kept), strict=True)] or [[]] * 4
        named = dict(zip(RECORDED.names[len(ADDED.names) :], kept_columns, strict=True))
        recorded = RECORDED.build(recorded.to_dict(as_series=False) | named)
        if takes_checksums:
            for each in wanted:
                with suppress(NotFoundError):
                    view = main.on_branch(each)
                    record_checksums(view, main.uri, self._place, folder_of(main.uri))
        return recorded

    def _keep(
        self,
        main: HistoryView,
        branches: Iterable[str | None],
        columns: list[str] | None,
        max_bytes: int,
    ) -> list[ValuesKept]:
        """Keep values of recorded branches."""
        known = self._table(main.uri)
        view, values_kept = main.with_recorded(known), list[ValuesKept]()
        for branch in branches:
            own = view.on_branch(branch)
            _ = own.history  # which identifies the table
            life, kept = known.chosen(branch), known.kept_values(branch)
            if life is None:
                values_kept.append(ValuesKept())
            else:
                values_kept.append(record_values(own, kept, life.digests, columns, max_bytes))
        return values_kept

    def _copy(self, table: RecordedTable, uri: str) -> None:
        """Register the recordings of a table for another place, too."""
        to = self._table(uri)
        if table.uri == uri:
            return
        for branch in table.branches():
            for segment in (one for life in table.lives(branch) for one in life.segments):
                frames = {"versions": segment.versions}
                frames |= {kind: segment.read(kind) for kind in segment.about.files}
                about = replace(segment.about, uri=uri, replaces=[])
                write_segment(self._place, to.folder(branch), frames, about)
            table.kept_values(branch).copy_to(to.folder(branch))

    def _record(
        self, main: HistoryView, branches: Iterable[str | None], *, words: bool
    ) -> pl.DataFrame:
        columns: dict[str, list[Any]] = {name: [] for name in ADDED.names}
        known = self._table(main.uri)
        for branch in branches:
            try:
                view = main.on_branch(branch)
            except NotFoundError:
                if branch not in main.refs.branches:
                    raise
                continue  # its name exists, but its versions do not
            row = record_and_merge(view, self._place, known, words=words)
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
        return ADDED.build(columns)

    @documented(TABLES)
    def tables(self) -> pl.DataFrame:
        """Return the recordings, one row for each branch of each table.

        A table that was dropped and created again at the same place has a row for each of them.

        Examples
        --------
        >>> ledger.tables().select("branch", "life", "first_version", "last_version").rows()
        [(None, 1, 1, 7), ('dev', 1, 2, 2)]
        """
        columns: dict[str, list[Any]] = {name: [] for name in TABLES.names}
        for table in self._tables():
            for branch in table.branches():
                sizes = {
                    one.name: one.size_bytes for one in self._place.files(table.folder(branch))
                }
                kept = sum([one.size_bytes for one in table.kept_values(branch).infos()])
                for number, life in enumerate(table.lives(branch), 1):
                    row = (table.uri, branch, number, *_facts(life, sizes), kept)
                    for name, value in zip(columns, row, strict=True):
                        columns[name].append(value)
        return TABLES.build(columns)

    @hiding_arguments
    @documented(SEEN_REFS)
    def refs(self, table: str | os.PathLike[str]) -> pl.DataFrame:
        """Return the targets of tags and branches, each time that they changed.

        Parameters
        ----------
        table : str or os.PathLike
            Its URI, or its name if only one recorded table has it.

        Examples
        --------
        >>> ledger.refs("people.lance").select("kind", "name", "version").rows()
        [('tag', 'clean', 4), ('branch', 'dev', 2)]
        """
        seen = self._named(path("table", table)).seen_refs()
        return seen.select(SEEN_REFS.names).sort(
            "seen_at", "kind", "name", descending=[False, True, False]
        )

    @hiding_arguments
    def open(self, table: str | os.PathLike[str], branch: str | None = None) -> "Table":
        """Open a table from the ledger alone: in its recorded state, even if it is gone.

        Parameters
        ----------
        table : str or os.PathLike
            Its URI, or its name if only one recorded table has it.
        branch : str, optional
            A branch of it; the main branch by default.

        Raises
        ------
        TableNotFoundError
            If no such table is recorded.
        InvalidArgumentError
            If several have the name.

        Examples
        --------
        >>> ledger.open("people.lance").versions()["operation"].head(2).to_list()
        ['Overwrite', 'Append']
        """
        known = self._named(path("table", table))
        name = None if branch is None else text("branch", branch)
        return table_of(HistoryView.open(NoStorage(known.uri, known.refs()), name, recorded=known))

    @hiding_arguments
    def compact(self, table: str | os.PathLike[str] | None = None) -> pl.DataFrame:
        """Merge all segments of a table, or of all tables, into one each; return :meth:`tables`.

        Recording merges by itself; this leaves as few files as possible. Merged segments stay for a
        day, for processes that are reading them.

        Parameters
        ----------
        table : str or os.PathLike, optional
            Its URI or name.

        Examples
        --------
        >>> ledger.compact()["segments"].to_list()
        [1, 1]
        """
        some = [*self._tables()] if table is None else [self._named(path("table", table))]
        for one in some:
            for branch in one.branches():
                merge_branch(one, branch, everything=True)
        return self.tables()

    @hiding_arguments
    def forget(self, table: str | os.PathLike[str], before: int | datetime | None = None) -> None:
        """Delete the recordings of a table, at once and for good.

        Versions that the table still keeps are recorded again by the next :meth:`record`.

        Parameters
        ----------
        table : str or os.PathLike
            Its URI, or its name if only one recorded table has it.
        before : int or datetime, optional
            Only of versions before this one, or that were committed before this time (UTC if it
            has no zone), on all branches; by default everything.

        Examples
        --------
        >>> mine = lx.Ledger(folder / "mine")
        >>> _ = mine.record(table)
        >>> mine.forget("people.lance", before=5)
        >>> mine.tables().select("branch", "first_version", "last_version").rows()
        [(None, 5, 7)]
        >>> mine.forget("people.lance")
        >>> len(mine.tables())
        0
        """
        known = self._named(path("table", table))
        if before is not None and not isinstance(before, datetime):
            before = whole_number("before", before)
        for branch in known.branches():
            folder = known.folder(branch)
            old = [info.name for info in self._place.files(folder)]
            kept = forget_versions(known.lives(branch), before, release_of("lance-explorer"))
            names = {name for one in kept for name in one.names}
            if before is None and branch is None:
                for info in self._place.files(f"{checksums_folder(folder)}/"):
                    self._place.delete(f"{checksums_folder(folder)}/{info.name}")
            for name in sorted(old, key=lambda name: not name.startswith("versions-")):
                if name not in names:
                    self._place.delete(f"{folder}/{name}")
            self._forget_values_of(known, branch, [one.versions for one in kept])

    def _forget_values_of(
        self, known: RecordedTable, branch: str | None, kept: Iterable[pl.DataFrame]
    ) -> None:
        """Forget the values that commits up to the first kept version had ended."""
        firsts = [frame.select("version", "sha256").row(0) for frame in kept]
        values = known.kept_values(branch)
        if not firsts:
            values.delete([info.name for info in values.infos()])
            return
        stays = {
            (version, digest)
            for frame in kept
            for version, digest in frame.select("version", "sha256").iter_rows()
        } - {*firsts}
        values.only(stays)

    @hiding_arguments
    @documented(FORGOTTEN)
    def forget_values(
        self,
        table: str | os.PathLike[str],
        where: str,
        storage_options: Mapping[str, str] | None = None,
    ) -> pl.DataFrame:
        """Forget the values of some rows, such as a person's, at once and for good.

        Values that were kept of the rows are removed on all branches, also where an earlier or
        later value of the same row does not match; what commits say of them, in predicates,
        messages and properties; and all that the cache of this computer has of the table. The table
        is not written to: delete the rows there, clean up, and :meth:`record` that before.

        Parameters
        ----------
        table : str or os.PathLike
            Its URI, or its name if only one recorded table has it.
        where : str
            Which rows, as an SQL expression such as ``"email = 'a@b.org'"``.
        storage_options : mapping of str to str, optional
            Address and credentials of the table's store, to report where the rows still are.

        Returns
        -------
        polars.DataFrame
            What was removed, where such rows still are, and what could not be searched.

        Raises
        ------
        TableNotFoundError
            If no such table is recorded.
        InvalidArgumentError
            If the filter fits no version.

        Examples
        --------
        >>> mine = lx.Ledger(folder / "personal")
        >>> mine.record(table, values=True)["kept_rows"].sum()
        2
        >>> told = mine.forget_values("people.lance", "id = 3")
        >>> told.filter(what="removed").select("first_version", "num_rows", "statement").rows()
        [(3, 1, 'former values of 1 row, which commit 3 ended')]
        """
        known = self._named(path("table", table))
        if not (asked := text("where", where).strip()):
            raise InvalidArgumentError(
                "where is a filter such as \"email = 'a@b.org'\", and not empty"
            )
        options = None if storage_options is None else Options(storage_options)
        try:
            view = HistoryView.open(known.uri, None, options).with_recorded(
                own := self._table(known.uri)
            )
        except TableNotFoundError:
            view = HistoryView.open(NoStorage(known.uri, known.refs()), recorded=known)
            return forget_values(known, view, asked, is_there=False)
        return forget_values(own, view, asked, is_there=True)

    def _table(self, uri: str) -> RecordedTable:
        return RecordedTable(self._place, folder_of(uri), uri)

    def _tables(self, name: str = "") -> Iterator[RecordedTable]:
        """Yield the recordings, of all tables or those with a name."""
        begin = folder_name(name) if name else ""
        for folder in self._place.folders():
            if not folder.startswith(begin):
                continue
            uri = RecordedTable(self._place, folder, "").recorded_uri()
            if uri is not None:
                yield RecordedTable(self._place, folder, uri, is_alone=True)

    def _named(self, name: str) -> RecordedTable:
        if name.startswith(f"{EXTERNAL_SCHEME}://"):  # it is recorded only under the root
            name = open_storage(name).uri
        last = name.rstrip("/").rpartition("/")[2]
        same = list(self._tables(last)) if last else []
        named = [one for one in same if one.uri == name]
        named = named or [one for one in same if one.uri == open_storage(name).uri]
        named = named or [one for one in same if one.uri.rpartition("/")[2] == name]
        if not named:
            names = ", ".join(one.uri for one in self._tables()) or "nothing"
            shown = without_secrets(name)
            raise TableNotFoundError(
                f"no table {shown!r} is recorded in {self.uri}; it has {names}"
            )
        if len(named) > 1:
            uris = ", ".join(one.uri for one in named)
            raise InvalidArgumentError(
                f"{name!r} is the name of several tables; give one of {uris}"
            )
        return named[0]


def _columns(values: object) -> tuple[str, ...]:
    try:
        return names("values", values)
    except InvalidArgumentError:
        raise InvalidArgumentError(
            f"values is True, False or a list of names of columns, not {shown(values)}"
        ) from None


def record_and_merge(
    view: HistoryView, place: Place, table: RecordedTable, *, words: bool = True
) -> tuple[Any, ...]:
    """Record new versions of a branch, and merge segments if needed; return a row of ADDED."""
    branch = view.branch
    added = record_branch(view, place, table, release_of("lance-explorer"), words=words)
    if added.segments:
        table.forget(branch)
        merge_branch(table, branch)
    return recorded_row(view.uri, branch, added)


def recorded_row(uri: str, branch: str | None, added: Added) -> tuple[Any, ...]:
    """Return a row of ADDED."""
    line = [one for one in added.versions if one < FIRST_DETACHED]
    first, last = (min(line), max(line)) if line else (None, None)
    return uri, branch, len(added.versions), first, last, added.bytes_read


def _facts(life: Life, sizes: Mapping[str, int]) -> tuple[Any, ...]:
    line = life.log.versions.filter(pl.col("version") < FIRST_DETACHED)
    names = {name for one in life.segments for name in one.names}
    return (
        len(life.log.versions),
        line["version"].min(),
        line["version"].max(),
        line["committed_at"].min(),
        line["committed_at"].max(),
        datetime.fromisoformat(max(one.about.recorded_at for one in life.segments)),
        len(life.segments),
        sum(sizes.get(name, 0) for name in names),
    )


def place_of(ledger: Ledger) -> Place:
    """Return where a ledger lies."""
    return ledger._place


def recorded_table(ledger: Ledger, uri: str) -> RecordedTable:
    """Return what is recorded of the table with a URI."""
    return ledger._table(uri)


def not_found(ledger: Ledger, table: Any, error: TableNotFoundError) -> TableNotFoundError:
    """Return the error for a missing table, with what is recorded of it."""
    if not isinstance(table, (str, os.PathLike)):
        return error
    known = recorded_table(ledger, open_storage(path("table", table)).uri)
    if not known.branches():
        return error
    name = known.uri.rstrip("/").rpartition("/")[2]
    return TableNotFoundError(
        f"{error}; it was recorded in {ledger.uri}: ledger.open({name!r}) shows what it was"
    )


def ledger_of(ledger: Any) -> Ledger:
    """Return a ledger; its place is accepted, too."""
    return ledger if isinstance(ledger, Ledger) else Ledger(path("ledger", ledger))
