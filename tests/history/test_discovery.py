"""Tables are found wherever they are below a folder."""

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.history.discovery import places_below, tables_below


def write(path) -> str:
    lance.write_dataset(pa.table({"id": [1]}), str(path))
    return str(path)


def test_a_table_is_itself(tmp_path):
    path = write(tmp_path / "t.lance")
    dataset = lance.dataset(path)
    dataset.create_branch("dev")
    assert tables_below(path) == [path]


def test_tables_are_found_at_any_depth_under_any_name(tmp_path):
    paths = [write(tmp_path / name) for name in ("a.lance", "b/c/d.lance", "b/plain", "z/y.lance")]
    write(tmp_path / ".trash" / "old.lance")
    write(tmp_path / "_hidden" / "old.lance")
    (tmp_path / "notes.lance").mkdir()  # whoever opens it hears that it has no versions
    (tmp_path / "empty").mkdir()
    (tmp_path / "readme.txt").write_text("no table")
    assert tables_below(str(tmp_path)) == sorted([*paths, str(tmp_path / "notes.lance")])


def test_links_that_lead_up_are_followed_once(tmp_path):
    path = write(tmp_path / "a" / "t.lance")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    assert tables_below(str(tmp_path)) == [path]


def test_a_folder_without_tables_is_told(tmp_path):
    with pytest.raises(lx.TableNotFoundError, match="and none in that folder"):
        tables_below(str(tmp_path))


def test_links_that_lead_out_are_followed_where_that_is_asked(tmp_path):
    outside = write(tmp_path / "elsewhere" / "t.lance")
    own = write(tmp_path / "db" / "own.lance")
    (tmp_path / "db" / "linked.lance").symlink_to(outside)
    assert tables_below(str(tmp_path / "db")) == sorted([own, str(tmp_path / "db/linked.lance")])
    found = places_below(str(tmp_path / "db"))
    assert [*found.tables.values()] == [own]
    assert found.links == {"linked.lance": outside}
