"""The parts of a report against the frames that they are made of."""

import lance
import pyarrow as pa
import pytest

from lance_explorer import demo
from lance_explorer.table import Table, open_table
from tests.report.reading import Report, report_on
from tests.synthetic import SyntheticTable


@pytest.fixture(scope="module")
def photos(tmp_path_factory) -> Table:
    """The sample table."""
    return open_table(demo.make_photos(tmp_path_factory.mktemp("sample") / "photos.lance"))


@pytest.fixture(scope="module")
def told(photos, tmp_path_factory) -> Report:
    """The report on it."""
    return report_on(photos, tmp_path_factory.mktemp("report"))


def test_every_part_has_something_to_show(told):
    assert told.failures == {}
    assert told.pictures == {
        "On disk": 2,
        "Growth and operations": 1,
        "What made it big": 1,
        "Fragments": 1,
        "File sizes": 1,
        "Schema": 1,
        "Lineage": 1,
        "Row ID encodings": 2,
        "Changes over time": 1,
    }
    assert all(text.strip() for title, text in told.sections.items() if title not in told.pictures)


def test_commits_are_the_versions_with_the_latest_first(told, photos):
    [head, *rows] = told.tables["Commits"][0]
    versions = photos.versions().reverse()
    assert [row[0] for row in rows] == [f"{number}" for number in versions["version"]]
    assert [row[head.index("message")] for row in rows] == versions["message"].fill_null(
        ""
    ).to_list()
    assert rows[0][head.index("what it did")].startswith("361 rows deleted where rating = 1;")


def test_indices_stand_with_what_they_cover(told, photos):
    segments, coverage = told.tables["Indices"]
    assert len(segments) - 1 == len(photos.inspect.indices())
    known = photos.inspect.all_index_coverage().filter("is_current")
    place = coverage[0].index("num_rows_to_scan")
    assert {row[0]: int(row[place].replace(",", "")) for row in coverage[1:]} == dict(
        known.select("name", "num_rows_to_scan").iter_rows()
    )


def test_what_is_on_disk_is_told_with_what_to_do_about_it(told, photos):
    section = told.sections["On disk"]
    assert photos.disk_usage().sentence in section
    for preview in (photos.cleanup_preview(), photos.compaction_preview()):
        assert preview.code in section
        assert preview.sentence[1:] in section


def test_long_tables_are_cut_and_say_so(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(fragments=150)
    for _ in range(250):
        table.append()
    cut = report_on(open_table(table.path), tmp_path)
    assert "The last 200 of 251 commits, the latest first" in cut.sections["Commits"]
    assert [row[0] for row in cut.tables["Commits"][0][1::199]] == ["251", "52"]
    assert "The first 100 of 400 fragments" in cut.sections["Fragments"]
    assert len(cut.tables["Fragments"][0]) == 101
    assert (tmp_path / "report.html").stat().st_size < 7_000_000


def test_findings_and_advice_stand_together_the_worst_first(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=10, fragments=150)
    opened = open_table(table.append().amend(magic=b"LANX").append().path)
    told = report_on(opened, tmp_path)
    [[head, *rows]] = told.tables["Findings and advice"]
    both = [*opened.inspect.findings()["statement"], *opened.inspect.health()["statement"]]
    messages = [row[head.index("what was seen")] for row in rows]
    assert {*both} < {*messages}
    assert any("of unknown use" in message for message in messages)
    signs = [row[0] for row in rows]
    assert [*dict.fromkeys(signs)] == ["wrong", "should be done", "worth knowing"]


def test_a_report_without_findings_says_so_once(tmp_path):
    table = lance.write_dataset(pa.table({"n": range(10)}), tmp_path / "t.lance")
    section = report_on(open_table(table.uri), tmp_path).sections["Findings and advice"]
    assert section.count("Nothing needs to be done: no check found anything.") == 1


def test_a_table_without_stable_row_ids_says_so(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=3)
    told = report_on(open_table(table.path), tmp_path)
    assert "does not have stable ones" in told.sections["Row ID encodings"]
    assert "Row ID encodings" not in told.pictures
