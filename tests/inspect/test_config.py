"""Config and metadata against pylance's own four ways to ask for them."""

from dataclasses import replace

from msgspec import structs

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.config import all_config, config
from tests.inspect.tables import rows_of, stored, write


def entries(frame, map_name):
    return dict(rows_of(frame.filter(map=map_name), "key", "value"))


def test_field_metadata_names_the_field():
    frame = config(stored("14.0.2/schema_changes.lance"), 14).filter(map="field_metadata")
    assert rows_of(frame, "field_id", "field", "key", "value") == [
        (0, "id", "lance-schema:unenforced-primary-key", "true"),
        (1, "body", "comment", "free text"),
        (1, "body", "lance-encoding:compression", "zstd"),
    ]


def test_each_value_of_a_key_has_its_interval(tmp_path):
    table = write(tmp_path / "t", n=[1])
    table.update_config({"a": "1", "b": "1"})
    table.update_config({"a": "2"})
    table.update_config({"a": "1"})
    table.update_config({"b": None})
    frame = all_config(HistoryView.open(str(tmp_path / "t")))
    assert rows_of(frame, "key", "value", "first_version", "last_version", "is_current") == [
        ("a", "1", 2, 2, False),
        ("b", "1", 2, 4, False),
        ("a", "2", 3, 3, False),
        ("a", "1", 4, 5, True),
    ]


def test_bytes_that_are_no_text_are_escaped():
    view = stored("14.0.2/one_version.lance")
    history = view.version(1)
    [record] = history.records
    manifest = structs.replace(record.manifest, schema_metadata=(("raw", b"\xff\x00z"),))
    changed = structs.replace(record, manifest=manifest)
    view._single[1] = replace(history, records=(changed,))
    assert entries(config(view, 1), "schema_metadata") == {"raw": "\\xff\x00z"}
