"""How fields begin and end, over arbitrary sequences of schemas with gaps between them."""

from collections import Counter
from dataclasses import replace
from typing import Any

import lance
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from lance_explorer import open_table
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT, Field
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.intervals import intervals_of
from lance_explorer.inspect.field_steps import FieldSteps, field_states
from tests.inspect.tables import stored

OPERATIONS = ("Overwrite", "Merge", "Project", "Restore")
GOES_ON = ("renamed", "cast", "altered")


def column(field_id: int, name: str, logical_type: str) -> Field:
    return Field(field_id, name, NO_PARENT, logical_type, True, 0, "", (), None, None)


@st.composite
def schemas(draw: st.DrawFn) -> tuple[Field, ...]:
    """Make a schema of few ids, names and types, so that all of them come again."""
    ids = draw(st.lists(st.integers(0, 3), unique=True))
    names = draw(st.permutations("abcd"))
    types = draw(st.lists(st.sampled_from(["int64", "string"]), min_size=4, max_size=4))
    return tuple([column(*field) for field in zip(ids, names, types, strict=False)])


def history_of(steps: list[tuple[int, str, tuple[Field, ...]]]) -> History:
    """Return a history without fragments: how many versions on, by what, to which schema."""
    [model] = stored("14.0.2/one_version.lance").version(1).records
    assert model.transaction is not None
    version, records = 0, []
    for distance, name, schema in steps:
        operation = OperationName(name)
        version += distance
        header = structs.replace(model.transaction.header, operation=operation)
        transaction = structs.replace(model.transaction, header=header)
        records.append(
            structs.replace(
                model,
                version=version,
                operation=operation,
                file=model.file._replace(version=version),
                schema=schema,
                transaction=transaction,
            )
        )
    return replace(EMPTY_HISTORY, records=tuple(records))


STEPS = st.lists(
    st.tuples(st.sampled_from([1, 1, 1, 2]), st.sampled_from(OPERATIONS), schemas()), min_size=1
)


@pytest.mark.slow
@given(STEPS)
def test_what_ends_as_something_else_begins_as_that(steps):
    history = history_of(steps)
    states = field_states(history)
    fates = FieldSteps(history, states, lambda _: frozenset(range(4)))
    keys, intervals = intervals_of(states)
    began: Counter[tuple[int, str]] = Counter()
    ended: Counter[tuple[int, str]] = Counter()
    for key, first, last in zip(
        intervals.keys.tolist(), intervals.first.tolist(), intervals.last.tolist(), strict=True
    ):
        how = fates.began_as(keys[key], first)
        assert (how == "unknown") != history.follows_previous[first]
        began[first, how] += 1
        fate = fates.ended_as(keys[key], last)
        assert (fate is None) == (last + 1 == len(history))
        if fate is not None:
            assert (fate == "unknown") != history.follows_previous[last + 1]
            ended[last + 1, fate] += 1
    for position in range(1, len(history)):
        for change in GOES_ON:
            assert began[position, change] == ended[position, change]


@pytest.mark.slow
@given(STEPS)
def test_a_cast_keeps_the_path_and_a_rename_the_id(steps):
    history = history_of(steps)
    states = field_states(history)
    fates = FieldSteps(history, states, lambda _: frozenset(range(4)))
    for position in range(1, len(history)):
        if not history.follows_previous[position]:
            continue
        before = {state for state in states[position - 1] if state not in states[position]}
        for state in states[position]:
            if state in states[position - 1]:
                continue
            match fates.began_as(state, position):
                case "cast":
                    assert state.path in {old.path for old in before if old.id != state.id}
                case "renamed":
                    [old] = [old for old in before if old.id == state.id]
                    assert old.path != state.path
                    assert old.field.logical_type == state.field.logical_type
                    assert history.records[position].operation != "Overwrite"
                case "altered":
                    assert state.path in {old.path for old in before}


def test_a_used_id_is_told_from_a_rename_after_a_restore(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"k": [0, 1]}), path)
    lance.dataset(path).add_columns({"c": "k + 100"})
    lance.dataset(path, version=1).restore()
    lance.dataset(path).add_columns({"d": "k + 5"})  # gets the ID of c
    lance.dataset(path, version=2).restore()
    lance.dataset(path, version=4).restore()
    renamed: Any = {"path": "d", "name": "e"}
    lance.dataset(path).alter_columns(renamed)
    lance.dataset(path, version=6).restore()
    fields = open_table(path).inspect.all_fields().filter(field_id=1).sort("first_version")
    assert fields.select("path", "first_version", "began_as", "ended_as").rows() == [
        ("c", 2, "added", "dropped"),
        ("d", 4, "added", "dropped"),
        ("c", 5, "added", "dropped"),
        ("d", 6, "added", "renamed"),
        ("e", 7, "renamed", "renamed"),
        ("d", 8, "renamed", None),
    ]
