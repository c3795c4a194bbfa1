"""What a commit records about itself: its predicate and message, and its author, declared once.

Lance has no field for who made a commit. Writers put that into the properties of the transaction,
under names of their own; the last part of a name counts, as in ``etl.run_id``, ignoring case.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.format.row_operations import Delete
from lance_explorer.format.transactions import COMMIT_MESSAGE
from lance_explorer.frames.columns import TEXT, Column
from lance_explorer.frames.text import json_text
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView
from lance_explorer.shown import visible

__all__ = [
    "COMMIT_FACTS",
    "UNDELETED",
    "CommitFacts",
    "commit_facts",
    "facts_of_commit",
    "facts_of_records",
]

UNDELETED = "lance_explorer.undeleted"
"""The property of a commit with which a plan brought deleted rows back, as their file was lost."""

_NAMES = {
    "author": ("author", "user", "username", "user_name", "committer", "committed_by"),
    "job": ("job", "job_name", "job_id", "pipeline", "dag", "dag_id", "task", "app", "app_name"),
    "run": ("run", "run_id", "run_name", "job_run_id", "dag_run_id", "execution_id"),
}
"""Names of properties for the author of a commit; the first ones win."""

_NO_WORD = re.compile(r"[^a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")

COMMIT_FACTS = (
    Column("predicate", TEXT, "which rows the commit deleted, as SQL", nullable=True),
    Column("message", TEXT, "commit message", nullable=True),
    Column("author", TEXT, "who made it, if a property of the commit says so", nullable=True),
    Column("job", TEXT, "job that made it, likewise", nullable=True),
    Column("run", TEXT, "run of that job, likewise", nullable=True),
    Column("properties", TEXT, "properties of the commit as a JSON object", nullable=True),
)
"""The columns; all null if the transaction is lost or damaged, or records nothing."""


class CommitFacts(NamedTuple):
    """What a commit records, in the order of COMMIT_FACTS."""

    predicate: str | None = None
    message: str | None = None
    author: str | None = None
    job: str | None = None
    run: str | None = None
    properties: str | None = None


def facts_of_commit(record: VersionRecord, operation: object = None) -> CommitFacts:
    """Return what a commit says.

    Parameters
    ----------
    record : VersionRecord
        The version.
    operation : Operation, optional
        The operation of its transaction, with the predicate.
    """
    if record.transaction is None:
        return CommitFacts()
    header = record.transaction.header
    own = {key: value for key, value in header.properties if key != COMMIT_MESSAGE}
    who = {name: _first(own, names) for name, names in _NAMES.items()}
    predicate = operation.predicate if isinstance(operation, Delete) else None
    return CommitFacts(
        predicate=visible(predicate) if predicate else None,
        message=visible(header.message) if header.message else None,
        **{name: visible(value) if value else None for name, value in who.items()},
        properties=json_text(own) if own else None,
    )


def commit_facts(view: HistoryView, record: VersionRecord) -> CommitFacts:
    """Return what a commit records; its whole transaction is read only if that adds something."""
    operation = None
    if record.operation == "Delete":
        try:
            transaction = view.transaction(record)
        except (FormatError, StorageError):
            transaction = None
        operation = transaction.operation if transaction else None
    return facts_of_commit(record, operation)


def facts_of_records(
    of: Iterable[tuple[HistoryView, VersionRecord | None]],
) -> dict[str, Sequence[str | None]]:
    """Return the columns of COMMIT_FACTS for some commits; None is an unknown one."""
    facts = [CommitFacts() if record is None else commit_facts(view, record) for view, record in of]
    return {column.name: [getattr(fact, column.name) for fact in facts] for column in COMMIT_FACTS}


def _first(properties: dict[str, str], names: Sequence[str]) -> str | None:
    """Return the value under the first of some names.

    Examples
    --------
    >>> from lance_explorer.frames.commit_facts import _first
    >>> _first({"airflow.dagId": "nightly", "note": "x"}, ("dag_id", "dag"))
    'nightly'
    """
    by_name: dict[str, str] = {}
    for key, value in properties.items():
        words = _NO_WORD.split(_CAMEL.sub("_", key.rpartition(".")[2]).lower())
        by_name.setdefault("_".join(filter(None, words)), value)
    return next((by_name[name] for name in names if by_name.get(name)), None)
