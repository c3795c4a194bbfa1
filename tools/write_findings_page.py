"""Write docs/FINDINGS.md, KNOWN_BUGS.md and METRICS.md, as the package declares what is in them.

With ``--check`` nothing is written, and the exit code is 1 if a page is not what it would be.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "FINDINGS.md"
BUGS = ROOT / "docs" / "KNOWN_BUGS.md"
METRICS = ROOT / "docs" / "METRICS.md"
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


HEAD_OF_BUGS = """<!-- written by make findings-page from lance_explorer/checks/known_bugs/ -->

# Known bugs

Bugs of releases of Lance that leave damage in tables, or make answers wrong. If `table.check()`
finds the damage of a bug, the finding names it in `known_bug`, with the version and the release
that caused it, and in `readers` the readers that answer wrongly. Each bug is found in a table that
such a release wrote, and in no table of the other releases that are tested here.
"""


HEAD_OF_METRICS = """<!-- written by make findings-page from lance_explorer/database/metrics.py -->

# Metrics

The numbers that `lance-explorer metrics` prints once, and `lance-explorer watch` again and again,
for Prometheus or as JSON (`pip install 'lance-explorer[metrics]'`):

```bash
lance-explorer metrics s3://bucket/db                                 # once, to standard output
lance-explorer watch s3://bucket/db --every 5m --port 9095            # http://127.0.0.1:9095/metrics
lance-explorer watch /data/db --textfile /var/lib/node/lance.prom     # for node_exporter
lance-explorer watch s3://bucket/db --column score --column embedding # with the values of columns
```

All are gauges. `database` is the folder, `table` the name of a table in it. Unknown numbers are
left out, and what did not change since the last look is not read again. A table that cannot be read
has `lance_table_readable` 0; a folder that cannot be listed has `lance_database_readable` 0, and
the watch goes on.

[A dashboard for Grafana](monitoring/dashboard.json) shows size, waste, growth, upkeep and findings;
[alert rules](monitoring/alerts.yml) tell of tables that cannot be read, have errors, were not
compacted for a week, or hold mostly old versions.

| metric | labels | meaning |
|---|---|---|
"""


def page_of_metrics() -> str:
    """Return the page of metrics."""
    from lance_explorer.database.metrics import METRICS as DECLARED

    rows = [
        f"| `{one.name}` | {', '.join(one.labels)} | {one.meaning.replace('|', '/')} |\n"
        for one in DECLARED
    ]
    return HEAD_OF_METRICS + "".join(rows)


def main() -> int:
    """Write the pages, or check them."""
    pages = {PAGE: page(), BUGS: page_of_bugs(), METRICS: page_of_metrics()}
    for file, written in pages.items():
        if file.exists() and file.read_text(encoding="utf-8") == written:
            continue
        if "--check" in sys.argv:
            print(f"docs/{file.name} is not what the package says: run `make findings-page`")
            return 1
        file.write_text(written, encoding="utf-8")
    return 0


def page_of_bugs() -> str:
    """Return the page of known bugs."""
    from lance_explorer.checks.known_bugs import KNOWN_BUGS

    parts = [HEAD_OF_BUGS]
    for bug in KNOWN_BUGS:
        codes = ", ".join([f"[`{code}`](FINDINGS.md#{code})" for code in bug.codes])
        parts.append(
            f"\n## {bug.name}\n\n"
            f"{bug.what[0].upper()}{bug.what[1:]}.\n\n"
            f"* releases: {bug.releases}\n"
            f"* who answers wrongly: {bug.readers}\n"
            f"* found as: {codes}\n"
            f"* what to do: {bug.remedy}\n"
        )
    return "".join(parts)


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
