"""How frames are declared: every column once, with its type, unit and meaning.

A frame is built from columns, not from rows, and a missing, undeclared or wrongly typed column is
an error: the docstring of a frame is true.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from lance_explorer.history.evidence import Evidence

__all__ = [
    "BRANCH",
    "BYTES",
    "COUNT",
    "EVIDENCE",
    "FIELD_ID",
    "ID",
    "INTERVAL",
    "KIND",
    "KNOWN_FROM",
    "MAYBE_KNOWN_FROM",
    "TEXT",
    "TIME",
    "VERSION",
    "Column",
    "FrameSchema",
]

ID = pl.UInt64()
FIELD_ID = pl.Int32()
COUNT = pl.Int64()
BYTES = pl.Int64()
TEXT = pl.String()
TIME = pl.Datetime("us", "UTC")

_MANY_LISTS = 5_000


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a frame. ``nullable`` is for values that a table may not tell or not have."""

    name: str
    dtype: pl.DataType
    meaning: str
    nullable: bool = False
    unit: str = ""


@dataclass(frozen=True, slots=True)
class FrameSchema:
    """The columns of one frame, in order.

    Examples
    --------
    >>> schema = FrameSchema("sizes", (Column("size_bytes", BYTES, "size of the file"),))
    >>> schema.build({"size_bytes": [3]}).schema
    Schema([('size_bytes', Int64)])
    >>> schema.build({"bytes": [3]})
    Traceback (most recent call last):
    ...
    ValueError: frame sizes: expected the columns ['size_bytes'], got ['bytes']
    """

    name: str
    columns: tuple[Column, ...]

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def polars_schema(self) -> pl.Schema:
        """The schema of the frame."""
        return pl.Schema({column.name: column.dtype for column in self.columns})

    def build(self, data: Mapping[str, Any]) -> pl.DataFrame:
        """Return the frame of these columns: sequences, arrays or series of equal length."""
        if list(data) != self.names:
            raise ValueError(
                f"frame {self.name}: expected the columns {self.names}, got {list(data)}"
            )
        lists = {
            column.name: _list_series(data[column.name], column.dtype)
            for column in self.columns
            if isinstance(column.dtype, pl.List) and isinstance(data[column.name], list)
        }
        return pl.DataFrame({**data, **lists}, schema=self.polars_schema, strict=True)

    def describe(self) -> pl.DataFrame:
        """Return one row a column: name, dtype, unit, nullable, meaning."""
        return pl.DataFrame(
            {
                "column": self.names,
                "dtype": [str(column.dtype) for column in self.columns],
                "unit": [column.unit for column in self.columns],
                "nullable": [column.nullable for column in self.columns],
                "meaning": [column.meaning for column in self.columns],
            }
        )


def _list_series(values: list[Any], dtype: pl.List) -> pl.Series:
    """Return lists as a series; many by way of Arrow, since Polars makes a series of each.

    Loading Arrow, which loads pandas where that is installed, takes as long as thousands of lists.
    """
    if len(values) < _MANY_LISTS:
        return pl.Series(values, dtype=dtype, strict=True)
    import pyarrow as pa

    empty = pl.Series(dtype=dtype).to_arrow(compat_level=pl.CompatLevel.oldest())
    return pl.Series(pa.array(values, type=empty.type), dtype=dtype)


VERSION = Column("version", ID, "version of the table")
BRANCH = Column("branch", TEXT, "branch of that version; null is the main branch", nullable=True)

_PLACES = pl.Enum(["live", "derived", "ledger"])
_PLACES_MEANING = (
    "`live`: the table keeps the version; `derived`: it does, in an object store, and fragments "
    "that it shares with the version before were not read again; `ledger`: only a ledger has it"
)

KNOWN_FROM = Column("known_from", _PLACES, _PLACES_MEANING)
"""The last column of every frame by version."""

MAYBE_KNOWN_FROM = Column(
    "known_from", _PLACES, f"{_PLACES_MEANING}; null: neither has it", nullable=True
)
"""The same, if versions may be lost or of another table."""

INTERVAL = (
    Column("first_version", ID, "first version of the interval"),
    Column("last_version", ID, "last kept version of the interval"),
    Column("is_current", pl.Boolean(), "whether the latest version is in the interval"),
    Column("versions_kept", COUNT, "kept versions in the interval"),
    Column(
        "proven",
        pl.Boolean(),
        "false if versions in between are not kept: it may have been removed and restored in them",
    ),
    Column(
        "first_version_exact",
        pl.Boolean(),
        "false if the version before is not kept: the interval may have begun earlier",
    ),
)
"""The versions in which a row of an ``all_`` frame holds."""

KIND = pl.Enum(
    [
        "create",
        "append",
        "overwrite",
        "update",
        "delete",
        "compact",
        "restore",
        "index",
        "schema",
        "config",
        "branch",
        "other",
    ]
)
"""The kind of commit of a version; the same colour everywhere."""

EVIDENCE = pl.Enum([evidence.label for evidence in Evidence])
"""How a claim is known, best first."""
