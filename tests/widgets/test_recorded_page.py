"""The explorer as one file: what is in it, and how large it gets."""

import gzip
import hashlib
import json
import re
from base64 import b64decode, b64encode

import lance
import pyarrow as pa
import pytest

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.table import open_table
from lance_explorer.widgets.changes import Changes
from lance_explorer.widgets.messages.base import Packed, to_json
from lance_explorer.widgets.messages.explorer import Code
from lance_explorer.widgets.shelves import Shelves, key_of


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "t.lance"
    for _ in range(3):
        lance.write_dataset(pa.table({"n": [1, 2, 3]}), path, mode="append")
    return path


def told(page):
    """Return what a page knows at its start."""
    [found] = re.findall(r'<script type="application/json" id="lx-recording">(.*?)</script>', page)
    return json.loads(found)


def test_a_page_has_an_answer_for_each_version_and_row(path, tmp_path):
    page = open_table(path).report(tmp_path / "page.html", interactive=True).read_text()
    index = told(page)["index"]
    for version in (1, 2, 3):
        assert {key_of("details", version), key_of("rows", version)} <= index.keys()
        assert key_of("compared", version - 1, version) in index
    assert key_of("compared", 1, 3) in index
    assert told(page)["rows"] != []
    assert all(key_of("row", row) in index for row in told(page)["rows"])


def test_its_policy_lets_only_its_own_script_and_style_run(path, tmp_path):
    page = open_table(path).report(tmp_path / "page.html", interactive=True).read_text()
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; ")
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        opening = '<script type="module">' if tag == "script" else "<style>"
        text = page.rpartition(opening)[2].partition(f"</{tag}>")[0]
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}';" in policy


def test_a_page_without_room_for_its_versions_is_refused(path, tmp_path):
    target = tmp_path / "page.html"
    for most in (1, 250_000):
        with pytest.raises(InvalidArgumentError, match="needs more than"):
            open_table(path).report(target, interactive=True, max_bytes=most)
    assert not target.exists()


def kept(page):
    """Return the answers of a page, by their names."""
    shelves = re.findall(r'class="lx-shelf">(.*?)</script>', page)
    answers = [json.loads(gzip.decompress(b64decode(shelf))) for shelf in shelves]
    return {key: answers[shelf][place] for key, (shelf, place) in told(page)["index"].items()}


def test_a_selection_of_changed_rows_is_what_the_view_shows(tmp_path):
    """Also where it has all rows, so that it is stored once."""
    path = tmp_path / "t.lance"
    made = lance.write_dataset(pa.table({"n": [1, 2, 3], "x": [1, 2, 3]}), path)
    made.update({"x": "x + 1"}, where="n < 3")
    more = pa.table({"n": [3, 4], "x": [9, 9]})
    made.merge_insert("n").when_matched_update_all().when_not_matched_insert_all().execute(more)
    made.optimize.compact_files()
    lance.write_dataset(pa.table({"n": [5], "x": [5]}), path, mode="append")
    table = open_table(path)
    page = table.report(tmp_path / "page.html", interactive=True).read_text()
    index, answers = told(page)["index"], kept(page)
    asked = [key for key in map(json.loads, answers) if key[0] == "changed"]
    assert len(asked) > len({tuple(index[key_of(*key)]) for key in asked}) > len(table.versions())
    for _, begin, end, change, column in asked:
        view = Changes(table, int(begin), int(end))
        view.compare_now(change, column)
        answer = answers[key_of("changed", begin, end, change, column)]["content"]
        assert answer["about"] == to_json(view.ask("rows"))
        assert answer["page"] == to_json(view.ask("page", first=0, count=100))
        assert answer["heads"] == to_json(view.ask("heads"))
        view.close()


def test_shelves_keep_what_there_is_room_for():
    shelves = Shelves(2_000)
    assert shelves.put("a", Packed({"n": 1}, buffers=(b"\x00\x01",)))
    assert shelves.close()
    left = shelves.room
    noise = hashlib.shake_256(b"").hexdigest(5_000)
    shelves.put("b", Code(noise))
    assert not shelves.close()
    assert (shelves.room, list(shelves.index)) == (left, ["a"])
    assert sum(map(len, shelves.shelves)) < 2_000
    assert b64decode(shelves.shelves[0])[:2] == b"\x1f\x8b"
