"""The public figures: each draws the frames of the object that it is given, and takes no other."""

import inspect
import json
from typing import Any

import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.errors import (
    FragmentNotFoundError,
    InvalidArgumentError,
    RowNotFoundError,
    TableNotFoundError,
    VersionNotFoundError,
)
from lance_explorer.figures.changes import changes_over_time, churn
from lance_explorer.figures.disk_usage import disk_growth, disk_usage
from lance_explorer.figures.encoding_words import encoding_words
from lance_explorer.figures.encodings import encoding_bytes, encoding_growth
from lance_explorer.figures.file_sizes import file_sizes
from lance_explorer.figures.fragment_map import fragment_map
from lance_explorer.figures.history import history
from lance_explorer.figures.lineage import lineage
from lance_explorer.figures.lineage_graph import lineage_graph
from lance_explorer.figures.manifest_bytes import manifest_bytes
from lance_explorer.figures.profile import profile
from lance_explorer.figures.row_ages import row_ages
from lance_explorer.figures.schema_history import schema_history
from tests.figures.pictures import note
from tests.synthetic import SyntheticTable

OF_TABLES = (
    "disk_growth",
    "disk_usage",
    "encoding_growth",
    "history",
    "manifest_bytes",
    "schema_history",
)
OF_VERSIONS = ("encoding_bytes", "encoding_words", "file_sizes", "fragment_map", "row_ages")
OF_CHANGES = ("changes_over_time", "churn")
OF_VALUES = ("drift", "profile")
OF_LINEAGE = ("lineage", "lineage_graph")


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> str:
    """Fragments 0 and 1 were compacted into 2, of which an update took rows; a branch has more."""
    made = SyntheticTable(tmp_path_factory.mktemp("subjects") / "t.lance")
    made.append(rows=40, fragments=2).delete({1: range(20)}).compact([0, 1])
    made.update({2: range(8)}).add_column("more")
    made.branch("dev").append(rows=3)
    return str(made.path)


@pytest.fixture(scope="module")
def table(path) -> lx.Table:
    return lx.open_table(path)


def same(picture: Any, expected: Any) -> bool:
    """Whether two pictures, or two lists of sentences, are the same."""
    if isinstance(expected, list):
        return bool(picture == expected and expected)
    return bool(json.loads(picture.to_json()) == json.loads(expected.to_json()))


def figure(name: str) -> Any:
    return getattr(lx.figures, name)


def test_every_public_figure_is_of_one_kind():
    assert (
        sorted((*OF_TABLES, *OF_VERSIONS, *OF_CHANGES, *OF_VALUES, *OF_LINEAGE))
        == lx.figures.__all__
    )


# ------------------------------------------------------------------------------------ what is drawn


@pytest.mark.slow
def test_a_table_is_drawn_from_its_frames(table):
    frames = table.inspect
    growth = frames.row_id_totals(), frames.all_row_id_encodings()
    assert same(lx.figures.history(table), history(table.versions()))
    assert same(lx.figures.disk_usage(table), disk_usage(table.disk_usage().summary()))
    assert same(lx.figures.disk_growth(table), disk_growth(table.disk_usage().versions()))
    assert same(lx.figures.schema_history(table), schema_history(frames.all_fields()))
    assert same(lx.figures.manifest_bytes(table), manifest_bytes(frames.manifests()))
    assert same(lx.figures.encoding_growth(table), encoding_growth(*growth))


@pytest.mark.parametrize("version", [2, 5, None])
def test_a_version_is_drawn_from_its_frames(table, version):
    frames, versions = table.inspect, table.versions()
    shown = table if version is None else table.at(version)
    fragments = frames.fragments(version)
    row_ids = frames.row_id_segments(version), frames.row_id_encodings(version)
    runs = frames.version_runs(version)
    expected_map = fragment_map(fragments, frames.all_fragments(), versions)
    expected_sizes = file_sizes(frames.data_files(version), fragments, 30)
    assert same(lx.figures.fragment_map(shown), expected_map)
    assert same(lx.figures.file_sizes(shown, small_rows=30), expected_sizes)
    assert same(lx.figures.row_ages(shown), row_ages(runs, versions))
    assert same(lx.figures.encoding_bytes(shown), encoding_bytes(*row_ids))
    assert same(lx.figures.encoding_words(shown), encoding_words(*row_ids))


