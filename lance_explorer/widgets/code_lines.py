"""Python code that gives what a view shows, for a person to continue with."""

from collections.abc import Sequence

import polars as pl

from lance_explorer.answers.calls import call, literal, options_lines
from lance_explorer.database import Database
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.table import Table
from lance_explorer.widgets.arranging import Sort, read_filter

__all__ = ["arranged_code", "database_code", "dataset_code", "opening_code", "scanned_code"]

_IMPORTS = {
    "pl.": "import polars as pl",
    "FrameTable(": "from lance_explorer.widgets.frame_table import FrameTable",
    "ExplorerState(": "from lance_explorer.widgets.state import ExplorerState",
}
"""The imports that code needs if it contains such a name."""


def opening_code(table: Table, code: str) -> str:
    """Return code with the lines before it that it needs: imports, and opening the table.

    Keys and passwords are never included: storage options are listed by name only. What calls
    pylance opens the table by it.
    """
    if code.startswith("dataset."):
        return dataset_code(table, code)
    imports = [line for name, line in _IMPORTS.items() if name in code]
    arguments = [literal(table._view.uri_to_open)]
    if table.branch is not None:
        arguments.append(f"branch={literal(table.branch)}")
    lines = options_lines(table._view.main_storage.options, arguments)
    allowed = table._view.main_storage.bases.allowed
    if allowed:
        arguments.append(f"allow_bases={literal([*allowed])}")
    lines.append(f"table = lx.open_table({', '.join(arguments)})")
    return "\n".join(["import lance_explorer as lx", *imports, "", *lines, code])


def database_code(database: Database, code: str) -> str:
    """Return code with the lines before it that open the database.

    Examples
    --------
    >>> print(database_code(database, "database.tables()"))
    import lance_explorer as lx
    <BLANKLINE>
    database = lx.open_database("...")
    database.tables()
    """
    members = database._members
    arguments = [literal(members.uri) if members.is_folder else "namespace"]
    lines = options_lines(members.storage_options, arguments)
    if not members.is_folder:
        lines.append("namespace = ...  # fill in the namespace that you opened")
    if allowed := next((one.allow_bases for one in members.tables if one.allow_bases), ()):
        arguments.append(f"allow_bases={literal([*allowed])}")
    lines.append(f"database = lx.open_database({', '.join(arguments)})")
    return "\n".join(["import lance_explorer as lx", "", *lines, code])


def dataset_code(table: Table, code: str) -> str:
    """Return code that calls pylance, with the imports that it needs.

    Examples
    --------
    >>> print(dataset_code(table, "dataset.optimize.compact_files()"))
    import lance
    <BLANKLINE>
    dataset = lance.dataset("...people.lance")
    dataset.optimize.compact_files()
    """
    imports = ["import lance"]
    if "timedelta(" in code:
        imports.insert(0, "from datetime import timedelta\n")
    arguments = [literal(table._view.uri_to_open)]
    lines = options_lines(table._view.main_storage.options, arguments)
    lines.append(f"dataset = lance.dataset({', '.join(arguments)})")
    return "\n".join([*imports, "", *lines, code])


def arranged_code(code: str, schema: pl.Schema, typed: str, sorts: Sequence[Sort] = ()) -> str:
    """Return code for a frame, with its rows filtered and sorted as they are shown."""
    if _is_text(typed, schema):
        state = call("ExplorerState", filter=typed)
        code = f"FrameTable({code}, state={state}).frame()"
    elif typed.strip():
        code = f"{code}.filter(pl.sql_expr({literal(typed)}))"
    if sorts:
        names = [sort.column for sort in sorts]
        down = [sort.descending for sort in sorts]
        code += f".sort({literal(names)}, descending={down}, nulls_last=True, maintain_order=True)"
    return code


def scanned_code(scan: str, schema: pl.Schema, typed: str, sorts: Sequence[Sort]) -> str:
    """Return code for a LazyFrame, which reads only rows that the filter leaves."""
    if _is_text(typed, schema):
        return arranged_code(f"{scan}.collect()", schema, typed, sorts)
    return f"{arranged_code(scan, schema, typed, sorts)}.collect()"


def _is_text(typed: str, schema: pl.Schema) -> bool:
    try:
        return bool(typed.strip()) and read_filter(typed, schema).expression is None
    except InvalidArgumentError:
        return False  # the code fails as the table does
