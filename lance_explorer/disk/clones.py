"""Other tables that read the files of a table, as far as they are given."""

import os
from collections.abc import Iterable
from typing import Any

from lance_explorer.arguments import many, shown
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.table_input import package_of, reopened, view_of
from lance_explorer.history.view import HistoryView

__all__ = ["opened_clones"]


def opened_clones(view: HistoryView, clones: Iterable[Any]) -> list[HistoryView]:
    """Return the clones of a table, opened with its storage options."""
    tables = many("clones", clones, object, "a list of tables")
    if not all(map(_is_table, tables)):
        raise InvalidArgumentError(f"clones is a list of tables, not {shown(clones)}")
    options = view.main_storage.options
    return [reopened(clone, options, [view.uri], view.storage.io) for clone in tables]


def _is_table(table: Any) -> bool:
    is_opened = package_of(table) in ("lance", "lancedb") or view_of(table) is not None
    return isinstance(table, str | os.PathLike) or is_opened
