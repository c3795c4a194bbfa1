"""The public names, by group: what the reference is made of, and what tests go through."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

__all__ = ["ROLE", "Group", "Name", "groups", "short_name"]

ROLE = re.compile(r":\w+:`~?(?P<target>[\w.]+)`")
"""How a docstring refers to another name."""


@dataclass(frozen=True, slots=True)
class Name:
    """A public name: where users find it, and what it stands for."""

    path: str
    member: Any

    @property
    def doc(self) -> str:
        """Its whole docstring; empty if it has none of its own."""
        return inspect.cleandoc(getattr(self._function, "__doc__", None) or "")

    @property
    def summary(self) -> str:
        """The first paragraph of its docstring, in one line."""
        words = " ".join(self.doc.partition("\n\n")[0].split())
        return ROLE.sub(lambda role: f"`{short_name(role['target'])}`", words).replace("``", "`")

    @property
    def source(self) -> str:
        """Module and qualified name of what it stands for."""
        return f"{self._function.__module__}.{self._function.__qualname__}"

    @property
    def _function(self) -> Any:
        """The function of a property; all others as they are."""
        return getattr(self.member, "fget", None) or getattr(self.member, "func", self.member)


@dataclass(frozen=True, slots=True)
class Group:
    """The names of one page, and what tells of all of them: their class, or a module."""

    title: str
    names: tuple[Name, ...]
    about: type | ModuleType | None = None

    @property
    def source(self) -> str:
        """Where what tells of all of them is defined."""
        if isinstance(self.about, type):
            return f"{self.about.__module__}.{self.about.__qualname__}"
        return self.about.__name__ if self.about else ""


def short_name(target: str) -> str:
    """Return a name with its class, if it has one, and without its module."""
    parts = target.split(".")
    first = next((at for at, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
    return ".".join(parts[first:])


def groups() -> list[Group]:
    """Return the public names by group."""
    import lance_explorer as lx
    from lance_explorer import errors
    from lance_explorer.changes.change_feed import Changes
    from lance_explorer.changes.diff import Diff
    from lance_explorer.changes.merge import MergePreview
    from lance_explorer.checks.damage import Damage
    from lance_explorer.checks.salvage import Salvage
    from lance_explorer.database.cleanup import DatabaseCleanup
    from lance_explorer.database.found import DatabaseFound
    from lance_explorer.database.moment import Moment, Verifications
    from lance_explorer.database.usage import DatabaseUsage
    from lance_explorer.disk.cleanup_preview import CleanupPreview
    from lance_explorer.disk.compaction_preview import CompactionPreview
    from lance_explorer.disk.usage import DiskUsage
    from lance_explorer.inspect.catalogue import Inspect
    from lance_explorer.lineage import recording
    from lance_explorer.lineage.blame import Blame
    from lance_explorer.lineage.find import Found
    from lance_explorer.lineage.graph import Lineage
    from lance_explorer.lineage.row import Row
    from lance_explorer.locks import Verification
    from lance_explorer.profiles.drift import Drift
    from lance_explorer.profiles.profile import Profile
    from lance_explorer.row_index import SnapshotRowIdIndex
    from lance_explorer.spark import types

    modules = {"demo", "errors", "figures", "spark", "widgets"}
    top = [Name(f"lx.{name}", getattr(lx, name)) for name in lx.__all__ if name not in modules]
    failures = [name for name in top if _is_error(name.member)]
    return [
        Group("Package", tuple(sorted(set(top) - set(failures), key=_rank))),
        _members("Table", "table", lx.Table),
        _members("Frames", "table.inspect", Inspect),
        _members("Snapshot", "snapshot", lx.Snapshot),
        _members("Row IDs of a snapshot", "index", SnapshotRowIdIndex),
        _members("Row", "row", Row),
        _members("Found rows", "found", Found),
        _members("Blame", "blame", Blame),
        _members("Changes", "changes", Changes),
        _members("Drift", "drift", Drift),
        _members("Profile", "profile", Profile),
        _members("Diff", "diff", Diff),
        _members("Preview of a merge", "preview", MergePreview),
        _members("Lineage", "lineage", Lineage),
        _members("Disk usage", "usage", DiskUsage),
        _members("Cleanup", "cleanup", CleanupPreview),
        _members("Compaction", "compaction", CompactionPreview),
        _members("Damage", "damage", Damage),
        _members("What is left of a table", "left", Salvage),
        _members("Verification", "verification", Verification),
        _members("Runs", "runs", lx.Runs),
        _members("Database", "database", lx.Database),
        _members("Disk usage of a database", "database_usage", DatabaseUsage),
        _members("Cleanup of a database", "database_cleanup", DatabaseCleanup),
        _members("Rows found in a database", "database_found", DatabaseFound),
        _members("All tables at one time", "moment", Moment),
        _members("Verification of many locks", "verifications", Verifications),
        _members("Ledger", "ledger", lx.Ledger),
        _public("Recording compactions", "recording", recording),
        _public("Widgets", "lx.widgets", lx.widgets),
        _public("Pictures", "lx.figures", lx.figures),
        _public("Spark", "lx.spark", lx.spark, about=types),
        _public("Sample tables", "lx.demo", lx.demo),
        Group("Errors", tuple(failures), errors),
    ]


def _rank(name: Name) -> tuple[bool, bool, str]:
    """Return what names of the package are ordered by: first what one begins with, last classes."""
    return name.path != "lx.open_table", isinstance(name.member, type), name.path


def _is_error(member: Any) -> bool:
    return isinstance(member, type) and issubclass(member, Exception)


def _public(title: str, path: str, module: ModuleType, about: ModuleType | None = None) -> Group:
    """Return what a module names as public and what can be called."""
    members = ((name, getattr(module, name)) for name in module.__all__)
    names = [Name(f"{path}.{name}", member) for name, member in members if callable(member)]
    return Group(title, tuple(names), about)


def _members(title: str, path: str, owner: type) -> Group:
    """Return the public methods and properties that a class defines, in their order."""

    def members() -> Iterator[Name]:
        for name, member in vars(owner).items():
            if name.startswith("_") or inspect.ismemberdescriptor(member):
                continue  # what a record holds, its own docstring tells
            if callable(member) or hasattr(member, "__doc__"):
                yield Name(f"{path}.{name}", member)

    return Group(title, tuple(members()), owner)
