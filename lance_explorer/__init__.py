"""Explore Lance tables: their versions, fragments, rows and lineage, in a notebook.

Examples
--------
>>> import lance_explorer as lx
>>> table = lx.open_table(table.uri)
>>> table.versions()["operation"].head(2).to_list()
['Overwrite', 'Append']
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lance_explorer import demo, figures, spark, widgets
    from lance_explorer.disk.conflicts import conflicts
    from lance_explorer.errors import (
        BudgetExceededError,
        CorruptFileError,
        FormatError,
        FragmentNotFoundError,
        InvalidArgumentError,
        LanceExplorerError,
        MissingDependencyError,
        NotFoundError,
        RefNotFoundError,
        RowNotFoundError,
        StorageError,
        TableNotFoundError,
        UnsupportedFeatureError,
        VersionNotFoundError,
    )
    from lance_explorer.findings import Finding
    from lance_explorer.ledger.cache import clear_cache
    from lance_explorer.ledger.ledger import Ledger
    from lance_explorer.locks import Verification, lock, verify
    from lance_explorer.snapshot import Snapshot
    from lance_explorer.table import Table, open_table

__all__ = [
    "BudgetExceededError",
    "CorruptFileError",
    "Finding",
    "FormatError",
    "FragmentNotFoundError",
    "InvalidArgumentError",
    "LanceExplorerError",
    "Ledger",
    "MissingDependencyError",
    "NotFoundError",
    "RefNotFoundError",
    "RowNotFoundError",
    "Snapshot",
    "StorageError",
    "Table",
    "TableNotFoundError",
    "UnsupportedFeatureError",
    "Verification",
    "VersionNotFoundError",
    "clear_cache",
    "conflicts",
    "demo",
    "figures",
    "lock",
    "open_table",
    "spark",
    "verify",
    "widgets",
]

_MODULES = {"demo", "figures", "spark", "widgets"}
_HOMES = {
    "Finding": "findings",
    "Ledger": "ledger.ledger",
    "Snapshot": "snapshot",
    "Table": "table",
    "Verification": "locks",
    "clear_cache": "ledger.cache",
    "conflicts": "disk.conflicts",
    "lock": "locks",
    "open_table": "table",
    "verify": "locks",
}


def __getattr__(name: str) -> Any:
    """Import what a public name stands for when it is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("lance-explorer")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'errors')}"), name)


def load_ipython_extension(shell: Any) -> None:
    """Add ``%lance`` and ``%%lance_sql``; IPython calls it for ``%load_ext lance_explorer``."""
    from lance_explorer.magics import add_magics

    add_magics(shell)


def __dir__() -> list[str]:
    return list(__all__)
