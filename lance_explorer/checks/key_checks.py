"""Whether a key is unique, as its owner says."""

from collections.abc import Iterator, Sequence

from lance_explorer.findings import Cause, Finding, Subject
from lance_explorer.frames.sizes import counted
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.duplicates import duplicates

__all__ = ["key_findings"]


def key_findings(view: HistoryView, key: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding if rows of the latest version share a key, and one if keys are null."""
    found = duplicates(view, key)
    subject, version = Subject("column", ", ".join(found.key)), found.version
    if found.num_keys:
        yield Finding(
            "duplicate_keys",
            found.sentence.partition(", beside")[0].removesuffix("."),
            subject=subject,
            versions=(version, version),
            since=found.since,
            causes=tuple([Cause(cause) for cause in found.causes]),
            rows=found.num_rows,
            columns=found.key,
        )
    if found.num_null_rows:
        yield Finding(
            "null_keys",
            f"{counted(found.num_null_rows, 'row')} of version {version} have no "
            f"{', '.join(found.key)}",
            subject=subject,
            versions=(version, version),
            rows=found.num_null_rows,
            columns=found.key,
        )
