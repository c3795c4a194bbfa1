"""Columns of lists: few are made by Polars alone, many by way of Arrow."""

from typing import Any

import polars as pl
import pytest

from lance_explorer.frames import columns
from lance_explorer.frames.columns import Column, FrameSchema

LISTS: list[tuple[pl.DataType, list[Any]]] = [
    (pl.String(), [["a", "ä"], [], None, ("b",)]),
    (pl.UInt64(), [[2**64 - 1], None, [], (0, 1)]),
    (pl.Int32(), [(-2, 5), [None, 1], None]),
    (pl.UInt32(), [pl.Series([1, 2], dtype=pl.UInt32), None]),
    (pl.Float64(), []),
    (pl.Struct({"id": pl.Int64(), "name": pl.String()}), [[{"id": 1, "name": None}], [], None]),
]


@pytest.mark.parametrize(("inner", "values"), LISTS, ids=lambda value: str(value)[:20])
def test_few_lists_are_the_same_as_many(inner, values, monkeypatch):
    schema = FrameSchema("lists", (Column("values", pl.List(inner), "lists", nullable=True),))
    few = schema.build({"values": values})
    monkeypatch.setattr(columns, "_MANY_LISTS", 0)
    many = schema.build({"values": values})
    assert few.schema == many.schema == schema.polars_schema
    assert few.equals(many)
