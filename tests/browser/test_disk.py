"""The view Disk, in JupyterLab."""

import json
import re
from functools import partial

import pytest
from playwright.sync_api import expect

from lance_explorer.frames.sizes import byte_size
from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
import polars as pl
table = lx.open_table({path!r}, branch={branch!r})
widget = lx.widgets.Disk(table)
widget
"""

EVIL = "<img src=x onerror='owned=1'>\u202e"


def show(notebook, path, branch=None):
    """Show the widget over a table; return the notebook once all is there."""
    notebook.run_cells(OPEN.format(path=str(path), branch=branch))
    notebook.widgets(".lx-disk-view[data-loaded][data-version]").wait_for()
    return notebook


@pytest.fixture
def opened(spare_notebook):
    """Show a table that one test looks at."""
    return partial(show, spare_notebook)


@pytest.fixture(scope="module")
def photos(shared_notebook, photos_path):
    return show(shared_notebook, photos_path)


@pytest.fixture
def shown(photos):
    """The sample table at its last version, without a filter."""
    photos.show()
    photos.run("widget.kind = 'data_files'; widget.state.filter = ''; widget.state.version = 45")
    photos.run("widget.sort_by()")
    at_version(photos, 45)
    photos.wait_for("widget._worker.wait(0)")
    rows_in_table(photos, 8)
    return photos


def widget(notebook):
    return notebook.widgets(".lx-disk-view")


def part(notebook, title):
    return widget(notebook).get_by_role("region", name=title, exact=True)


def at_version(notebook, version):
    """Wait until the files of a version are shown, in numbers and in the table."""
    notebook.widgets(f'.lx-disk-view[data-version="{version}"]').wait_for()
    notebook.wait_for(f"widget._rows[0] == ({version}, widget.kind)")
    rows_in_table(notebook, notebook.value("widget.frame().height"))


def rows_in_table(notebook, number):
    grid = notebook.widgets(f'.lx-rows-grid[aria-rowcount="{number + 1}"]')
    grid.wait_for()
    return grid


def cards(notebook):
    """Return the cards as (label, value, details)."""
    texts = widget(notebook).locator(".lx-card").all_inner_texts()
    return {label: (value, *details) for label, value, *details in (t.split("\n") for t in texts)}


def test_totals_are_those_of_the_version_that_python_chooses(shown):
    told = cards(shown)
    for label, frame, column in (
        ("data files", "data_files", "size_bytes"),
        ("deletion files", "deletions", "file_bytes"),
        ("index segments", "indices", "size_bytes"),
    ):
        size, number = shown.value(
            f"(int(table.inspect.{frame}()['{column}'].sum()), len(table.inspect.{frame}()))"
        )
        assert told[label][0] == byte_size(size)
        assert told[label][1].startswith(str(number))
    assert told["manifest"][0] == byte_size(shown.value("table.versions()['manifest_bytes'][-1]"))
    shown.run("widget.state.version = 16")
    at_version(shown, 16)
    widget(shown).get_by_role("heading", name="Files of version 16", exact=True).wait_for()
    assert cards(shown)["data files"][1] == f"{shown.value('widget.frame().height')} files"


def test_a_bar_of_sizes_filters_the_table_by_mouse_and_key(shown):
    chart = widget(shown).get_by_role("listbox", name="number of data files by size", exact=True)
    bins = json.loads(chart.get_attribute("data-bins"))
    sizes = shown.value("table.inspect.data_files()['size_bytes'].to_list()")
    assert sum(total for _, total, _ in bins) == len(sizes)
    assert all(small == total for _, total, small in bins)
    [at, *_] = [i for i, (_, total, _) in enumerate(bins) if total == 2]
    box = chart.bounding_box()
    x = 46 + (at + 0.5) * (box["width"] - 46 - 30) / len(bins)
    chart.hover(position={"x": x, "y": 100})
    told = widget(shown).get_by_role("tooltip").filter(visible=True)
    expect(told).to_have_text(re.compile(r"^2 files of "), use_inner_text=True)
    chart.click(position={"x": x, "y": 100})
    rows_in_table(shown, 2)
    assert shown.value("widget.frame().height") == 2
    assert shown.value("eval(widget.code()).equals(widget.frame())")
    chart.click(position={"x": x, "y": 100})
    rows_in_table(shown, len(sizes))
    chart.press("ArrowRight")
    chart.press("Enter")
    shown.wait_for("widget.state.filter != ''")
    rows_in_table(shown, shown.value("widget.frame().height"))


def test_a_row_chooses_its_fragment_by_mouse_and_key(shown):
    grid = rows_in_table(shown, 8)
    grid.locator('tr[data-row="3"] td').first.click()
    shown.wait_for("widget.state.fragment_id == 12")
    shown.page.keyboard.press("ArrowDown")
    shown.page.keyboard.press("Space")
    shown.wait_for("19 in widget.selected_rows()['fragment_id']")
    grid.locator('tr[data-row="4"] td').first.click()
    shown.wait_for("widget.state.fragment_id == 19")
    shown.widgets('.lx-picture[data-drawn="19"]').wait_for()


def test_deletions_by_fragment_choose_the_fragment(shown):
    chart = widget(shown).get_by_role("slider", name="Fragment", exact=True)
    told = part(shown, "Deleted rows that files still hold")
    number = shown.value("table.inspect.deletions().height")
    over = shown.value("(table.inspect.deletions()['fraction'] > 0.1).sum()")
    expect(told).to_contain_text(f"{number} of 6 fragments with deleted rows", use_inner_text=True)
    expect(told).to_contain_text(f"line (10 %): {over}.", use_inner_text=True)
    chart.focus()
    shown.page.keyboard.press("Home")
    shown.wait_for("widget.state.fragment_id == 11")
    shown.page.keyboard.press("ArrowRight")
    shown.wait_for("widget.state.fragment_id == 12")
    shown.widgets('.lx-picture[data-drawn="12"]').wait_for()
    chart.click(position={"x": 46 + 2.5 * 60, "y": 50})
    shown.wait_for("widget.state.fragment_id == 19")
    shown.wait_for("widget.selection == [4]")
    chart.hover(position={"x": 46 + 0.5 * 60, "y": 50})
    told = widget(shown).get_by_role("tooltip").filter(visible=True)
    expect(told).to_have_text(re.compile(r"^fragment 11: "), use_inner_text=True)


def test_the_table_has_other_kinds_of_files_and_is_sorted_by_size(shown):
    listed = part(shown, "All files of the version")
    listed.get_by_role("button", name="deletion files", exact=True).click()
    shown.wait_for("widget.kind == 'deletions'")
    rows_in_table(shown, 5)
    listed.get_by_text("num_deleted_rows", exact=True).wait_for()
    shown.run("widget.kind = 'indices'")
    rows_in_table(shown, 6)
    listed.get_by_text("embedding_idx").first.wait_for()
    assert shown.value("widget.frame().height") == 6
    shown.run("widget.kind = 'data_files'")
    rows_in_table(shown, 8)
    head = widget(shown).get_by_role("columnheader", name="size_bytes")
    head.click()
    shown.wait_for("widget.sort and not widget.sort[0].descending")
    smallest = shown.value("table.inspect.data_files()['size_bytes'].min()")
    first = widget(shown).locator('tr[data-row="0"] td').nth(1)
    first.get_by_text(str(smallest), exact=True).wait_for()


def test_manifests_are_drawn_over_versions_and_choose_one(shown):
    chart = part(shown, "What manifests consist of").get_by_role("application")
    chart.focus()
    shown.page.keyboard.press("ArrowLeft")
    at_version(shown, 44)
    chart.hover(position={"x": 80, "y": 100})
    told = widget(shown).get_by_role("tooltip").filter(visible=True)
    expect(told).to_contain_text("Version 1 ", use_inner_text=True)
    expect(told).to_contain_text("transaction: ", use_inner_text=True)
    chart.click(position={"x": 80, "y": 100})
    at_version(shown, 1)


def test_what_is_on_disk_is_told_by_kind_and_owner(shown):
    shown.widgets(".lx-disk-view[data-disk]").wait_for()
    disk = part(shown, "On disk, with all versions")
    expect(disk).to_contain_text(shown.value("table.disk_usage().sentence"), use_inner_text=True)
    rows = disk.locator("tbody tr").all_inner_texts()
    by_kind = {kind: cells for kind, *cells in (row.split("\t") for row in rows)}
    sizes = "table.disk_usage().summary().filter(kind='data')['size_bytes'].to_list()"
    assert sorted(by_kind["data files"]) == sorted([byte_size(size) for size in shown.value(sizes)])
    parts = (
        disk.get_by_role("img")
        .locator("i")
        .evaluate_all("(parts) => parts.map((part) => part.getBoundingClientRect().width)")
    )
    assert len(parts) == 3
    assert min(parts) > 20
    expect(disk.locator("dd code")).to_have_count(3)  # they come after the sentence
    code = disk.locator("dd code").all_inner_texts()
    assert code[0] == shown.value("table.cleanup_preview().code")
    assert code[2] == "dataset.optimize.compact_files()"


def test_nothing_is_asked_where_nothing_changed(shown):
    shown.run("asked = []; answer = widget._answer")
    shown.run("widget._answer = lambda one: (asked.append(one._question.kind), answer(one))")
    shown.run("widget.state.fragment_id = 24")
    shown.widgets('.lx-picture[data-drawn="24"]').wait_for()
    shown.run("widget.state.row_id = 3; widget.state.row_id = None")
    shown.run("widget.state.fragment_id = 25")
    shown.widgets('.lx-picture[data-drawn="25"]').wait_for()
    assert set(shown.value("asked")) <= {"page"}
    shown.run("del widget._answer")


def test_an_empty_table_has_no_files(opened, tmp_path):
    notebook = opened(SyntheticTable(tmp_path / "t.lance").overwrite(0, 0).path)
    assert cards(notebook)["data files"] == ("0 bytes", "0 files")
    expect(widget(notebook)).to_contain_text("no files", use_inner_text=True)
    expect(widget(notebook)).to_contain_text("The version has no fragments", use_inner_text=True)


def test_a_version_that_is_lost_says_so(opened, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=5).append(rows=5).append(rows=1)
    notebook = opened(table.remove(2).path)
    notebook.run("widget.state.version = 2")
    widget(notebook).get_by_text("version 2 was cleaned up").first.wait_for()
    notebook.run("widget.state.version = 1")
    at_version(notebook, 1)


def test_hostile_names_are_text(opened, tmp_path):
    table = SyntheticTable(tmp_path / "<b>t.lance").append(rows=5).create_index(EVIL)
    notebook = opened(table.path)
    notebook.run("widget.kind = 'indices'")
    widget(notebook).get_by_role("gridcell").get_by_text("\\u202e").wait_for()
    expect(widget(notebook).locator("img")).to_have_count(0)
    assert notebook.page.evaluate("typeof owned") == "undefined"


def test_five_thousand_fragments_are_drawn(opened, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=50, fragments=5000)
    table.delete({4321: range(40)})
    notebook = opened(table.path)
    at_version(notebook, 2)
    told = part(notebook, "Deleted rows that files still hold")
    expect(told).to_contain_text("1 of 5,000 fragments with deleted rows", use_inner_text=True)
    expect(told).to_contain_text("Each bar is the most of ", use_inner_text=True)
    chart = widget(notebook).get_by_role("slider", name="Fragment", exact=True)
    notebook.run("widget.state.fragment_id = 4320")
    notebook.widgets('.lx-picture[data-drawn="4320"]').wait_for()
    chart.focus()
    notebook.page.keyboard.press("ArrowRight")
    notebook.wait_for("widget.state.fragment_id == 4321 and widget.selection == [4321]")
