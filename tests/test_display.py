"""Tables and snapshots show themselves whatever their files say, and never as markup or noise."""

import re
import shutil
from html.parser import HTMLParser
from typing import Any

import pytest

from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.table import Table, open_table
from tests.format.samples import DATA
from tests.stored_tables import is_main, stored_check
from tests.synthetic import SyntheticTable, column

SCRIPT = "<script>alert('x')</script>"
HOSTILE = [
    SCRIPT,
    '"><img src=x onerror="alert(1)">',
    "&lt;b&gt;",
    "two\nlines\tand a tab",
    "\x1b[31mred\x07",
    "\u202eright to left\u2066",
    "\x00",
]
OUR_TAGS = {"div", "p", "caption", "code", "strong", "table", "thead", "tbody", "tr", "th", "td"}
OUR_TAGS |= {"svg", "rect", "path"}
DRAWING = re.compile(r"[#\w .:/-]*")
STYLE = re.compile(
    r"text-align:(left|right)(;padding:3px 9px)?(;white-space:nowrap|;caption-side:top)?"
    r"|overflow-x:auto"
)


class Page(HTMLParser):
    """The tags of a page, and the texts between them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.shapes: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in OUR_TAGS
        if tag in {"svg", "rect", "path"}:
            assert dict(attrs).get("style", "display:inline") == "display:inline"
        else:
            given = dict(attrs)
            assert given.keys() <= {"style", "class", "scope", "title"}
            assert STYLE.fullmatch(given.get("style") or "overflow-x:auto")
        self.open.append(tag)
        self.texts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        super().handle_startendtag(tag, attrs)
        self.shapes.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.isspace():  # between the tags of the template
            return
        assert data.isprintable()
        self.texts[-1] += data

    def after(self, heading: str) -> str:
        """Return the text behind a heading."""
        return self.texts[self.texts.index(heading) + 1]


def visible(text: str) -> str:
    """Return text with what cannot be seen spelled out."""
    return "".join([c if c.isprintable() else repr(c)[1:-1] for c in text])


def page(shown: Any) -> Page:
    return Page(shown._repr_html_())


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """A table of two versions."""
    return SyntheticTable(tmp_path / "photos.lance").append(rows=4).append(rows=3)


def opened(table: SyntheticTable) -> Table:
    return open_table(table.path)


# ---------------------------------------------------------------------------------- what is shown


def test_a_table_is_one_line(table):
    assert repr(opened(table.append().remove(1))) == (
        "Table photos.lance: 2 versions (2 to 3), latest 2026-01-01 00:03:00 UTC, "
        "8 rows in 3 fragments, 1.0 kB"
    )


def test_one_is_not_many(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append()
    assert re.sub(r"2026.* UTC", "...", repr(opened(table))) == (
        "Table t.lance: 1 version (1 to 1), latest ..., 1 row in 1 fragment, 316 bytes"
    )


def test_a_snapshot_is_one_line(table):
    assert repr(opened(table).at(1)) == (
        "Snapshot photos.lance version 1 by Overwrite, 2026-01-01 00:01:00 UTC, "
        "4 rows in 1 fragment, 364 bytes"
    )


def test_a_branch_is_named(table):
    table.branch("dev")
    branch = open_table(table.path, branch="dev")
    assert repr(branch).startswith("Table photos.lance (branch dev): 1 version (2 to 2), ")
    assert repr(branch.latest).startswith("Snapshot photos.lance (branch dev) version 2 by Clone,")


def test_a_line_costs_one_manifest(table):
    shown = opened(table)
    repr(shown)
    assert shown._view.storage.io.bytes_read == table.folder.manifest_path(2).stat().st_size


def test_a_page_shows_the_facts_of_a_table(table):
    table.tag("gold", 1).branch("dev")
    shown = page(opened(table))
    headings = ("location", "versions", "tags", "branches", "writer", "data format", "reader flags")
    assert {heading: shown.after(heading) for heading in headings} == {
        "location": str(table.path),
        "versions": "2 kept, 1 to 2",
        "tags": "gold (version 1)",
        "branches": "dev",
        "writer": "lance 14.0.2",
        "data format": "2.2",
        "reader flags": "stable_row_ids",
    }


def test_a_page_shows_the_facts_of_a_version(table):
    table.commit("append", note="the last rows")
    shown = page(opened(table).latest)
    assert shown.texts[0] == "Version 3 of photos.lance"
    assert (shown.after("operation"), shown.after("message")) == ("Append", "the last rows")


def test_a_page_shows_the_latest_version_first(table):
    texts = page(opened(table)).texts
    assert texts.index("Append") < texts.index("Overwrite")


def test_a_page_shows_rows_and_commits_as_a_picture(table):
    html = opened(table)._repr_html_()
    shown = Page(html)
    assert 'aria-label="Rows and commits of 2 versions"' in html
    colors = [shape["fill"] for tag, shape in shown.shapes if tag == "rect"]
    assert colors == [KIND_COLORS[kind] for kind in ("create", "append", "create", "append")]
    assert [tag for tag, _ in shown.shapes].count("path") == 1
    assert "create 1,  append 1" in re.sub("<.*?>", "", html)


def test_a_page_shows_the_fragments_of_a_version_as_a_picture(table):
    shown = page(opened(table.delete({0: [1]})).latest)
    live, deleted, other = [shape for tag, shape in shown.shapes if tag == "rect"]
    assert (live["height"], deleted["height"], other["height"]) == ("21", "7", "28")
    assert float(live["width"] or 0) / float(other["width"] or 1) == pytest.approx(4 / 3, abs=0.01)
    assert "2 fragments as wide as their rows; pale: deleted rows" in shown.texts


@stored_check(is_main)
def check_every_stored_table_shows_itself(asked):
    shown = asked.table
    assert page(shown).after("location") == str(asked.root)
    assert page(shown.latest).texts[0] == f"Version {shown.latest.version} of {asked.root.name}"


# --------------------------------------------------------------------------------- how much of it


def test_a_page_says_how_many_of_the_versions_it_shows(table):
    for _ in range(10):
        table.append()
    texts = page(opened(table)).texts
    assert "The latest 10 of 12 versions" in texts
    assert ("12" in texts, "3" in texts, "2" in texts) == (True, True, False)


def test_a_page_with_a_picture_of_some_versions_says_so(table):
    for _ in range(30):
        table.append()
    shown = opened(table)
    texts = Page(shown._html(last=12)).texts
    assert "The latest 10 of 32 versions; the picture shows the latest 12" in texts
    assert shown._html(last=32) == shown._repr_html_()


def test_a_page_says_how_many_of_the_fields_it_shows(table):
    for number in range(2, 25):
        table.state.manifest.fields.append(column(number, f"field_{number}"))
    texts = page(opened(table.append()).latest).texts
    assert "20 of 25 fields" in texts
    assert ("field_19" in texts, "field_20" in texts) == (True, False)


def test_a_page_says_how_many_tags_it_leaves_out(table):
    for number in range(12):
        table.tag(f"a-tag-with-a-name-of-some-length-{number:02}")
    assert page(opened(table)).after("tags").endswith("-09 (version 2) and 2 more")


def test_a_page_says_how_many_branches_it_leaves_out(table):
    for number in range(11):
        table.branch(f"branch-{number:02}")
    assert page(opened(table)).after("branches").endswith("branch-09 and 1 more")


def test_a_page_does_without_tags(table):
    shown = page(opened(table))
    assert (shown.after("tags"), shown.after("branches")) == ("none", "none")


# ---------------------------------------------------------------------------------- hostile texts


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_commit_messages_are_text(table, text):
    shown = opened(table.commit("append", note=text))
    assert page(shown.latest).after("message") == visible(text)
    assert visible(text) in page(shown).texts


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_names_of_columns_are_text(table, text):
    assert visible(text) in page(opened(table.add_column(text)).latest).texts


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_types_of_columns_are_text(table, text):
    table.state.manifest.fields[0].logical_type = text
    assert visible(text) in page(opened(table.append()).latest).texts


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_names_of_tags_and_branches_are_text(table, text):
    table.tag(text)
    table.folder.write_ref("branches", text, {"parentVersion": 1})
    shown = page(opened(table))
    assert shown.after("tags") == f"{visible(text)} (version 2)"
    assert shown.after("branches") == visible(text)


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_the_writer_is_text(table, text):
    writer = table.state.manifest.writer_version
    writer.library, writer.prerelease = text, text
    assert page(opened(table.append()).latest).after("writer").startswith(visible(text))


@pytest.mark.parametrize("text", HOSTILE[:-1], ids=ascii)
def test_the_name_of_the_table_is_text(table, text):
    moved = table.path.rename(table.path.parent / text.replace("/", "|"))
    shown = open_table(moved)
    assert page(shown).after("location") == visible(str(moved))
    assert repr(shown).startswith(f"Table {visible(moved.name)}: ")


def test_the_name_of_a_branch_is_text_in_a_line(table):
    branch = table.branch("dev\n\u202e")
    assert r"(branch dev\n\u202e)" in repr(open_table(branch.path))


MEGABYTE = "<&" * 500_000


def test_megabytes_of_text_are_cut(table):
    table.state.manifest.writer_version.library = MEGABYTE
    table.state.manifest.data_format.version = MEGABYTE
    table.state.manifest.fields[0].logical_type = MEGABYTE
    table.rename_column("score", MEGABYTE)
    table.commit("append", pb.Append(), note=MEGABYTE)
    shown = opened(table)
    assert len(shown._repr_html_()) < 50_000
    assert len(shown.latest._repr_html_()) < 50_000
    assert page(shown.latest).after("message").endswith("...")


def test_pictures_of_large_tables_are_small_and_say_what_a_mark_is(table):
    for _ in range(400):
        table.append(rows=2)
    shown = opened(table)
    html, latest = shown._repr_html_(), shown.latest._repr_html_()
    assert "a cell is 3 versions in the colour of most" in html
    assert "402 fragments, 3 in a column as wide as their rows" in latest
    assert html.count("<rect") == 134 + 2
    assert latest.count("<rect") == 134


def test_many_long_names_are_cut(table):
    for number in range(30):
        table.tag(f"{number:02}" + "x" * 200)
    shown = page(opened(table))
    assert shown.after("tags").startswith(f"00{'x' * 38}... (version 2), 01x")
    assert shown.after("tags").endswith(" and 20 more")


# ------------------------------------------------------------------------------- what goes wrong


def test_a_latest_version_that_cannot_be_read_says_why(table):
    name = table.folder.manifest_path(2).name
    shown = opened(table.amend(magic=b"LANX"))
    reason = f"cannot be read: _versions/{name} at byte "
    assert f"Table photos.lance: 2 versions (1 to 2), latest {reason}" in repr(shown)
    assert page(shown).after("latest").startswith(reason)
    assert "found b'LANX'; table.damage() tells which" in page(shown).after("latest")


def test_the_other_versions_show_beside_one_that_cannot_be_read(table):
    texts = page(opened(table.amend(magic=b"LANX"))).texts
    assert "The latest 1 of 1 version" in texts
    assert "Overwrite" in texts


def test_a_table_that_cannot_be_read_at_all_shows_itself(tmp_path):
    shown = opened(SyntheticTable(tmp_path).append().amend(length=7))
    assert "cannot be read" in repr(shown)
    assert page(shown).after("latest").startswith("cannot be read")


def test_a_table_that_is_gone_by_now_shows_itself(table):
    shown = opened(table)
    shutil.rmtree(table.path)
    assert f"no Lance table at {table.path}" in repr(shown)
    assert f"no Lance table at {table.path}" in shown._repr_html_()


def test_rows_are_not_counted_where_an_unknown_feature_may_change_what_they_are(table):
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    shown = opened(table)
    assert ", unknown rows in 2 fragments, " in repr(shown)
    assert page(shown).after("not readable") == "rows, because of unknown_1048576"


def test_what_a_manifest_does_not_say_is_unknown(table):
    def forget(manifest):
        manifest.ClearField("timestamp")
        manifest.ClearField("writer_version")

    table.folder.transaction_path(2).unlink()
    table.amend(forget, transaction=None)
    shown = page(opened(table).latest)
    assert (shown.after("operation"), shown.after("writer")) == ("unknown", "unknown")
    assert repr(opened(table).latest).startswith(
        "Snapshot photos.lance version 2, at an unknown time, 7 rows"
    )


def test_sizes_and_rows_that_old_writers_do_not_store_are_unknown():
    line = repr(open_table(DATA / "0.10.18" / "life_cycle.lance"))
    assert line.endswith(", unknown size")
