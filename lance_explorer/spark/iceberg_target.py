"""Writes changes to an Iceberg table with ``pyiceberg``: a transaction for each batch."""

from collections.abc import Mapping
from contextlib import suppress
from itertools import zip_longest
from typing import Any
from warnings import catch_warnings, filterwarnings

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NamespaceAlreadyExistsError, NoSuchTableError
from pyiceberg.expressions import AlwaysFalse, And, BooleanExpression, EqualTo, In, Or
from pyiceberg.table import Table

from lance_explorer.arguments import of_kind, shown, text
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.spark.merge_targets import Batch, Mark

__all__ = ["IcebergTarget"]

_MARK = "lance_explorer.batch-of."


class IcebergTarget:
    """An Iceberg table; its properties hold the batch numbers, set while merging."""

    def __init__(self, target: Any, catalog: Any, _: Mapping[str, str]) -> None:
        self._table: Table | None = None
        if catalog is None:
            self._table = of_kind("target", target, Table, "a Table of pyiceberg, or give catalog=")
            self.uri = self._table.location()
            return
        if not isinstance(catalog, Catalog):
            raise InvalidArgumentError(f"catalog is a Catalog of pyiceberg, not {shown(catalog)}")
        self._catalog = catalog
        self._name = text("target", target)
        if "." not in self._name:
            raise InvalidArgumentError(f"target is namespace.table, not {self._name!r}")
        with suppress(NoSuchTableError):
            self._table = catalog.load_table(self._name)
        self.uri = self._table.location() if self._table else self._name

    def has(self, mark: Mark) -> bool:
        """Return whether the table has the number of a batch, or a later one."""
        if self._table is None:
            return False
        self._table.refresh()
        return int(self._table.properties.get(f"{_MARK}{mark.query}", -1)) >= mark.number

    def merge(self, batch: Batch, mark: Mark) -> None:
        """Merge a batch in one transaction."""
        table = self._table or self._made(batch.puts.schema)
        self._table = table
        table.refresh()
        if not set(batch.puts.column_names) <= {field.name for field in table.schema().fields}:
            with table.update_schema() as update:
                update.union_by_name(batch.puts.schema)
        with table.transaction() as change, catch_warnings():
            filterwarnings("ignore", "Delete operation did not match any records")
            if table.current_snapshot() is not None:
                change.delete(_any_of(batch.changed))
            if batch.puts.num_rows:
                change.append(batch.puts)
            change.set_properties({f"{_MARK}{mark.query}": str(mark.number)})

    def _made(self, schema: pa.Schema) -> Table:
        with suppress(NamespaceAlreadyExistsError):
            self._catalog.create_namespace(self._name.rpartition(".")[0])
        made: Table = self._catalog.create_table(self._name, schema=schema)
        return made


def _any_of(keys: pa.Table) -> BooleanExpression:
    """Return an expression that is true for rows with any of some keys."""
    if keys.num_columns == 1:
        return In(term=keys.column_names[0], values=keys.column(0).to_pylist())
    rows = keys.to_pylist()
    terms: list[BooleanExpression] = [
        And(*[EqualTo(term=name, value=value) for name, value in row.items()]) for row in rows
    ]
    while len(terms) > 1:  # balanced, because a long chain is deeper than the stack
        pairs = zip_longest(terms[::2], terms[1::2], fillvalue=AlwaysFalse())
        terms = [Or(one, other) for one, other in pairs]
    return terms[0]
