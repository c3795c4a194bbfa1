"""Fields as schemas of real tables hold them, keys, and paths of nested fields."""

import lance
import pyarrow as pa
import pytest

from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format.manifest import decode_manifest
from lance_explorer.format.schema import (
    NO_PARENT,
    Field,
    field_from_pb,
    field_paths,
    fields_from_pb,
)
from tests.format import samples

SCHEMA_CHANGES = samples.DATA / "14.0.2" / "schema_changes.lance"


def schema_of(version: int) -> dict[str, Field]:
    """Return the fields of a version of the stored table by their paths."""
    _, fields, _ = decode_manifest(samples.manifest_of(SCHEMA_CHANGES, version))
    paths = field_paths(fields)
    return {paths[field.id]: field for field in fields}


def field(number: int, name: str, parent_id: int = NO_PARENT) -> Field:
    return Field(number, name, parent_id, "struct", True, 0, "", (), None, None)


def test_nested_fields_come_after_their_parents():
    assert list(schema_of(1)) == [
        "id",
        "text",
        "place",
        "place.x",
        "place.tags",
        "place.tags.item",
        "parts",
        "parts.item",
        "parts.item.n",
    ]


def test_logical_types_are_those_of_the_columns():
    types = {path: field.logical_type for path, field in schema_of(1).items()}
    assert [types[path] for path in ("id", "text", "place", "place.x", "parts.item.n")] == [
        "int32",
        "string",
        "struct",
        "float",
        "int16",
    ]


def test_a_primary_key_has_a_position_and_other_fields_have_none():
    positions = {path: f.primary_key_position for path, f in schema_of(1).items()}
    assert [path for path, position in positions.items() if position is not None] == ["id"]


def test_a_column_that_forbids_null_says_so():
    nullable = {path: field.nullable for path, field in schema_of(1).items()}
    assert [path for path, can_be_null in nullable.items() if not can_be_null] == ["id"]


def test_metadata_of_a_field_are_bytes():
    assert b"zstd" in dict(schema_of(1)["text"].metadata).values()


def test_metadata_that_are_no_text_are_kept():
    message = pb.Field(name="a", metadata={"b": b"\xff\xfe", "a": b""})
    assert field_from_pb(message).metadata == (("a", b""), ("b", b"\xff\xfe"))


def test_a_renamed_column_keeps_its_id():
    assert schema_of(9)["body"].id == schema_of(1)["text"].id


def test_an_id_comes_again_for_another_column():
    # Version 2 to 3 added "double", 4 cast it, 8 added "reused".
    assert schema_of(8)["reused"].id == schema_of(3)["double"].id


def test_the_key_of_a_clustering_is_told_from_the_primary_key():
    message = pb.Field(unenforced_clustering_key=True, unenforced_clustering_key_position=2)
    one = field_from_pb(message)
    assert (one.primary_key_position, one.clustering_key_position) == (None, 2)


def test_a_position_without_a_key_is_none():
    message = pb.Field(unenforced_primary_key_position=3)
    assert field_from_pb(message).primary_key_position is None


def test_an_extension_type_is_named(tmp_path):
    names = {b"ARROW:extension:name": b"tests.colour"}
    schema = pa.schema([pa.field("paint", pa.string(), metadata=names)])
    lance.write_dataset(pa.table({"paint": ["red"]}, schema=schema), tmp_path / "t.lance")
    _, [paint], _ = decode_manifest(samples.manifest_of(tmp_path / "t.lance"))
    assert paint.extension_name == "tests.colour"


def test_a_name_with_a_dot_stands_in_backticks():
    assert field_paths([field(0, "a.b"), field(1, "c", 0)]) == {0: "`a.b`", 1: "`a.b`.c"}


def test_an_empty_name_is_still_a_part_of_the_path():
    assert field_paths([field(0, ""), field(1, "c", 0)]) == {0: "", 1: ".c"}


@pytest.mark.parametrize("parent_id", [7, 1, 2], ids=["unknown", "itself", "a later one"])
def test_a_parent_that_does_not_come_before_is_no_parent(parent_id):
    fields = [field(0, "a"), field(1, "b", parent_id), field(2, "c")]
    assert field_paths(fields)[1] == "b"


def test_no_messages_are_no_fields():
    assert fields_from_pb([]) == ()
