"""Whether a key is unique, as its owner says."""

from collections.abc import Iterator, Sequence

from lance_explorer.findings import Cause, Finding, Subject
from lance_explorer.frames.sizes import counted
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.duplicates import duplicates

__all__ = ["key_findings"]


def key_findings(view: HistoryView, key: Sequence[str]) -> Iterator[Finding]:
    """Yield a finding if rows of the latest version share a key, and one if keys are null."""
    answer = duplicates(view, key)
    subject, version = Subject("column", ", ".join(answer.key)), answer.version
    if answer.num_keys:
        yield Finding(
            "duplicate_keys",
            answer.sentence.partition(", beside")[0].removesuffix("."),
            subject=subject,
            versions=(version, version),
            since=answer.since,
            causes=tuple([Cause(cause) for cause in answer.causes]),
            rows=answer.num_rows,
            columns=answer.key,
        )
    if answer.num_null_rows:
        yield Finding(
            "null_keys",
            f"{counted(answer.num_null_rows, 'row')} of version {version} have no "
            f"{', '.join(answer.key)}",
            subject=subject,
            versions=(version, version),
            rows=answer.num_null_rows,
            columns=answer.key,
        )
