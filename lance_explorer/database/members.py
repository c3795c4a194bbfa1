"""The tables of a database, and how each is opened.

A database is a folder or a bucket with tables anywhere below it, as LanceDB makes it, or a
namespace, which knows where each table is.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lance_explorer.answers.calls import literal, options_lines
from lance_explorer.arguments import path, shown
from lance_explorer.errors import InvalidArgumentError, StorageError, TableNotFoundError
from lance_explorer.history.discovery import places_below
from lance_explorer.history.table_input import package_of
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.ledger import Ledger
from lance_explorer.storage import NamespaceCommits, Options, open_storage
from lance_explorer.table import Table, open_table

__all__ = ["Member", "Members", "members_of"]

_ENDING = ".lance"
_NAMESPACE = "namespace://"
"""The beginning of the URI of a LanceDB connection that was made from a namespace."""

_PAGE = 1_000
_DEEPEST = 32
_LINK = "a link that leads out of the folder, to {}: open_table() opens that"


@dataclass(frozen=True, slots=True)
class Member:
    """A table of a database, which is opened on first use.

    Attributes
    ----------
    name : str
        Its name in the database.
    uri : str
        Its root.
    storage_options : Options or None
        How to reach its files.
    allow_bases : tuple of str
        Where it may lead to.
    ledger : Ledger, str or None
        Where it was recorded.
    problem : str or None
        Why it cannot be opened.
    commits : NamespaceCommits or None
        The source of its versions, if that is a namespace.
    """

    name: str
    uri: str
    storage_options: Options | None = None
    allow_bases: tuple[str, ...] = ()
    ledger: Ledger | str | None = None
    problem: str | None = None
    commits: NamespaceCommits | None = None

    @classmethod
    def of(cls, uri: str) -> "Member":
        """Return a table that is in no database, named by the last part of its URI."""
        return cls(_name("", uri), uri)

    @property
    def is_plain(self) -> bool:
        """Whether another process can open it, too."""
        return self.commits is None and not isinstance(self.ledger, Ledger)

    def dataset_code(self) -> tuple[list[str], str]:
        """Return lines to fill in, and then the call of pylance that opens the table.

        Examples
        --------
        >>> from lance_explorer.database.members import Member
        >>> Member("a", "s3://b/a.lance", Options({"aws_region": "eu"})).dataset_code()[1]
        'lance.dataset("s3://b/a.lance", storage_options=storage_options)'
        """
        arguments, lines = [literal(self.uri)], list[str]()
        if self.commits is not None:  # its versions are where the namespace says
            lines = ["namespace = ...  # fill in the namespace that you opened"]
            arguments = ["namespace_client=namespace", f"table_id={literal(self.commits.table_id)}"]
        lines += options_lines(self.storage_options, arguments)
        return lines, f"lance.dataset({', '.join(arguments)})"

    def open(self) -> Table:
        """Open the table.

        Raises
        ------
        LanceExplorerError
            If it cannot be opened.
        """
        if self.problem is not None:
            raise TableNotFoundError(self.problem)
        if self.commits is None:
            return open_table(
                self.uri,
                storage_options=self.storage_options,
                allow_bases=self.allow_bases,
                ledger=self.ledger,
                values_apart=True,
            )
        storage = open_storage(self.uri, self.storage_options, None, self.allow_bases)
        storage.commits = self.commits
        return Table(HistoryView.open(storage))


@dataclass(frozen=True, slots=True)
class Members:
    """The tables of a database.

    Attributes
    ----------
    uri : str
        What is shown as the place of the database.
    tables : list of Member
        They, by name.
    is_folder : bool
        Whether the database is a folder, so that all that lies in it is the database's.
    storage_options : Options or None
        How to reach the files, as given by the caller.
    """

    uri: str
    tables: list[Member]
    is_folder: bool
    storage_options: Options | None = None


def members_of(
    database: Any,
    storage_options: Mapping[str, str] | None = None,
    allow_bases: Iterable[str] = (),
    ledger: Ledger | str | None = None,
) -> Members:
    """Return the current tables of a database.

    Raises
    ------
    InvalidArgumentError
        If :func:`open_database` does not accept it.
    TableNotFoundError
        If there is no table.
    """
    options = None if storage_options is None else Options(storage_options)
    allowed = tuple(allow_bases)
    if isinstance(database, str | os.PathLike):
        return _of_folder(path("database", database), options, allowed, ledger)
    if package_of(database) == "lancedb" and hasattr(database, "namespace_client"):
        given = options or Options(getattr(database, "storage_options", None))
        if not database.uri.startswith(_NAMESPACE):
            return _of_folder(database.uri, given, allowed, ledger)
        return _of_namespace(database.namespace_client(), given, allowed, ledger)
    if hasattr(database, "list_tables") and hasattr(database, "describe_table"):
        return _of_namespace(database, options, allowed, ledger)
    raise InvalidArgumentError(
        f"database is {shown(database)}: expected a path, a URI, a lancedb connection or a "
        f"namespace, got {type(database).__name__}"
    )


def _of_folder(
    uri: str, options: Options | None, allowed: tuple[str, ...], ledger: Ledger | str | None
) -> Members:
    open_storage(uri, options, None, allowed)  # wrong places raise at once
    places = places_below(uri, options)
    tables = [
        Member(_name(place, table), table, options, allowed, ledger)
        for place, table in places.tables.items()
    ]
    for place, target in places.links.items():
        if place.endswith(_ENDING):
            member = Member(
                _name(place, place), f"{places.uri}/{place}", problem=_LINK.format(target)
            )
            tables.append(member)
    by_name = sorted(tables, key=lambda one: one.name)
    return Members(places.uri, by_name, is_folder=True, storage_options=options)


def _name(place: str, uri: str) -> str:
    """Return the name of a table by its path in the folder; of the folder itself, its last part."""
    return (place or uri.rstrip("/").rpartition("/")[2]).removesuffix(_ENDING)


def _of_namespace(
    client: Any, options: Options | None, allowed: tuple[str, ...], ledger: Ledger | str | None
) -> Members:
    called = f"namespace {type(client).__name__}"
    try:
        tables = [
            _of_id(client, one, options, allowed, ledger) for one in sorted(_table_ids(client))
        ]
    except Exception as error:  # namespaces raise whatever their service does
        raise StorageError(f"the {called} does not list its tables: {error}") from error
    if not tables:
        raise TableNotFoundError(f"the {called} has no table")
    return Members(called, tables, is_folder=False, storage_options=options)


def _table_ids(client: Any) -> Iterator[list[str]]:
    """Yield the IDs of all tables of a namespace, including nested namespaces."""
    from lance_namespace import ListNamespacesRequest, ListTablesRequest

    waiting: list[list[str]] = [[]]
    while waiting:
        parent = waiting.pop()
        for name in _pages(client.list_tables, ListTablesRequest, parent, "tables"):
            yield [*parent, name]
        try:
            below = [*_pages(client.list_namespaces, ListNamespacesRequest, parent, "namespaces")]
        except Exception:
            if parent:
                raise
            continue  # this one has no tables below it
        waiting += [[*parent, name] for name in below if len(parent) < _DEEPEST]


def _pages(
    ask: Callable[[Any], Any], request: Callable[..., Any], parent: list[str], what: str
) -> Iterator[str]:
    token: str | None = None
    while True:
        answer = ask(request(id=parent, limit=_PAGE, page_token=token))
        yield from getattr(answer, what)
        token = answer.page_token
        if not token:
            return


def _of_id(
    client: Any,
    table_id: list[str],
    options: Options | None,
    allowed: tuple[str, ...],
    ledger: Ledger | str | None,
) -> Member:
    """Return a table of a namespace; if the namespace cannot describe it, that is its problem."""
    from lance_namespace import DescribeTableRequest

    name = ".".join(table_id)
    try:
        described = client.describe_table(DescribeTableRequest(id=table_id))
        if not described.location:
            return Member(name, "", problem="the namespace does not say where it is")
        given = Options(described.storage_options) if described.storage_options else options
        commits = None
        if described.managed_versioning:
            uri = open_storage(described.location, given).uri
            commits = NamespaceCommits(client, table_id, uri)
    except Exception as error:  # noqa: BLE001 (namespaces raise whatever their service does)
        return Member(name, "", problem=f"the namespace does not say where it is: {error}")
    return Member(name, described.location, given, allowed, ledger, commits=commits)
