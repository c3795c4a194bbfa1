"""The widget of indices, without a browser: what Python holds, and how it answers."""

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.inspect.index_coverage import INDEX_COVERAGE
from lance_explorer.table import open_table
from lance_explorer.widgets import Indices
from lance_explorer.widgets.state import ExplorerState
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable

DTYPES = {
    "Float64Array": np.float64,
    "BigUint64Array": np.uint64,
    "Int32Array": np.int32,
    "Uint8Array": np.uint8,
}


@pytest.fixture
def written(tmp_path):
    """An index on fragment 0, one on both."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).create_index("early")
    return table.append(rows=12).create_index("late").delete({0: [1]})


@pytest.fixture
def widget(written):
    return Indices(open_table(written.path))


def asked(browser, kind, **arguments):
    """Return the content of an answer, and its arrays by name."""
    answer = browser.ask(kind, **arguments)
    assert answer["what"] == "reply", answer
    content = answer["content"]
    arrays = {name: one for name, one in content.items() if isinstance(one, np.ndarray)}
    return content, {name: one.tolist() for name, one in arrays.items()}


def test_it_begins_with_the_latest_version_and_the_first_index(widget):
    assert widget.selection == {"version": 5, "fragment_id": None, "index": "early"}


def test_the_frame_is_the_coverage_of_the_index_that_is_drawn(widget):
    coverage = widget._table.inspect.index_coverage(5)
    assert widget.frame().equals(coverage.filter(name="early"))
    widget.index = "late"
    widget.state.version = 4
    assert widget.frame().equals(widget._table.inspect.index_coverage(4).filter(name="late"))


@pytest.mark.parametrize("name", ["early", 'it\'s "new"\n'])
def test_the_code_gives_the_frame(written, name):
    written.create_index(name)
    widget = Indices(open_table(written.path))
    widget.index = name
    found = eval(widget.code(), {"table": widget._table})
    assert found.equals(widget.frame())
    assert found["name"].unique().to_list() == [name]


def test_an_index_that_never_was_is_refused(widget):
    with pytest.raises(InvalidArgumentError, match="there are: early, late"):
        widget.index = "none"


def test_a_chosen_index_stays_where_a_version_lacks_it(widget):
    widget.index = "late"
    widget.state.version = 2
    assert widget.index == "late"
    assert widget.frame().is_empty()
    assert widget.frame().schema == INDEX_COVERAGE.polars_schema


def test_an_option_that_it_does_not_have_is_refused(written):
    with pytest.raises(TypeError, match="version"):
        Indices(open_table(written.path), version=3)  # type: ignore[call-arg]


def test_views_that_share_a_state_are_linked(written):
    state = ExplorerState(version=2)
    one, other = [Indices(open_table(written.path), state=state) for _ in range(2)]
    one.state.fragment_id = 0
    assert other.selection == {"version": 2, "fragment_id": 0, "index": "early"}


def test_the_history_has_what_each_index_answered(widget, browse):
    content, arrays = asked(browse(widget), "history")
    assert content["index_names"] == ["early", "late"]
    lines = [*zip(*[arrays[f"line_{name}"] for name in ("index", "first", "last")], strict=True)]
    counts = [*zip(arrays["line_answered"], arrays["line_to_scan"], strict=True)]
    assert dict(zip(lines, counts, strict=True)) == {
        (0, 1, 1): (4, 0),
        (0, 2, 3): (4, 12),
        (1, 3, 3): (16, 0),
        (0, 4, 4): (3, 12),
        (1, 4, 4): (15, 0),
    }
    assert arrays["versions"] == [1, 2, 3, 4, 5]


def test_lives_are_stretches_of_versions(widget, browse):
    content, arrays = asked(browse(widget), "lives", index="early")
    names = [content["coverages"][code] for code in arrays["coverage"]]
    stretches = [*zip(arrays["slot"], arrays["first"], arrays["last"], names, strict=True)]
    assert sorted(stretches) == [
        (0, 0, 0, "no_index"),
        (0, 1, 3, "covered"),
        (0, 4, 4, "masked"),
        (1, 2, 4, "not_covered"),
    ]
    assert set(content["colors"]) == {*content["coverages"]} - {"absent"}


def test_an_index_that_is_chosen_in_the_browser_is_that_of_python(widget, browse):
    browse(widget).ask("choose", index="late")
    assert widget.selection["index"] == "late"


def test_python_tells_the_browser_which_index_to_draw(widget, browse):
    browser = browse(widget)
    widget.index = "late"
    assert browser.news("index") == [{"name": "late"}]


def test_facts_of_a_version_come_with_advice(widget, browse):
    content, _ = asked(browse(widget), "version", version="3")
    [early] = content["indices"]
    assert (early["num_rows_answered"], early["num_rows_to_scan"]) == ("4", "12")
    assert content["advice"]["nothing"].startswith(
        "Nothing needs to be done: beside an index a search scans"
    )


def test_a_version_that_is_not_kept_is_a_problem_in_words(written, browse):
    written.remove(2)
    content, _ = asked(browse(Indices(open_table(written.path))), "version", version="2")
    assert content["problem"].startswith("version 2 was cleaned up")


def test_a_damaged_reuse_history_leaves_the_rest(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).create_index("id_idx")
    table.create_index("__lance_frag_reuse", fields=())
    table.state.indices[-1].index_details.value = b"\xff\xff"
    table.append(rows=1)
    browser = browse(Indices(open_table(table.path)))
    content, arrays = asked(browser, "history")
    assert content["problem"]
    assert arrays["line_index"] == []
    assert arrays["versions"] == [1, 2, 3, 4]
    assert asked(browser, "version", version="4")[0]["problem"]
    assert asked(browser, "version", version="2")[0]["indices"]
    assert browser.ask("lives", index="id_idx")["what"] == "error"


def test_an_unknown_reader_flag_leaves_fragments_known(written, browse):
    written.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    browser = browse(Indices(open_table(written.path)))
    content, _ = asked(browser, "version", version="5")
    assert [facts["num_fragments_covered"] for facts in content["indices"]] == ["1", "2"]
    _, arrays = asked(browser, "history")
    assert len(arrays["versions"]) == 5


def test_refresh_finds_what_was_committed_meanwhile(written, widget, browse):
    browser = browse(widget)
    assert asked(browser, "history")[0]["index"] == "early"
    written.create_index("newest")
    assert len(asked(browser, "history")[1]["versions"]) == 5
    content, arrays = asked(browser, "history", refresh=True)
    assert content["index_names"] == ["early", "late", "newest"]
    assert len(arrays["versions"]) == 6


def test_a_table_without_indices_says_how_one_is_made(tmp_path, browse):
    widget = Indices(open_table(SyntheticTable(tmp_path / "t.lance").append().path))
    assert widget.index is None
    assert widget.frame().is_empty()
    assert widget.code() == "table.inspect.index_coverage(version=1)"
    content, _ = asked(browse(widget), "version", version="1")
    assert 'create_scalar_index("id"' in content["advice"]["nothing"]
    assert asked(browse(widget), "history")[0]["index"] is None


def test_a_branch_has_the_indices_of_its_parent(written, browse):
    branch = written.branch("dev").append(rows=2)
    widget = Indices(open_table(written.path, branch="dev"))
    assert widget.index == "early"
    content, _ = asked(browse(widget), "version", version=str(branch.version))
    assert [facts["num_fragments_to_scan"] for facts in content["indices"]] == ["2", "1"]


def test_what_is_advised_works(tmp_path, browse):
    """Do with pylance what the words say, until nothing needs to be done."""
    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(pa.table({"id": range(20_000)}), path)
    advised = asked(browse(Indices(open_table(path))), "version", version="1")[0]["advice"]
    assert advised["found"] == []
    assert 'dataset.create_scalar_index("id", "BTREE")' in advised["nothing"]
    dataset.create_scalar_index("id", "BTREE")
    dataset.insert(pa.table({"id": range(30_000)}))
    dataset.delete("id < 10000")
    assert codes_of(path, dataset.version, browse) == ["unindexed_rows", "stale_index_entries"]
    dataset.optimize.optimize_indices()
    assert codes_of(path, dataset.version, browse) == ["stale_index_entries"]
    dataset.create_scalar_index("id", "BTREE", replace=True)
    assert codes_of(path, dataset.version, browse) == []


def test_indices_that_are_built_anew_as_advised_have_followed_compactions(tmp_path, browse):
    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(pa.table({"id": range(100)}), path, max_rows_per_file=20)
    dataset.create_scalar_index("id", "BTREE")
    dataset.delete("id < 3")
    dataset.optimize.compact_files(defer_index_remap=True)
    assert codes_of(path, dataset.version, browse) == ["fragment_reuse_lags"]
    dataset.create_scalar_index("id", "BTREE", replace=True)
    assert codes_of(path, dataset.version, browse) == []


def codes_of(path, version, browse):
    content, _ = asked(browse(Indices(open_table(path))), "version", version=str(version))
    return [found["code"] for found in content["advice"]["found"]]


def test_a_page_without_a_kernel_shows_indices_and_advice(widget):
    html = widget._repr_mimebundle_()[0]["text/html"]
    assert "early: BTREE" in html
    assert "early: BTREE; 3 rows found, 12 rows to scan" in html
    assert "are alike, on id" in html


def test_hostile_names_are_text_where_no_kernel_runs(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append().create_index("<script>x</script>")
    assert "<script>" not in Indices(open_table(table.path)).static_html()


@pytest.mark.parametrize("path", ["0.10.18/life_cycle", "8.0.1/deferred_remap", "14.0.2/empty"])
def test_old_and_empty_tables_are_answered(path, browse):
    widget = Indices(open_table(DATA / f"{path}.lance"))
    browser = browse(widget)
    content, _ = asked(browser, "history")
    for name in content["index_names"]:
        asked(browser, "lives", index=name)
    for version in widget._table.versions()["version"].to_list():
        assert asked(browser, "version", version=str(version))[0]["advice"]["nothing"]
    assert isinstance(widget.frame(), pl.DataFrame)
