"""What the heads of columns tell, and the filters that a click on them sets."""

import random
from datetime import UTC, datetime
from decimal import Decimal

import polars as pl

from lance_explorer.inspect.query import read_expression
from lance_explorer.widgets.column_heads import column_heads


def test_the_filter_of_a_bar_finds_what_the_bar_counts():
    chance = random.Random(0)
    texts = ["dog", "it's", "", 'say "x"', "%", "ü", None, "long " * 40, "tab\t"]
    rows = pl.DataFrame(
        {
            "a b": [chance.choice(texts) for _ in range(300)],
            'quo"te': [chance.choice(["x", "y"]) for _ in range(300)],
            "order": [chance.choice(["x", "y"]) for _ in range(300)],
            "select": [chance.randint(0, 1) for _ in range(300)],
            "n": [chance.randint(-1000, 1000) for _ in range(300)],
            "big": pl.Series([chance.choice([0, 2**64 - 1]) for _ in range(300)], dtype=pl.UInt64),
            "few": [chance.choice([1, 2, None]) for _ in range(300)],
            "half": [chance.randint(-9, 9) / 2 for _ in range(300)],
            "is_true": [chance.choice([True, False, None]) for _ in range(300)],
            "time": [datetime(2024, 1, 1 + n % 20, tzinfo=UTC) for n in range(300)],
            "price": [Decimal(chance.randint(0, 500)) / 100 for _ in range(300)],
            "vector": [[1.0, 2.0]] * 300,
        }
    )
    filtered = set()
    for name, head in zip(rows.columns, column_heads(rows, lambda: None), strict=True):
        assert rows.filter(read_expression(head.where_null)).height == head.num_nulls
        for bar in head.bars:
            if bar.where is not None:
                filtered.add(name)
                assert rows.filter(read_expression(bar.where)).height == bar.count, bar
    assert filtered >= {"a b", 'quo"te', "order", "select", "n", "few", "half", "is_true"}
    assert not filtered & {"time", "vector"}
