"""The commands ``%lance`` and ``%%lance_sql`` of a notebook: ``%load_ext lance_explorer``."""

import os
import shlex
from typing import Any

import polars as pl
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell

from lance_explorer.database import Database, open_database
from lance_explorer.history.discovery import is_table
from lance_explorer.table import Table, open_table
from lance_explorer.widgets.explorer import Explorer

__all__ = ["add_magics", "lance", "lance_sql"]

_LANCE_USAGE = "%lance TABLE [VIEW]: TABLE is a URI, or the name of a variable"
_SQL_USAGE = "%%lance_sql TABLE [NAME]: TABLE is a URI, or the name of a variable; SELECT below"


def add_magics(shell: InteractiveShell) -> None:
    """Add the commands to an IPython shell.

    Parameters
    ----------
    shell : IPython.core.interactiveshell.InteractiveShell
        The shell of the notebook.
    """

    def line_lance(line: str) -> Explorer | Database:
        return lance(shell.user_ns, line)

    def cell_lance_sql(line: str, cell: str) -> pl.DataFrame | None:
        return lance_sql(shell.user_ns, line, cell)

    line_lance.__doc__, cell_lance_sql.__doc__ = lance.__doc__, lance_sql.__doc__
    register = shell.magics_manager.register_function
    register(line_lance, magic_kind="line", magic_name="lance")
    register(cell_lance_sql, magic_kind="cell", magic_name="lance_sql")


def lance(names: dict[str, Any], line: str) -> Explorer | Database:
    """Open the explorer of a table: ``%lance TABLE [VIEW]``, or show a folder of tables.

    TABLE is the path or URI of a table, or the name of a variable that holds a Table or such a
    path; or a folder of tables, or a Database. VIEW is the first view to show, such as ``changes``
    or ``lineage``.
    """
    words = _words(line, _LANCE_USAGE)
    named = names.get(words[0], words[0])
    is_path = isinstance(named, str | os.PathLike)
    if isinstance(named, Database) or (is_path and not is_table(os.fspath(named))):
        if words[1:]:
            raise UsageError(f"{words[0]} has several tables, and no views. {_LANCE_USAGE}")
        return named if isinstance(named, Database) else open_database(named)
    return _table(names, words[0]).explore(*words[1:])


def lance_sql(names: dict[str, Any], line: str, cell: str) -> pl.DataFrame | None:
    """Run a SELECT over the frames of a table: ``%%lance_sql TABLE [NAME]``.

    TABLE is the path or URI of a table, or the name of a variable that holds a Table or such a
    path. With NAME, the frame is assigned to this variable instead of being shown.
    ``help(table.sql)`` lists what can be queried.
    """
    words = _words(line, _SQL_USAGE)
    if words[1:] and not words[1].isidentifier():
        raise UsageError(f"{words[1]!r} cannot be the name of a variable. {_SQL_USAGE}")
    frame = _table(names, words[0]).sql(cell)
    if not words[1:]:
        return frame
    names[words[1]] = frame
    return None


def _words(line: str, usage: str) -> list[str]:
    """Return the one or two words of a line."""
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"{error}. {usage}") from error
    if not 1 <= len(words) <= 2:
        raise UsageError(usage)
    return words


def _table(names: dict[str, Any], word: str) -> Table:
    """Return the table for a word: a variable is preferred to a path."""
    named = names.get(word, word)
    return named if isinstance(named, Table) else open_table(named)
