"""What all views advise about a table is the same: they show one set of records."""

import re
from typing import Any

import polars as pl
import pytest

from lance_explorer import demo
from lance_explorer.checks.advice import NOTHING_TO_DO, advice, advice_counts
from lance_explorer.findings import Finding
from lance_explorer.frames.findings import findings_frame
from lance_explorer.table import Table, open_table
from lance_explorer.widgets import Disk, Indices, Overview, SegmentEncodings
from lance_explorer.widgets.advice_data import advice_data
from tests.report.reading import report_on
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable
from tests.widgets.conftest import Browser

Shown = set[tuple[str, str, str]]
"""Severity, what was seen, and what to do, of each."""


_SHOWN = ("severity", "statement", "remedy")


def records(frame: pl.DataFrame) -> Shown:
    return {*frame.with_columns(pl.col("remedy").fill_null("")).select(_SHOWN).iter_rows()}


def told(content: dict[str, Any]) -> Shown:
    """Return the records that a view sends to its browser."""
    return {tuple(one[name] for name in _SHOWN) for one in content["found"]}


def shown_by_views(table: Table, browse) -> dict[str, Shown]:
    """Return what each view sends, about the latest version."""
    version = str(table.latest.version)
    return {
        "overview": told(browse(Overview(table)).ask("advice")["content"]),
        "disk": told(browse(Disk(table)).ask("advice", version=version)["content"]),
        "indices": told(
            browse(Indices(table)).ask("version", version=version)["content"]["advice"]
        ),
        "row_ids": told(browse(SegmentEncodings(table)).ask("advice", version=version)["content"]),
    }


def in_report(table: Table, folder) -> set[tuple[str, str]]:
    """Return what was seen, and what to do, of the report."""
    found = report_on(table, folder)
    tables = found.tables.get("Findings and advice", [])
    rows = [dict(zip(one[0], row, strict=True)) for one in tables for row in one[1:]]
    is_nothing = f"{NOTHING_TO_DO}: no check found" in found.sections["Findings and advice"]
    assert is_nothing == (not rows)
    counted = advice_counts(advice(table._view)) or f"{NOTHING_TO_DO}."
    assert counted in found.sections["The story in words"]
    return {(row["what was seen"], row["what to do"]) for row in rows}


def check(table: Table, browse) -> list[Finding]:
    """Compare what the views show with the findings; return these."""
    found = advice(table._view)
    every = findings_frame(found)
    health, findings = table.inspect.health(), table.inspect.findings()
    storage = records(every.filter(topic="storage"))
    shown = shown_by_views(table, browse)
    assert shown["overview"] == records(every) == records(findings) | records(health) | storage
    assert records(every) <= records(table.check())
    for topic in ("indices", "row_ids"):
        assert shown[topic] == records(health.filter(topic=topic)), topic
    assert shown["disk"] == records(health.filter(topic="files")) | storage
    for view in (Disk(table), Indices(table), SegmentEncodings(table), Overview(table)):
        assert records(view.advice) <= records(every)
    return found


@stored_check()
def check_all_views_of_stored_tables_advise_the_same(asked):
    check(asked.table, Browser)


@pytest.mark.slow
@pytest.mark.parametrize("make", [demo.make_photos, demo.make_photos_without_stable_row_ids])
def test_all_views_of_the_samples_advise_the_same(tmp_path, browse, make):
    table = open_table(make(tmp_path / "photos.lance"))
    every = check(table, browse)
    assert in_report(table, tmp_path) == {(one.statement, one.to_do) for one in every}


@pytest.fixture
def sick(tmp_path) -> Table:
    """A table with something of each topic, and something wrong."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=9).create_index("empty")
    table.overwrite(rows=9, fragments=150).append(rows=40_000).delete({151: range(30_000)})
    table.create_index("dropped", [7]).append(rows=5)
    table.folder.manifest_path(1).write_bytes(b"nothing")
    return open_table(table.path)


@pytest.mark.slow
def test_all_views_of_a_sick_table_advise_the_same(sick, tmp_path, browse, monkeypatch):
    monkeypatch.setattr("lance_explorer.inspect.manifest_health.LARGE_SAVING", 1)
    monkeypatch.setattr("lance_explorer.inspect.manifest_health.SAVING_SHARE", 0.0)
    every = check(sick, browse)
    assert {one.topic for one in every} >= {"metadata", "files", "indices"}
    assert findings_frame(every)["severity"].is_sorted()
    assert in_report(sick, tmp_path) == {(one.statement, one.to_do) for one in every}


def test_pages_without_a_kernel_have_the_advice_too(sick):
    for view in (Indices(sick), SegmentEncodings(sick)):
        text = re.sub(r"<[^>]*>", "", view.static_html()).replace("&#x27;", "'")
        messages = view.advice["statement"].to_list()
        assert all(message[1:] in text for message in messages)
        assert (NOTHING_TO_DO in text) == (not messages)


def test_of_much_advice_the_rest_is_counted():
    data = advice_data([Finding("small_fragments", "s", versions=(3, 3))] * 130)
    assert (len(data.found), data.num_found) == (100, 130)
    assert data.counts == "130 should be done"
    assert data.found[0].view == "disk"