@pytest.mark.parametrize("name", OF_VERSIONS)
def test_a_table_stands_for_its_latest_version(table, name):
    assert same(figure(name)(table), figure(name)(table.latest))
    assert not same(figure(name)(table), figure(name)(table.at(1)))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*OF_TABLES, *OF_VERSIONS, *OF_LINEAGE])
def test_a_branch_is_drawn_as_such(path, table, name):
    branch = lx.open_table(path, branch="dev")
    assert not same(figure(name)(branch), figure(name)(table))
    if name in OF_VERSIONS:
        latest = branch.latest
        assert same(figure(name)(branch), figure(name)(table.at(("dev", latest.version))))


@pytest.mark.slow
def test_changes_are_drawn_from_their_frames(table):
    by_commit = table.changes(0, mode="per_commit", include=["moved"])
    drawn = lx.figures.changes_over_time(by_commit)
    assert same(drawn, changes_over_time(by_commit.summary()))
    for changes in (by_commit, table.changes(1), table.changes(1, include=["moved"])):
        assert same(lx.figures.churn(changes), churn(changes.to_polars()))


def test_a_profile_and_a_drift_are_drawn_from_their_frames(table):
    found = table.profile("id")
    expected = profile(found.to_polars(), found.shifts(100))
    assert same(lx.figures.profile(found), expected)


def test_a_lineage_is_drawn_with_the_versions_of_its_table(table):
    story = table.lineage()
    fragments, edges, states = story.frames
    expected = lineage(fragments, edges, states, table.versions(inherited=True))
    for shown in (table, story):
        assert same(lx.figures.lineage(shown), expected)
        assert same(lx.figures.lineage_graph(shown), lineage_graph(fragments, edges))


def test_a_part_of_a_lineage_is_drawn_alone(table):
    part = table.lineage().between(0, 2)
    assert note(lx.figures.lineage(part)) == "2 fragments · versions 1 to 6"
    assert note(lx.figures.lineage_graph(part)) == "2 fragments · 2 edges"
    assert note(lx.figures.lineage_graph(table.row(65).graph())).startswith("2 fragments")


def test_the_lineage_of_a_branch_has_the_commits_of_its_parents(path):
    branch = lx.open_table(path, branch="dev")
    fragments, edges, states = branch.lineage().frames
    expected = lineage(fragments, edges, states, branch.versions(inherited=True))
    assert same(lx.figures.lineage(branch), expected)


def test_a_row_has_the_way_that_its_events_have(table):
    row = table.row(65)
    way = lx.figures.lineage(table, path=row)
    assert "the row" in {trace.name for trace in way.data}
    assert same(way, lx.figures.lineage(table, path=row.history()))
    assert same(way, lx.figures.lineage(table, path=row.history(values=True)))
    ways = lx.figures.lineage(table, path=table.follow([1, 65]))
    assert {"row 1", "row 65"} <= {trace.name for trace in ways.data}


@pytest.mark.parametrize("name", OF_LINEAGE)
def test_a_fragment_is_chosen_by_its_node_its_name_or_its_id(table, name):
    node = table.lineage().node(1)
    by_node = figure(name)(table, fragment=node)
    assert same(by_node, figure(name)(table, fragment=str(node)))
    assert same(by_node, figure(name)(table, fragment=1))
    assert not same(by_node, figure(name)(table))


def test_a_span_and_a_width_can_be_chosen(table):
    shown = lx.figures.lineage(table, between=(2, 3), width=400)
    assert note(shown).endswith("versions 2 to 3")
    assert shown.layout.width == 400
    assert same(shown, lx.figures.lineage(table, between=[2, 3], width=400))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------ what is not taken


def objects(table: lx.Table) -> dict[str, Any]:
    """Return things that a person may try, by how the error names them."""
    return {
        "str": table.uri,
        "NoneType": None,
        "DataFrame": table.versions(),
        "LineageFrames": table.lineage().frames,
        "Row": table.row(65),
        "the class Table": lx.Table,
        "Table": table,
        "Snapshot": table.latest,
        "Lineage": table.lineage(),
        "Changes": table.changes(0),
        "TimeTravel": lx.widgets.TimeTravel(table),
    }


