"""How commands open tables and databases: damage must not end a command."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from lance_explorer.history.discovery import is_table
from lance_explorer.table import open_table

if TYPE_CHECKING:
    from lance_explorer.database import Database

__all__ = ["database_at", "open_apart"]

open_apart = partial(open_table, values_apart=True)
"""Open a table whose values another process reads."""


def database_at(
    uri: str,
    of_a_table: Mapping[str, object],
    allow_bases: tuple[str, ...] = (),
    ledger: str | None = None,
) -> "Database | None":
    """Return the database at a place; None if that is a table.

    Parameters
    ----------
    uri : str
        The place.
    of_a_table : mapping of str to object
        Options by their names that only one table has, with what was given for them.
    allow_bases, ledger
        As for ``open_database``.

    Raises
    ------
    click.UsageError
        If it is a database and one of these options was given.
    """
    if is_table(uri):
        return None
    given = [name for name, value in of_a_table.items() if value]
    if given:
        raise click.UsageError(f"{given[0]} is for one table, and {uri} is a folder of tables")
    from lance_explorer.database import open_database

    return open_database(uri, allow_bases=allow_bases, ledger=ledger)
