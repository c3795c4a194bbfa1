"""What is asked of stored tables: checks, each in the module of tests that it belongs to.

A check is a function with the decorator ``stored_check``. It takes one stored table, or one branch
of one, and asserts one fact that holds for all of them. ``tests/test_stored_tables.py`` opens each
table once and asks all checks.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import lance
from propcache.api import cached_property

from lance_explorer import Table
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.graph import Lineage, lineage
from tests.sampling import DATA, StoredTable

__all__ = [
    "Asked",
    "Check",
    "all_checks",
    "has_row_ids",
    "is_main",
    "parts_of",
    "stored_check",
]

_TESTS = Path(__file__).parent
_CHECKS = dict[str, "Check"]()


@dataclass(frozen=True, eq=False)
class Asked:
    """A stored table, or a branch of one; what is opened or read of it is kept.

    Checks run in the folder of the release, where some tables look for what they are based on.
    """

    stored: StoredTable
    root: Path
    """The folder of the table or branch."""
    scratch: Path
    """A folder for what a check writes."""
    _datasets: dict[int | None, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.root.relative_to(DATA).as_posix()

    @property
    def release(self) -> str:
        """The release of pylance that wrote it."""
        return self.stored.release

    @property
    def scenario(self) -> str:
        """What it shows."""
        return self.stored.scenario

    @cached_property
    def view(self) -> HistoryView:
        """What our functions read it through."""
        return HistoryView.open(str(self.root))

    @cached_property
    def table(self) -> Table:
        """The table as users open it."""
        return Table(self.view)

    @cached_property
    def lineage(self) -> Lineage:
        """The graph of its fragments."""
        return lineage(self.view)

    @cached_property
    def versions(self) -> list[int]:
        """The kept versions."""
        return [int(version) for version in self.view.history.versions]

    def dataset(self, version: int | None = None) -> Any:
        """Return a version, by default the latest, as pylance opens it."""
        if version not in self._datasets:
            self._datasets[version] = lance.dataset(self.root, version=version)
        return self._datasets[version]


class Check(NamedTuple):
    """A fact that holds for all stored tables that it ``applies`` to."""

    name: str
    ask: Callable[[Asked], None]
    applies: Callable[[Asked], bool]


def stored_check(
    applies: Callable[[Asked], bool] = lambda _: True,
) -> Callable[[Callable[[Asked], None]], Callable[[Asked], None]]:
    """Have a function called with every stored table and branch that it applies to."""

    def added(ask: Callable[[Asked], None]) -> Callable[[Asked], None]:
        name = f"{ask.__module__.removeprefix('tests.')}.{ask.__name__}"
        _CHECKS[name] = Check(name, ask, applies)
        return ask

    return added


def is_main(asked: Asked) -> bool:
    """Tell whether it is a whole table, not a branch."""
    return asked.root == asked.stored.root


def is_branch(asked: Asked) -> bool:
    """Tell whether it is a branch, not the main one."""
    return not is_main(asked)


def has_row_ids(asked: Asked) -> bool:
    """Tell whether its rows have stable row IDs."""
    return asked.view.version(asked.view.latest_version).records[0].manifest.next_row_id > 0


def all_checks() -> list[Check]:
    """Return the checks of all modules, by name."""
    for file in sorted(_TESTS.rglob("test_*.py")):
        if "\n@stored_check(" in file.read_text():
            importlib.import_module(".".join(file.relative_to(_TESTS.parent).with_suffix("").parts))
    return [_CHECKS[name] for name in sorted(_CHECKS)]


def parts_of(table: StoredTable) -> list[Path]:
    """Return the folders of a table and of its branches."""
    return [table.root, *sorted(path.parent for path in table.root.glob("tree/**/_versions"))]