@pytest.mark.parametrize(
    ("names", "taken", "expected"),
    [
        (OF_TABLES, {"Table"}, "expected a Table"),
        (OF_VERSIONS, {"Table", "Snapshot"}, "expected a Snapshot"),
        (OF_LINEAGE, {"Table", "Lineage"}, "expected a Table, or a Lineage"),
        (("profile",), set(), r"expected a Profile \(table.profile"),
        (("drift",), set(), r"expected a Drift \(table.changes"),
        (OF_CHANGES, {"Changes"}, r"expected changes \(table.changes\("),
    ],
    ids=["tables", "versions", "lineage", "profile", "drift", "changes"],
)
def test_anything_else_is_refused_by_what_is_expected_and_what_was_given(
    table, names, taken, expected
):
    for given, thing in objects(table).items():
        if given in taken:
            continue
        for name in names:
            with pytest.raises(InvalidArgumentError, match=f"^{expected}.*, got {given}$"):
                figure(name)(thing)


def test_net_changes_are_refused_where_those_of_commits_are_drawn(table):
    with pytest.raises(InvalidArgumentError, match='"per_commit", got mode="net"'):
        lx.figures.changes_over_time(table.changes(0))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"path": 65}, "expected a Row .*, got int"),
        ({"path": pl.DataFrame({"version": [1]})}, "expected a Row .*, got DataFrame"),
        ({"between": 3}, "expected a first version and a last one, got 3"),
        ({"between": (3, 2)}, "a first version and a last one"),
        ({"between": (1, 2, 3)}, "a first version and a last one"),
        ({"between": (1, 2**64)}, "a first version and a last one"),
        ({"between": "12"}, "a first version and a last one"),
        ({"fragment": 1.5}, "expected a fragment ID, a FragmentNode or its name, got float"),
        ({"width": 0}, "width must be a whole number from 100 on, not 0"),
        ({"width": "wide"}, "width must be a whole number"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(table, options, expected):
    with pytest.raises(InvalidArgumentError, match=expected):
        lx.figures.lineage(table, **options)


@pytest.mark.parametrize("small_rows", [-1, 2.5, "3", True])
def test_small_is_a_number_of_rows(table, small_rows):
    with pytest.raises(InvalidArgumentError, match="small_rows must be a whole number from 0 on"):
        lx.figures.file_sizes(table, small_rows=small_rows)


@pytest.mark.parametrize("name", OF_LINEAGE)
def test_a_fragment_that_never_was_is_not_found(table, name):
    with pytest.raises(FragmentNotFoundError, match="no fragment 77"):
        figure(name)(table, fragment=77)


def test_a_row_that_never_was_is_not_found(table):
    with pytest.raises(RowNotFoundError):
        lx.figures.lineage(table, path=table.row(10_000))


def test_a_row_of_another_table_is_refused(path, table, tmp_path):
    other = lx.open_table(SyntheticTable(tmp_path / "other.lance").append(rows=90).path)
    for given in (table, table.lineage()):
        with pytest.raises(
            InvalidArgumentError, match=r"expected a row of .*t\.lance, got .*other"
        ):
            lx.figures.lineage(given, path=other.row(65))
    on_branch = lx.open_table(path, branch="dev").row(65)
    assert same(
        lx.figures.lineage(table, path=on_branch),
        lx.figures.lineage(table, path=on_branch.history()),
    )


# ------------------------------------------------------------------------------ what others remove


def test_versions_that_vanish_are_left_out(tmp_path):
    made = SyntheticTable(tmp_path / "t.lance").append(rows=5).append(rows=6).append(rows=7)
    table, first = lx.open_table(made.path), lx.open_table(made.path).at(1)
    made.remove(1)
    assert list(lx.figures.history(table).data[0].x) == [2, 3]
    assert note(lx.figures.fragment_map(table)) == "Version 3: 3 fragments, 18 rows"
    assert note(lx.figures.lineage(table)).startswith("3 fragments")
    for name in ("encoding_bytes", "encoding_words", "fragment_map", "row_ages"):
        with pytest.raises(VersionNotFoundError):
            figure(name)(first)


@pytest.mark.parametrize("name", [*OF_TABLES, *OF_VERSIONS, *OF_LINEAGE])
def test_a_table_that_is_gone_is_told(tmp_path, name):
    made = SyntheticTable(tmp_path / "t.lance").append(rows=5)
    table = lx.open_table(made.path)
    made.path.rename(tmp_path / "elsewhere")
    with pytest.raises(TableNotFoundError):
        figure(name)(table)


@pytest.mark.parametrize("name", lx.figures.__all__)
def test_one_object_is_all_that_is_needed(name):
    first, *others = inspect.signature(figure(name)).parameters.values()
    assert first.default is inspect.Parameter.empty
    assert all(option.default is not inspect.Parameter.empty for option in others)
