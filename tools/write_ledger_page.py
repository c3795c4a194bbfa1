"""Write the columns of a ledger's files into docs/LEDGER.md, as the package declares them.

With ``--check`` nothing is written, and the exit code is 1 if the page is not what it would be.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lance_explorer.frames.columns import FrameSchema

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "LEDGER.md"
BEGIN = "<!-- columns: written by make ledger-page -->\n"
END = "<!-- end of columns -->\n"
sys.path.insert(0, str(ROOT))


def main() -> int:
    """Write the page, or check it."""
    old = PAGE.read_text(encoding="utf-8")
    page = with_columns(old)
    if page == old:
        return 0
    if "--check" in sys.argv:
        print(
            "docs/LEDGER.md is not what lance_explorer/ledger/kinds.py says: run `make ledger-page`"
        )
        return 1
    PAGE.write_text(page, encoding="utf-8")
    return 0


def with_columns(page: str) -> str:
    """Return the page with the tables of columns as they are now."""
    from lance_explorer.ledger.kinds import CHECKSUMS, KEPT, KINDS

    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    tables = "\n".join([_table(schema) for schema in (*KINDS.values(), CHECKSUMS, KEPT)])
    return f"{before}{BEGIN}\n{tables}\n{END}{after}"


def _table(schema: "FrameSchema") -> str:
    lines = [
        f"### {schema.name}",
        "",
        "| column | type | may be null | meaning |",
        "|---|---|---|---|",
    ]
    for column in schema.columns:
        nullable = "yes" if column.nullable else ""
        unit = f" ({column.unit})" if column.unit else ""
        kind = str(column.dtype.base_type().__name__)
        lines.append(f"| `{column.name}` | {kind} | {nullable} | {column.meaning}{unit} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
