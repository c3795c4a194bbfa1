"""Updates told from merges by the columns that the commit names."""

import pytest

from lance_explorer.format.row_operations import Update, UpdateMode
from lance_explorer.format.schema import NO_PARENT, Field
from lance_explorer.history.update_kinds import is_plain_update
from lance_explorer.history.view import HistoryView
from tests.format.samples import DATA

KEY, CAST, PLACE, X = (
    Field(id_, str(id_), parent, "int64", True, 0, "", (), None, None)
    for id_, parent in ((0, NO_PARENT), (4, NO_PARENT), (2, NO_PARENT), (3, 2))
)
SCHEMA = (KEY, CAST, PLACE, X)


def update(*fields: int, mode: int = UpdateMode.REWRITE_ROWS) -> Update:
    return Update((), (), (), (), (), fields, mode, None, ())


@pytest.mark.parametrize(
    "fields",
    [(0, 4, 2, 3), (0, 4, 2), (0, 2, 3, 4), (4, 3, 2, 0)],
    ids=["all in schema order", "the top level", "ascending", "any order"],
)
def test_what_names_every_column_may_be_a_merge(fields):
    assert not is_plain_update(update(*fields), SCHEMA)


def test_what_names_some_columns_is_an_update():
    assert is_plain_update(update(4), SCHEMA)
    assert is_plain_update(update(2, 3, 0), SCHEMA)


def test_what_names_none_may_be_anything():
    assert not is_plain_update(update(), SCHEMA)


def test_what_is_written_in_place_is_no_update():
    assert not is_plain_update(update(4, mode=UpdateMode.REWRITE_COLUMNS), SCHEMA)


PLAIN = {
    "0.32.1/life_cycle": set(),  # names no field
    "1.0.4/life_cycle": {4},
    "1.0.4/stable_row_ids": {4, 23},
    "8.0.1/stable_row_ids": {4, 23},
    "8.0.1/schema_changes": set(),  # an upsert of nested columns after casts
    "13.0.0/stable_row_ids": {4, 23},
    "14.0.2/stable_row_ids": {4, 23},
    "14.0.2/schema_changes": set(),
}


@pytest.mark.parametrize("name", PLAIN)
def test_updates_are_told_from_merges_of_all_writers(name):
    view = HistoryView.open(str(DATA / f"{name}.lance"))
    found = set()
    for record in view.history.records:
        transaction = view.transaction(record)
        operation = transaction and transaction.operation
        if isinstance(operation, Update) and is_plain_update(operation, record.schema):
            found.add(record.version)
    assert found == PLAIN[name]
