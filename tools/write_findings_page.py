"""Write docs/FINDINGS.md: all kinds of findings, as the package declares them.

With ``--check`` nothing is written, and the exit code is 1 if the page is not what it would be.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "FINDINGS.md"
sys.path.insert(0, str(ROOT))

HEAD = """<!-- written by make findings-page from lance_explorer/findings/catalogue.py -->

# Findings

What `table.check()` and `lance-explorer check` can find, by code: what it means, and what to do. A
finding also names its subject, the versions concerned, what may have done it, and, where it is
known, the bug of the release that wrote them. `table.health()` shows findings in sentences; the
frame of `table.check()` has a column for each part:

```python
table.check().filter(severity="error", subject_kind="fragment")
```

`error`: the table is damaged, or answers are wrong. `warning`: do what the remedy says. `info`:
worth knowing.
"""

TITLES = {
    "metadata": "Manifests, commits, references and ledgers",
    "row_ids": "Row IDs",
    "files": "Fragments and manifests as they are kept",
    "values": "Values and data files",
    "storage": "What lies in the folder",
    "indices": "Indices",
    None: "Any part",
}


def main() -> int:
    """Write the page, or check it."""
    written = page()
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == written:
        return 0
    if "--check" in sys.argv:
        print("docs/FINDINGS.md is not what the catalogue says: run `make findings-page`")
        return 1
    PAGE.write_text(written, encoding="utf-8")
    return 0


def page() -> str:
    """Return the page."""
    from lance_explorer.findings import KINDS

    parts = [HEAD]
    for topic, title in TITLES.items():
        parts.append(f"\n## {title}\n")
        parts += [_entry(code) for code, kind in KINDS.items() if kind.topic == topic]
    return "".join(parts)


def _entry(code: str) -> str:
    from lance_explorer.findings import KINDS, Finding

    kind = KINDS[code]
    milder = f"; {kind.milder[0]} if {kind.milder[1]}" if kind.milder else ""
    lines = [
        f"\n### `{code}`\n",
        f"**{kind.severity}**{milder}. {kind.means}\n",
        f"> {Finding(code, kind.example).sentence}\n",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
