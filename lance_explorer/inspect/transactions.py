"""Transactions: what the commit of each kept version records."""

import polars as pl

from lance_explorer.errors import FormatError
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    ID,
    KIND,
    KNOWN_FROM,
    TEXT,
    TIME,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.kinds import kind_of
from lance_explorer.frames.known_from import known_from
from lance_explorer.frames.text import json_text
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView
from lance_explorer.shown import visible

__all__ = ["TRANSACTIONS", "transactions"]

_SOURCE = pl.Enum(["manifest", "file"])

TRANSACTIONS = FrameSchema(
    "transactions",
    (
        VERSION,
        Column("timestamp", TIME, "time of the commit", nullable=True),
        BRANCH,
        Column(
            "operation",
            TEXT,
            "operation as Lance names it; null if the transaction is lost",
            nullable=True,
        ),
        Column("kind", KIND, "kind of commit"),
        Column("number", ID, "field number of the operation in Lance's format", nullable=True),
        Column("read_version", ID, "version that the commit read", nullable=True),
        Column("uuid", TEXT, "UUID of the transaction", nullable=True),
        Column("message", TEXT, "commit message", nullable=True),
        Column("properties", TEXT, "all transaction properties as a JSON object", nullable=True),
        Column(
            "source",
            _SOURCE,
            "where the transaction is: in the manifest, or in a file",
            nullable=True,
        ),
        Column("path", TEXT, "path of that file below the root of the branch", nullable=True),
        Column("transaction_bytes", BYTES, "size of the transaction", nullable=True, unit="bytes"),
        Column("summary", TEXT, "summary of the operation as a JSON object", nullable=True),
        KNOWN_FROM,
    ),
)
"""The columns of ``inspect.transactions()``. Where no transaction is left, or it is damaged, all
that it would say is null."""


def transactions(view: HistoryView) -> pl.DataFrame:
    """Return one row for each kept version of the branch, oldest first."""
    records = view.history.records
    stored = [record.transaction for record in records]
    headers = [transaction and transaction.header for transaction in stored]
    with view.reading_transactions(records):
        summaries = [_summary(view, record) for record in records]
    return TRANSACTIONS.build(
        {
            "version": view.history.versions,
            "timestamp": [record.manifest.timestamp for record in records],
            "branch": [view.branch] * len(records),
            "operation": [record.operation for record in records],
            "kind": [kind_of(record.operation, record.version) for record in records],
            "number": [header and header.number for header in headers],
            "read_version": [header and header.read_version for header in headers],
            "uuid": [header and header.uuid for header in headers],
            "message": [
                header and header.message and visible(header.message) for header in headers
            ],
            "properties": [header and json_text(dict(header.properties)) for header in headers],
            "source": [transaction and transaction.source for transaction in stored],
            "path": [transaction and transaction.path for transaction in stored],
            "transaction_bytes": [transaction and transaction.num_bytes for transaction in stored],
            "summary": summaries,
            "known_from": known_from(view, view.history.versions),
        }
    )


def _summary(view: HistoryView, record: VersionRecord) -> str | None:
    try:
        transaction = view.transaction(record)
    except FormatError:
        return None
    return None if transaction is None else json_text(transaction.operation.summary())
