"""What a filter says of row IDs is never more than it means."""

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.spark.row_filters import ranges_of

NUMBERS = range(12)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("_rowid = 7", [[7, 7]]),
        ("7 <= _rowid AND _rowid < 9", [[7, 8]]),
        ("_ROWID IN (3, 1, 3)", [[1, 1], [3, 3]]),
        ("_rowid BETWEEN 2 AND 4 AND x BETWEEN 1 AND 2", [[2, 4]]),
        ("_rowid < 0", []),
        ("_rowid > 18446744073709551614", [[2**64 - 1, 2**64 - 1]]),
        ("city = '_rowid = 3 OR' AND _rowid = 1", [[1, 1]]),
        ("(_rowid = 1 OR x = 2) AND _rowid < 5", [[0, 4]]),
    ],
)
def test_what_is_asked_for_is_found(where, expected):
    found = ranges_of(where, "_rowid")
    assert found is not None
    assert found.tolist() == expected


@pytest.mark.parametrize(
    "where",
    [
        "", "_rowid", "x = 3", "_rowid = 3 OR x = 1", "NOT _rowid = 3", "_rowid <> 3", "_rowid = x",
        "_rowid = 1.5", "_rowid = -1", "_rowid + 1 = 3", "_rowid IN (1, x)", "(_rowid = 3)",
        "'_rowid' = 3", "_rowid = 3 = true", "x._rowid = 3", "_rowid NOT IN (1, 2)", "\0",
    ],
)  # fmt: skip
def test_what_is_not_understood_leaves_nothing_out(where):
    assert ranges_of(where, "_rowid") is None


def simple() -> st.SearchStrategy[str]:
    number = st.sampled_from(NUMBERS).map(str)
    sign = st.sampled_from(["=", "<", "<=", ">", ">=", "<>"])
    column = st.sampled_from(["_rowid", "x"])
    return st.one_of(
        st.tuples(column, sign, number).map(" ".join),
        st.tuples(number, sign, column).map(" ".join),
        st.tuples(column, number, number).map(lambda t: f"{t[0]} BETWEEN {t[1]} AND {t[2]}"),
        st.tuples(column, st.lists(number, min_size=1)).map(
            lambda t: f"{t[0]} IN ({', '.join(t[1])})"
        ),
    )


WHERE = st.recursive(
    simple(),
    lambda some: st.one_of(
        st.tuples(some, st.sampled_from(["AND", "OR"]), some).map(" ".join),
        some.map(lambda one: f"({one})"),
        some.map(lambda one: f"NOT ({one})"),
    ),
    max_leaves=6,
)


@given(WHERE)
def test_no_row_for_which_it_is_true_is_left_out(where):
    found = ranges_of(where, "_rowid")
    if found is None:
        return
    query = f'SELECT DISTINCT "_rowid" FROM range(12) a("_rowid"), range(12) b(x) WHERE {where}'
    true = {row[0] for row in duckdb.connect().execute(query).fetchall()}
    kept = {n for n in NUMBERS if np.any((found[:, 0] <= n) & (n <= found[:, 1]))}
    assert true <= kept
