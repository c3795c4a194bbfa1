"""Schema, indices and configuration of a version, with what differs."""

import pytest

from lance_explorer import demo, open_table
from lance_explorer.widgets.messages.base import to_json
from lance_explorer.widgets.version_details import VersionDetails
from tests.stored_tables import stored_check


def at(details, version):
    """Return the details of a version as JSON has them."""
    return to_json(details.at(version))


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    path = demo.make_photos(tmp_path_factory.mktemp("samples") / "photos.lance")
    return VersionDetails(open_table(path))


def changes(details, name):
    return [entry for entry in details[name]["entries"] if entry["change"]]


@stored_check()
def check_every_version_has_the_entries_of_its_frames(asked):
    table = asked.table
    details = VersionDetails(table)
    for version in table.versions()["version"].to_list():
        said = at(details, version)
        names = {
            "schema": ("path", table.inspect.fields(version=version)["path"].to_list()),
            "indices": ("name", table.inspect.indices(version=version)["name"].to_list()),
            "config": ("key", table.inspect.config(version=version)["key"].to_list()),
        }
        for name, (key, expected) in names.items():
            there = [e[key] for e in said[name]["entries"] if e["change"] != "dropped"]
            assert sorted(there) == sorted(set(expected) if name == "indices" else expected)
            assert said[name]["num_there"] == len(there)


def test_a_rename_a_cast_and_a_drop_are_told_with_what_was_before(photos):
    [renamed], [cast], [dropped] = [changes(at(photos, v), "schema") for v in (20, 21, 37)]
    assert renamed == {
        "path": "title",
        "type": "string",
        "nullable": True,
        "change": "renamed",
        "before": {"path": "caption"},
    }
    assert (cast["change"], cast["before"], cast["type"]) == ("cast", {"type": "double"}, "float")
    assert (dropped["path"], dropped["change"]) == ("sharpness", "dropped")


def test_an_index_is_added_changed_and_dropped(photos):
    [added], [dropped] = [changes(at(photos, version), "indices") for version in (36, 40)]
    assert (added["name"], added["type"], added["change"]) == ("taken_at_idx", "ZONE_MAP", "added")
    assert (dropped["name"], dropped["change"]) == ("taken_at_idx", "dropped")
    assert [entry["change"] for entry in changes(at(photos, 34), "indices")] == ["changed"] * 3


def test_config_entries_are_told_by_their_map(photos):
    assert [(e["map"], e["key"], e["value"]) for e in changes(at(photos, 31), "config")] == [
        ("table metadata", "title", "Photos of the Silva family"),
        ("table metadata", "year", "2025"),
    ]


def test_the_first_version_has_no_changes(photos):
    assert [at(photos, 1)[name]["num_changed"] for name in ("schema", "indices", "config")] == [
        0,
        0,
        0,
    ]


def test_many_entries_are_cut_the_changed_ones_first(tmp_path):
    import lance
    import pyarrow as pa

    wide = pa.table({f"c{number}": [number] for number in range(300)})
    dataset = lance.write_dataset(wide, tmp_path / "t.lance")
    dataset.add_columns({"last": "1"})
    schema = to_json(VersionDetails(open_table(tmp_path / "t.lance")).at(2).schema)
    assert schema["entries"][0]["path"] == "last"
    assert (len(schema["entries"]), schema["num_entries"]) == (200, 301)
