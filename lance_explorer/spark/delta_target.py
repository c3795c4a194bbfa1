"""Writes changes to a Delta table with ``deltalake``: each batch is a commit with its number."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Schema, Transaction, write_deltalake

from lance_explorer.arguments import of_kind
from lance_explorer.spark.merge_targets import Batch, Mark

__all__ = ["DeltaTarget"]

_GONE = "_is_gone"


class DeltaTarget:
    """A Delta table; its application transactions hold the batch numbers."""

    def __init__(self, target: Any, _: Any, storage_options: Mapping[str, str]) -> None:
        self._options = dict(storage_options) or None
        if isinstance(target, DeltaTable):
            self.uri, self._options = target.table_uri, target._storage_options
        else:
            self.uri = of_kind("target", target, str, "the folder of a Delta table")

    def has(self, mark: Mark) -> bool:
        """Return whether the log has the number of a batch, or a later one."""
        table = self._table()
        last = table.transaction_version(mark.query) if table else None
        return last is not None and last >= mark.number

    def merge(self, batch: Batch, mark: Mark) -> None:
        """Merge a batch in one commit."""
        marked = CommitProperties(app_transactions=[Transaction(mark.query, mark.number)])
        table = self._table()
        if table is None:
            write_deltalake(
                self.uri,
                batch.puts,
                mode="error",
                storage_options=self._options,
                commit_properties=marked,
            )
            return
        there = {field.name for field in table.schema().fields}
        added = [name for name in batch.puts.column_names if name not in there]
        if added:
            table.alter.add_columns(Schema.from_arrow(batch.puts.select(added).schema).fields)
        puts = batch.puts.append_column(_GONE, pa.array([False] * batch.puts.num_rows, pa.bool_()))
        gone = batch.gone.append_column(_GONE, pa.array([True] * batch.gone.num_rows, pa.bool_()))
        values = {_quoted(name): f"new.{_quoted(name)}" for name in batch.puts.column_names}
        (
            table.merge(
                pa.concat_tables([puts, gone], promote_options="default"),
                " AND ".join([f"old.{_quoted(key)} = new.{_quoted(key)}" for key in batch.keys]),
                source_alias="new",
                target_alias="old",
                commit_properties=marked,
            )
            .when_matched_delete(f"new.{_GONE}")
            .when_matched_update(values, f"NOT new.{_GONE}")
            .when_not_matched_insert(values, f"NOT new.{_GONE}")
            .execute()
        )

    def _table(self) -> DeltaTable | None:
        if not DeltaTable.is_deltatable(self.uri, self._options):
            return None
        return DeltaTable(self.uri, storage_options=self._options)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
