"""The explorer of a database: what its browser asks, and what it is told."""

import shutil

import ipywidgets
import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError, TableNotFoundError
from lance_explorer.widgets import DatabaseExplorer


def write(path, ids, mode="create"):
    lance.write_dataset(pa.table({"id": ids}), path, mode=mode)


@pytest.fixture
def folder(tmp_path):
    """One table of three versions, the second with a tag, and one of one version."""
    folder = tmp_path / "db"
    write(folder / "photos.lance", [1, 2])
    write(folder / "photos.lance", [3, 4], "append")
    write(folder / "photos.lance", [5], "append")
    lance.dataset(folder / "photos.lance").tags.create("gold", 2)
    write(folder / "users.lance", [3])
    return folder


@pytest.fixture
def explorer(folder):
    return DatabaseExplorer(lx.open_database(folder))


def open_widgets():
    return {*ipywidgets.widgets.widget._instances}


def settle(view):
    assert view._worker.wait(60)
    for part in getattr(view, "_numbered", {}).values():
        settle(part)


def test_a_line_says_what_tables_say(explorer, folder, browse):
    lines = browse(explorer).ask("tables")["content"]["lines"]
    tables = lx.open_database(folder).tables()
    assert [line["name"] for line in lines] == tables["name"].to_list()
    for name in ("num_rows", "num_versions", "size_bytes", "live_bytes"):
        assert [int(line[name]) for line in lines] == tables[name].to_list()


def test_commits_are_in_the_lane_of_their_table(explorer, browse):
    log = browse(explorer).ask("log")["content"]
    frame = lx.open_database(explorer._database.uri).log()
    assert [log["tables"][lane] for lane in log["lane"]] == frame["table"].to_list()
    assert log["versions"].tolist() == frame["version"].to_list()
    assert (log["is_cut"], log["not_read"]) == (False, [])


def test_bytes_of_all_statuses_are_those_of_the_folder(explorer, folder, browse):
    usage = browse(explorer).ask("usage")["content"]
    told = sum(int(size) for line in usage["lines"] for size in line["bytes"].values())
    assert told == sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())


def test_a_cleanup_of_any_age_names_the_table_that_has_old_versions(explorer, browse):
    answer = browse(explorer).ask("cleanup", days=0)["content"]
    assert "photos.lance" in str(answer)
    assert "users.lance" not in str(answer)


def test_a_table_opens_in_the_place_of_the_list_and_closes(explorer, browse):
    browser = browse(explorer)
    browser.ask("open_table", name="photos", version="2")
    assert explorer.database_place.table == "photos"
    assert explorer.table.state.version == 2
    assert list(explorer.parts) == ["table"]
    first = explorer.table
    browser.ask("open_table", name="users")
    assert explorer.table.place.view == "overview"
    assert first.comm is None
    browser.ask("show", view="disk")
    assert (explorer.table, explorer.parts, explorer.view) == (None, {}, "disk")


def test_a_table_that_is_not_there_leaves_what_is_shown(explorer):
    explorer.open_table("users")
    with pytest.raises(TableNotFoundError, match="nothing"):
        explorer.open_table("nothing")
    with pytest.raises(LanceExplorerError, match="7"):
        explorer.open_table("photos", version=7)
    assert explorer.database_place.table == "users"


def test_a_question_reaches_a_view_of_the_table(explorer, browse):
    explorer.open_table("photos")
    inner = explorer.table.parts["overview"]
    place = [explorer.parts["table"].number, inner.number]
    message = {"kind": "latest", "seq": 1, "asker": "test", "part": place, "arguments": {}}
    browser = browse(explorer)
    explorer.comm.handle_msg(
        {"content": {"data": {"method": "custom", "content": message}}, "buffers": []}
    )
    settle(explorer)
    told = [content for content, _ in browser.messages() if content.get("seq") == 1]
    assert all(content["part"] == place for content in told)
    assert told[-1]["what"] == "reply"


@pytest.mark.parametrize(
    ("text", "key"),
    [("gold", "moment"), ("today", "moment"), ("id = 3", "answer"), ("", "problem")],
)
def test_what_is_typed_is_a_time_a_tag_or_a_filter(explorer, browse, text, key):
    browser = browse(explorer)
    browser.ask("tables")
    found = browser.ask("search", text=text)["content"]
    assert [name for name, value in found.items() if value is not None] == [key]


def test_a_moment_has_the_version_of_each_table(explorer, browse):
    browser = browse(explorer)
    browser.ask("tables")
    moment = browser.ask("search", text="gold")["content"]["moment"]
    assert [(line["name"], line["version"]) for line in moment["lines"]] == [
        ("photos", "2"),
        ("users", None),
    ]


def test_a_search_finds_rows_of_all_tables(explorer, browse):
    answer = browse(explorer).ask("search", text="id = 3")["content"]["answer"]
    assert "2 rows found in 2 tables of 2" in str(answer)


def test_a_look_tells_of_commits_new_tables_and_dropped_ones(explorer, folder, browse):
    browser = browse(explorer)
    browser.ask("tables")
    browser.ask("look")
    assert browser.news("versions") == []
    write(folder / "users.lance", [4], "append")
    browser.ask("look")
    write(folder / "new.lance", [1])
    browser.ask("look")
    shutil.rmtree(folder / "photos.lance")
    browser.ask("look")
    assert len(browser.news("versions")) == 3
    lines = browser.ask("tables")["content"]["lines"]
    assert {line["name"]: line["num_rows"] for line in lines} == {"new": "1", "users": "2"}


def test_a_folder_that_is_gone_is_said_and_what_was_seen_stays(explorer, folder, browse):
    browser = browse(explorer)
    before = browser.ask("tables")["content"]
    folder.rename(folder.with_name("away"))
    browser.ask("look")
    assert explorer.live.note
    assert browser.ask("tables")["content"] == before
    folder.with_name("away").rename(folder)
    browser.ask("look")
    assert explorer.live.note == ""


def test_the_database_that_was_given_stays_as_it_was(explorer, folder, browse):
    database = lx.open_database(folder)
    followed = DatabaseExplorer(database)
    before = database.tables()
    write(folder / "users.lance", [4], "append")
    browse(followed).ask("look")
    assert database.tables().equals(before)
    assert not followed.frame().equals(before)


@pytest.mark.parametrize("view", ["tables", "log", "disk"])
def test_code_gives_the_frame_that_is_shown(folder, view):
    explorer = DatabaseExplorer(lx.open_database(folder), view)
    *lines, last = explorer.code().splitlines()
    names: dict[str, object] = {}
    exec("\n".join(lines), names)
    assert eval(last, names).equals(explorer.frame())


def test_a_closed_explorer_leaves_no_widget(folder):
    before = open_widgets()
    explorer = DatabaseExplorer(lx.open_database(folder))
    explorer.open_table("photos")
    explorer.close()
    explorer.close()
    assert open_widgets() == before
