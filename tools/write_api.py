"""Write docs/API.md: the public names, with what their docstrings say first.

With ``--check`` nothing is written, and the exit code is 1 if the page is not what it would be.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "API.md"
sys.path.insert(0, str(ROOT))

ROLE = re.compile(r":\w+:`(?:~?[\w.]+\.)?(\w+)`")

HEAD = """# The public names

What each name is, from its docstring; `help(name)` tells the rest: parameters, errors that are
special to it, and examples that are run as tests. Which errors any call may raise,
`help(lance_explorer.errors)` tells. This page is written by `make api`.
"""


@dataclass(frozen=True, slots=True)
class Name:
    """A public name: where it is found, what it stands for, and how it is called."""

    path: str
    member: Any
    signature: str

    @property
    def doc(self) -> str:
        """Its whole docstring; empty if it has none of its own."""
        member = self.member.fget if isinstance(self.member, property) else self.member
        return inspect.cleandoc(getattr(member, "__doc__", None) or "")

    @property
    def summary(self) -> str:
        """The first paragraph of its docstring, in one line."""
        words = " ".join(self.doc.partition("\n\n")[0].split())
        return ROLE.sub(r"`\1`", words).replace("``", "`")


def main() -> int:
    """Write the page, or check it."""
    page = api_page()
    if "--check" not in sys.argv:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page:
        return 0
    print("docs/API.md is not what the docstrings say: run `make api`")
    return 1


def api_page() -> str:
    """Return the page as Markdown."""
    parts = [HEAD]
    for title, names in groups().items():
        parts.append(f"## {title}\n")
        parts += [f"- **`{name.path}{name.signature}`** {name.summary}" for name in names]
        parts.append("")
    return "\n".join(parts)


def groups() -> dict[str, list[Name]]:
    """Return the public names by group."""
    import lance_explorer as lx
    from lance_explorer.changes.change_feed import Changes
    from lance_explorer.changes.diff import Diff
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
    from lance_explorer.row_index import SnapshotRowIdIndex

    modules = {"demo", "figures", "spark", "widgets"}
    top = [getattr(lx, name) for name in lx.__all__ if name not in modules]
    errors = [name for name in top if isinstance(name, type) and issubclass(name, Exception)]
    others = [name for name in top if name not in errors]
    return {
        "Top": [_name(f"lx.{member.__name__}", member) for member in others],
        "Table": [*_members("table", lx.Table)],
        "Frames": [*_members("table.inspect", Inspect)],
        "Snapshot": [*_members("snapshot", lx.Snapshot)],
        "Row IDs of a snapshot": [*_members("index", SnapshotRowIdIndex)],
        "Row": [*_members("row", Row)],
        "Found rows": [*_members("found", Found)],
        "Blame": [*_members("blame", Blame)],
        "Changes": [*_members("changes", Changes)],
        "Diff": [*_members("diff", Diff)],
        "Lineage": [*_members("lineage", Lineage)],
        "Disk usage": [*_members("usage", DiskUsage)],
        "Cleanup": [*_members("cleanup", CleanupPreview)],
        "Compaction": [*_members("compaction", CompactionPreview)],
        "Verification": [*_members("verification", Verification)],
        "Ledger": [*_members("ledger", lx.Ledger)],
        "Recording compactions": [*_public("recording", recording)],
        "Widgets": [*_public("lx.widgets", lx.widgets)],
        "Pictures": [*_public("lx.figures", lx.figures)],
        "Spark": [*_public("lx.spark", lx.spark)],
        "Sample tables": [*_public("lx.demo", lx.demo)],
        "Errors": [_name(f"lx.{error.__name__}", error) for error in errors],
    }


def _public(path: str, module: ModuleType) -> Iterator[Name]:
    """Return what a module names as public and what can be called."""
    for name in module.__all__:
        member = getattr(module, name)
        if callable(member):
            yield _name(f"{path}.{name}", member)


def _members(path: str, owner: type) -> Iterator[Name]:
    """Return the public methods and properties that a class defines, in their order."""
    for name, member in vars(owner).items():
        if name.startswith("_") or inspect.ismemberdescriptor(member):
            continue  # what a record holds, its own docstring tells
        if callable(member) or hasattr(member, "__doc__"):
            yield _name(f"{path}.{name}", member)


def _name(path: str, member: Any) -> Name:
    if inspect.isfunction(member):
        signature = inspect.signature(member)
        parameters = [p for name, p in signature.parameters.items() if name != "self"]
        plain = [p.replace(annotation=p.empty) for p in parameters]
        return Name(path, member, str(inspect.Signature(plain)))
    return Name(path, member, "")


if __name__ == "__main__":
    sys.exit(main())
