"""The pages of the reference: one for each group of public names, with whole docstrings."""

import inspect
import re
from collections.abc import Iterator

from tools.docs.public_names import Group, Name, groups

__all__ = ["address_of", "reference_pages"]

FIRST = "Where to begin"
INDEX = """# Reference

What is public, from the docstrings: parameters, columns with units, errors that are special to a
call, and examples that are run as tests. Names are what examples call them:

```python
import lance_explorer as lx

table = lx.open_table("photos.lance")
snapshot, row, changes = table.at(7), table.row(42), table.changes(3, 9)
index, lineage, diff = snapshot.row_id_index(), table.lineage(), table.diff(3, 9)
```

What any call may raise is told once, in [Errors](errors.md).
"""


def reference_pages() -> Iterator[tuple[str, str, str]]:
    """Yield the title, the address and the Markdown of each page."""
    described = groups()
    yield FIRST, "reference/index.md", INDEX + "".join(_overview(group) for group in described)
    for group in described:
        yield group.title, address_of(group), _page(group)


def address_of(group: Group) -> str:
    """Return where the page of a group is."""
    return f"reference/{re.sub(r'[^a-z]+', '-', group.title.lower())}.md"


def _overview(group: Group) -> str:
    names = " · ".join(f"[`{name.path.rpartition('.')[2]}`][{name.source}]" for name in group.names)
    address = address_of(group).removeprefix("reference/")
    return f"\n**[{group.title}]({address})**\n\n{names}\n"


def _page(group: Group) -> str:
    named = {name.source for other in groups() for name in other.names}
    parts = [f"# {group.title}"]
    if group.about:
        options = ["show_root_heading: false", "show_signature: false", "toc_label: What it is"]
        if group.source in named:  # links lead to its own entry
            options.append("show_root_toc_entry: false")
        parts.append(_directive(group.source, *options))
    parts += ["| | |\n|---|---|\n" + "\n".join(_line(name) for name in group.names)]
    parts += [_entry(name) for name in group.names]
    return "\n\n".join(parts) + "\n"


def _line(name: Name) -> str:
    summary = name.summary.replace("|", "\\|")
    return f"| [`{name.path}`][{name.source}] | {summary} |"


def _entry(name: Name) -> str:
    called = callable(name.member) or inspect.isclass(name.member)
    heading = f"heading: {name.path}{'()' if inspect.isfunction(name.member) else ''}"
    label = f"toc_label: {name.path.rpartition('.')[2]}"
    return _directive(name.source, heading, label, f"show_signature: {str(called).lower()}")


def _directive(source: str, *options: str) -> str:
    lines = "\n".join(f"      {option}" for option in options)
    return f"::: {source}\n    options:\n{lines}"
