"""The arrays from which a browser draws any version."""

import numpy as np
from msgspec.structs import asdict

from lance_explorer import open_table
from lance_explorer.figures.fragment_origins import fragment_origins
from lance_explorer.widgets.messages.base import to_json
from lance_explorer.widgets.version_data import version_data
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


def unpacked(table):
    """Return the fields of what the browser gets, and its arrays among them."""
    fields = asdict(version_data(table))
    return to_json(fields), fields


def states_at(arrays, position):
    """Return which states were there at a position."""
    return np.flatnonzero((arrays["state_first"] <= position) & (position <= arrays["state_last"]))


@stored_check()
def check_every_version_has_the_fragments_of_its_frame_and_what_made_them(asked):
    table = asked.table
    content, arrays = unpacked(table)
    versions, all_fragments = table.versions(), table.inspect.all_fragments()
    assert arrays["versions"].tolist() == versions["version"].to_list()
    for position, version in enumerate(arrays["versions"].tolist()):
        there = states_at(arrays, position)
        frame = fragment_origins(
            table.inspect.fragments(version=version), all_fragments, versions
        ).sort("fragment_id")
        assert arrays["state_fragment"][there].tolist() == frame["fragment_id"].to_list()
        columns = {
            "rows": "physical_rows",
            "deleted": "num_deleted_rows",
            "bytes": "data_bytes",
            "files": "num_data_files",
        }
        for name, column in columns.items():
            expected = frame[column].cast(float).fill_null(np.nan).to_numpy()
            np.testing.assert_array_equal(arrays[f"state_{name}"][there], expected)
        kinds = [*content["kinds"], None]
        assert [kinds[code] for code in arrays["state_kind"][there]] == frame[
            "created_by"
        ].to_list()
        made = [
            None if at < 0 else int(arrays["versions"][at])
            for at in arrays["state_made_at"][there].tolist()
        ]
        assert made == frame["created_in"].to_list()


def test_states_of_one_fragment_share_a_slot_and_stand_together(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=3)
    table.delete({1: [0]}).delete({0: [1], 1: [2]}).restore(1)
    _, arrays = unpacked(open_table(table.path))
    slots, fragments = arrays["state_slot"].tolist(), arrays["state_fragment"].tolist()
    assert slots == sorted(slots)
    assert len(set(zip(slots, fragments, strict=True))) == len(set(slots)) == 3


def test_unknown_is_not_a_number(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4)
    table.delete({0: [1]}, counted=False)
    for path in (table.path / "_deletions").iterdir():
        path.unlink()
    _, arrays = unpacked(open_table(table.path))
    assert np.isnan(arrays["num_rows"]).tolist() == [False, True]


def test_tags_and_gaps_stand_where_they_belong(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append().append().append().append().tag("old", 1)
    table.folder.manifest_path(2).unlink()
    table.folder.manifest_path(3).unlink()
    content, _ = unpacked(open_table(table.path).refresh())
    assert content["tags"] == [{"name": "old", "position": 0}]
    assert content["gaps"] == [{"first": "2", "last": "3", "reason": "removed"}]


def test_a_long_message_says_how_much_is_shown(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append()
    table.commit("append", note="m" * 1_000_000)
    content, _ = unpacked(open_table(table.path))
    assert content["messages"][1].endswith("m... (1,000 of 1,000,000 characters)")
