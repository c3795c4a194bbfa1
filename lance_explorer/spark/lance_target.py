"""Writes changes to another Lance table with pylance: a commit property has the batch number."""

from collections.abc import Mapping
from typing import Any

import lance
import pyarrow as pa
from lance.dataset import MergeInsertBuilder

from lance_explorer.arguments import of_kind
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.spark.merge_targets import Batch, Mark

__all__ = ["LanceTarget"]

_QUERY, _BATCH = "lance_explorer.query", "lance_explorer.batch"
_RECENT = 100
"""The number of last commits in which the batch number is searched. Merging twice is harmless."""

_ROW_ID, _STORED = "_rowid", "source_rowid"
"""No column of a table can have the first of these names."""


class LanceTarget:
    """A Lance table."""

    def __init__(self, target: Any, _: Any, storage_options: Mapping[str, str]) -> None:
        self._options = dict(storage_options) or None
        if isinstance(target, lance.LanceDataset):
            self.uri = target.uri
            self._options = self._options or target._storage_options
        else:
            self.uri = of_kind("target", target, str, "the URI of a Lance table")

    def has(self, mark: Mark) -> bool:
        """Return whether the last commits have the number of a batch, or a later one."""
        dataset = self._dataset()
        if dataset is None:
            return False
        for transaction in dataset.get_transactions(_RECENT):
            properties = (transaction.transaction_properties or {}) if transaction else {}
            if properties.get(_QUERY) == mark.query and _BATCH in properties:
                return int(properties[_BATCH]) >= mark.number
        return False

    def merge(self, batch: Batch, mark: Mark) -> None:
        """Merge a batch: deletes in one commit, the rest in the next one, which has the number."""
        keys = [_STORED if key == _ROW_ID else key for key in batch.keys]
        puts, gone = (_renamed(table) for table in (batch.puts, batch.gone))
        dataset = self._dataset()
        marked = {_QUERY: mark.query, _BATCH: str(mark.number)}
        if dataset is None:
            lance.write_dataset(
                puts,
                self.uri,
                enable_stable_row_ids=True,
                storage_options=self._options,
                transaction_properties=marked,
            )
            return
        if gone.num_rows:
            builder = dataset.merge_insert(keys).when_matched_delete()
            properties = {_QUERY: mark.query} if puts.num_rows else marked
            dataset = self._committed(dataset, builder, gone, properties)
        if puts.num_rows:
            added = [field for field in puts.schema if field.name not in dataset.schema.names]
            if added:
                dataset.add_columns(pa.schema(added))
            there = pa.schema([dataset.schema.field(name) for name in puts.column_names])
            builder = dataset.merge_insert(keys)
            builder = builder.when_matched_update_all().when_not_matched_insert_all()
            self._committed(dataset, builder, puts.cast(there), marked)

    def _committed(
        self,
        dataset: lance.LanceDataset,
        builder: MergeInsertBuilder,
        rows: pa.Table,
        properties: dict[str, str],
    ) -> lance.LanceDataset:
        transaction, _ = builder.execute_uncommitted(rows)
        transaction.transaction_properties = properties
        return lance.LanceDataset.commit(dataset, transaction, storage_options=self._options)

    def _dataset(self) -> lance.LanceDataset | None:
        try:
            return lance.dataset(self.uri, storage_options=self._options)
        except ValueError as error:
            if "not found" not in str(error).lower():
                raise
            return None


def _renamed(table: pa.Table) -> pa.Table:
    if _STORED in table.column_names and _ROW_ID in table.column_names:
        raise InvalidArgumentError(f"a Lance target keeps {_ROW_ID} as {_STORED}; rename that one")
    return table.rename_columns([_STORED if n == _ROW_ID else n for n in table.column_names])
