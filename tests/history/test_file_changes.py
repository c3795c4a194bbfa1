"""What other data files of a fragment say, field by field."""

import pytest

from lance_explorer.format.fragments import DataFile, DataOverlayFile, Fragment
from lance_explorer.format.schema import NO_PARENT, Field
from lance_explorer.history.file_changes import InPlace, SchemaPair, in_place, written_fields


def schema(*names: str, first: int = 0) -> tuple[Field, ...]:
    """Return fields with IDs that count up."""
    return tuple(
        [
            Field(id_, name, NO_PARENT, "int64", True, 0, "", (), None, None)
            for id_, name in enumerate(names, first)
        ]
    )


def data_file(path: str, *fields: int) -> DataFile:
    return DataFile(path, fields, tuple(range(len(fields))), 2, 2, 1, None)


def fragment(*files: DataFile, overlays: tuple[DataOverlayFile, ...] = ()) -> Fragment:
    return Fragment(0, files, None, 4, None, None, None, overlays, None, ())


KEY_AND_A = schema("key", "a")
KEY_A_B = schema("key", "a", "b")
WHOLE = fragment(data_file("x", 0, 1))
KEYS_ALONE = fragment(data_file("x", 0))
OTHER_A = fragment(data_file("x", 0, -2), data_file("y", 1))
WITH_B = fragment(data_file("x", 0, 1), data_file("y", 2))
OVERLAID = fragment(
    data_file("x", 0, 1), overlays=(DataOverlayFile(data_file("z", 1), (b"",), True, 2),)
)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (WHOLE, WHOLE, InPlace.SAME),
        (WHOLE, OTHER_A, InPlace.VALUES_DIFFER),
        (KEYS_ALONE, WHOLE, InPlace.VALUES_DIFFER),
        (WHOLE, KEYS_ALONE, InPlace.VALUES_DIFFER),
        (WHOLE, OVERLAID, InPlace.VALUES_DIFFER),
    ],
    ids=["the same", "another file", "a file at last", "no file any more", "an overlay"],
)
def test_a_column_of_both_versions_may_have_other_values(before, after, expected):
    assert in_place(before, after, SchemaPair(KEY_AND_A, KEY_AND_A)) is expected


def test_a_column_of_the_later_version_alone_is_added():
    assert in_place(WHOLE, WITH_B, SchemaPair(KEY_AND_A, KEY_A_B)) is InPlace.COLUMNS_ADDED


def test_a_column_of_the_earlier_version_alone_changes_nothing():
    assert in_place(WITH_B, WHOLE, SchemaPair(KEY_A_B, KEY_AND_A)) is InPlace.SAME


def test_a_null_column_that_gets_a_file_may_have_other_values():
    assert in_place(WHOLE, WITH_B, SchemaPair(KEY_A_B, KEY_A_B)) is InPlace.VALUES_DIFFER


def test_a_cast_is_told_by_the_path_of_the_field():
    cast = (KEY_AND_A[0], *schema("a", first=2))
    schemas = SchemaPair(KEY_AND_A, cast)
    assert in_place(WHOLE, WITH_B, schemas) is InPlace.VALUES_DIFFER
    written = written_fields(WHOLE, WITH_B, schemas)
    assert (set(written.kept), set(written.cast)) == (set(), {1})
    assert in_place(KEYS_ALONE, KEYS_ALONE, schemas) is InPlace.SAME


def test_a_cast_is_told_by_what_both_versions_share_where_that_is_known():
    cast = (KEY_AND_A[0], *schema("renamed", first=2))
    written = written_fields(WHOLE, WITH_B, SchemaPair(KEY_AND_A, cast, {0: 0, 1: 2}))
    assert (set(written.kept), set(written.cast)) == (set(), {1})
    assert not written_fields(WHOLE, WITH_B, SchemaPair(KEY_AND_A, cast, {0: 0}))
