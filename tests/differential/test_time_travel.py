"""Whatever a version is asked by, it is the one that pylance opens, and its rows are the same."""

from collections import Counter
from datetime import UTC, timedelta
from typing import Any

import lance
import lancedb
import polars as pl
import pytest
from lancedb.index import BTree
from polars.testing import assert_frame_equal

from lance_explorer import (
    InvalidArgumentError,
    RefNotFoundError,
    TableNotFoundError,
    VersionNotFoundError,
    open_table,
)
from tests.differential.agreement import (
    assert_right_gaps,
    assert_rows_are_conserved,
    assert_same_refs,
    assert_same_steps,
    assert_same_transactions,
    assert_same_versions,
)
from tests.differential.lives import ordinary_days
from tests.differential.twin import Keys, Twin
from tests.stored_tables import is_main, stored_check

QUESTIONS: list[dict[str, Any]] = [
    {"columns": ["value", "key"]},
    {"columns": ["key", "_rowid", "_rowaddr"], "limit": 3},
    {"filter": "key % 3 = 1 AND value > 0"},
    {"columns": ["key"], "filter": "value > 1", "limit": 2},
    {"filter": "key < 0"},
    {"limit": 1000},
]


def as_frame(dataset: Any, **question: Any) -> pl.DataFrame:
    """Return what pylance reads; values of extension types are what they are stored as."""
    frame = pl.from_arrow(dataset.to_table(**question))
    assert isinstance(frame, pl.DataFrame)
    extended = [name for name, kind in frame.schema.items() if isinstance(kind, pl.BaseExtension)]
    return frame.with_columns(pl.col(extended).ext.storage())


@pytest.fixture
def new_twin(tmp_path) -> Twin:
    """A table of a few versions that a test may change."""
    twin = Twin.create(str(tmp_path / "table.lance"), 6)
    twin.append(3)
    twin.delete(Keys(3, 1))
    twin.update(Keys(3, 2))
    return twin


class TestLives:
    def test_rows_of_each_version_are_those_of_pylance(self, twin: Twin):
        table = open_table(twin.uri)
        for version in twin.kept:
            rows = table.at(version).read()
            assert_frame_equal(rows, as_frame(lance.dataset(twin.uri, version=version)))
            if "value" in rows.columns:
                values = dict(rows.select("key", "value").iter_rows())
                assert values == twin.commits[version].rows

    @pytest.mark.parametrize("question", QUESTIONS, ids=str)
    def test_columns_filter_and_limit_mean_what_they_mean_to_pylance(self, twin: Twin, question):
        ours = open_table(twin.uri).latest.read(**question)
        assert_frame_equal(ours, as_frame(twin.dataset, **question))

    def test_a_time_leads_to_the_version_of_that_time(self, twin: Twin):
        table = open_table(twin.uri)
        times = table.versions()["timestamp"].to_list()
        for before, after, version in zip(times, times[1:], twin.kept, strict=False):
            between = before + (after - before) / 2
            local = between.astimezone().replace(tzinfo=None)
            assert lance.dataset(twin.uri, asof=local).version == version
            assert table.at(between).version == version
            assert table.at(between.astimezone(UTC).replace(tzinfo=None)).version == version
            assert table.at(before).version == version
            assert table.at(after - timedelta(microseconds=1)).version == version

    def test_a_tag_leads_to_its_version(self, twin: Twin):
        table = open_table(twin.uri)
        for name, tag in twin.dataset.tags.list().items():
            assert table.at(name).version == tag["version"]

    def test_rows_in_a_query_are_those_of_pylance(self, twin: Twin):
        query = "SELECT key, _rowid, _rowaddr FROM dataset WHERE key > 2 ORDER BY _rowaddr"
        columns = ["key", "_rowid", "_rowaddr"]
        expected = as_frame(twin.dataset, columns=columns, filter="key > 2")
        assert_frame_equal(open_table(twin.uri).sql(query), expected.sort("_rowaddr"))

    def test_operations_are_counted_by_a_query(self, twin: Twin):
        query = "SELECT operation, count(*) AS n FROM versions GROUP BY operation"
        counted = dict(open_table(twin.uri).sql(query).iter_rows())
        assert counted == Counter(twin.commits[version].operation for version in twin.kept)


class TestBranches:
    def test_rows_of_each_version_are_those_of_pylance(
        self, twins_by_branch: dict[str | None, Twin]
    ):
        table = open_table(twins_by_branch[None].uri)
        for branch, twin in twins_by_branch.items():
            for version in twin.kept:
                snapshot = table.at((branch, version) if branch else version)
                dataset = lance.dataset(table.uri).checkout_version((branch, version))
                assert (snapshot.branch, snapshot.version) == (branch, version)
                assert_frame_equal(snapshot.read(), as_frame(dataset))

    def test_a_tag_leads_to_another_branch(self, twins_by_branch: dict[str | None, Twin]):
        for twin in twins_by_branch.values():
            snapshot = open_table(twin.uri).at("tip")
            dataset = lance.dataset(twins_by_branch[None].uri).checkout_version("tip")
            assert (snapshot.branch, snapshot.version) == ("dev", dataset.version)
            assert_frame_equal(snapshot.read(), as_frame(dataset))

    def test_a_version_before_the_fork_names_the_branch_that_has_it(
        self, twins_by_branch: dict[str | None, Twin]
    ):
        table = open_table(twins_by_branch[None].uri)
        with pytest.raises(VersionNotFoundError, match="the main branch"):
            table.at(("dev", 2))
        with pytest.raises(VersionNotFoundError, match="open dev for it"):
            table.at(("dev/deep", 4))


@stored_check()
def check_rows_of_each_version_are_those_of_pylance(asked):
    for version in asked.versions:
        rows = asked.table.at(version).read()
        assert_frame_equal(rows, as_frame(asked.dataset(version)))


@stored_check(is_main)
def check_tags_lead_to_the_versions_of_pylance(asked):
    table = asked.table
    for name in asked.dataset().tags.list():
        dataset = asked.dataset().checkout_version(name)
        assert table.at(name).version == dataset.version
        assert_frame_equal(table.at(name).read(), as_frame(dataset))


@stored_check(is_main)
def check_detached_versions_are_there_by_their_numbers(asked):
    table = asked.table
    for row in table.inspect.detached().iter_rows(named=True):
        dataset = asked.dataset(row["version"])
        assert table.at(row["version"]).num_rows == dataset.count_rows()
        assert_frame_equal(table.at(row["version"]).read(), as_frame(dataset))


class TestWhatIsNotThere:
    def test_a_version_that_was_removed_names_what_remains(self, new_twin: Twin):
        new_twin.clean_up(versions=[2])
        with pytest.raises(VersionNotFoundError, match=r"cleaned up; 3 versions remain, 1 to 4"):
            open_table(new_twin.uri).at(2)

    def test_a_version_that_never_was_names_what_is_there(self, new_twin: Twin):
        with pytest.raises(VersionNotFoundError, match=r"never existed; 4 versions remain, 1 to 4"):
            open_table(new_twin.uri).at(5)

    def test_a_time_before_the_first_version(self, new_twin: Twin):
        table = open_table(new_twin.uri)
        first = table.at(1).timestamp
        assert first is not None
        with pytest.raises(VersionNotFoundError):
            table.at(first - timedelta(microseconds=1))

    def test_a_tag_or_branch_that_never_was(self, new_twin: Twin):
        new_twin.tag("here", 2)
        table = open_table(new_twin.uri)
        with pytest.raises(RefNotFoundError, match="here"):
            table.at("there")
        with pytest.raises(RefNotFoundError):
            table.at(("there", 1))
        with pytest.raises(RefNotFoundError):
            open_table(new_twin.uri, "there")

    def test_columns_and_filters_that_do_not_fit(self, new_twin: Twin):
        latest = open_table(new_twin.uri).latest
        questions: list[dict[str, Any]] = [
            {"columns": ["nothing"]},
            {"filter": "nothing > 1"},
            {"filter": "key >"},
        ]
        for question in questions:
            with pytest.raises(InvalidArgumentError):
                latest.read(**question)

    def test_a_wrong_query(self, new_twin: Twin):
        with pytest.raises(InvalidArgumentError, match="versions"):
            open_table(new_twin.uri).sql("SELECT nothing FROM nowhere")

    def test_a_folder_without_table(self, tmp_path):
        for place in (tmp_path, tmp_path / "nothing.lance"):
            with pytest.raises(TableNotFoundError):
                open_table(place)


class TestRemovalMeanwhile:
    def test_version_that_was_listed_and_is_gone_when_it_is_read(self, new_twin: Twin):
        table = open_table(new_twin.uri)
        new_twin.clean_up(versions=[2])
        with pytest.raises(VersionNotFoundError, match="removed"):
            table.at(2)
        assert table.versions()["version"].to_list() == [1, 3, 4]
        assert_same_versions(table)
        assert_right_gaps(table, first=1)

    def test_version_that_was_read_is_shown_until_a_refresh(self, new_twin: Twin):
        table = open_table(new_twin.uri)
        snapshot, before = table.at(2), table.versions()
        new_twin.clean_up(versions=[2])
        assert snapshot.num_rows == len(new_twin.commits[2].rows)
        assert_frame_equal(table.versions(), before)
        assert table.refresh().versions()["version"].to_list() == [1, 3, 4]
        with pytest.raises(VersionNotFoundError, match="cleaned up"):
            table.at(2)

    def test_rows_of_a_version_that_is_gone_cannot_be_read(self, new_twin: Twin):
        snapshot = open_table(new_twin.uri).at(2)
        new_twin.clean_up(versions=[2])
        with pytest.raises(VersionNotFoundError, match=r"version 2 was removed .*refresh\(\) it"):
            snapshot.read()

    def test_table_that_is_made_anew_is_another_table(self, new_twin: Twin):
        table = open_table(new_twin.uri)
        table.versions()
        lance.LanceDataset.drop(new_twin.uri)
        again = Twin.create(new_twin.uri, 5)
        ordinary_days(again)
        assert_frame_equal(table.refresh().versions(), open_table(again.uri).versions())
        assert_same_versions(table)


class TestOpenedTables:
    def test_dataset_of_pylance_opens_as_its_table_whatever_its_version(self, new_twin: Twin):
        for version in (None, 2):
            table = open_table(lance.dataset(new_twin.uri, version=version))
            assert (table.uri, table.latest.version) == (new_twin.uri, 4)

    def test_dataset_of_a_branch_opens_as_that_branch(self, new_twin: Twin):
        branch = new_twin.fork("dev")
        branch.append(2)
        table = open_table(lance.dataset(new_twin.uri).checkout_version(("dev", None)))
        assert (table.uri, table.branch, table.latest.version) == (new_twin.uri, "dev", 5)

    def test_branch_of_a_lancedb_table_opens_as_that_branch(self, tmp_path):
        people = lancedb.connect(tmp_path).create_table("people", [{"id": 1}])
        branch = people.branches.create("dev")
        branch.add([{"id": 2}])
        table = open_table(branch)
        assert (table.branch, table.latest.num_rows) == ("dev", 2)

    def test_table_of_lancedb_is_what_it_is_to_pylance(self, tmp_path):
        """Lancedb brings a Lance of its own, which writes other manifests than pylance's."""
        database = lancedb.connect(tmp_path)
        people = database.create_table("people", [{"id": n, "age": 20 + n} for n in range(9)])
        people.add([{"id": 9, "age": 50}])
        people.update(where="id < 3", values={"age": 1})
        merge = people.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        merge.execute([{"id": 2, "age": 2}, {"id": 20, "age": 3}])
        people.delete("id = 5")
        people.create_index("id", config=BTree())
        people.optimize()
        people.tags.create("tidy", people.version)
        people.restore(2)
        table = open_table(people)
        assert table.uri == str(tmp_path / "people.lance")
        assert_same_versions(table)
        assert_same_transactions(table)
        assert_same_refs(table)
        assert_same_steps(table)
        assert_rows_are_conserved(table)
        assert_frame_equal(table.at(2).read(), table.latest.read())

    @pytest.mark.parametrize("clone", ["shallow_clone", "deep_clone"])
    def test_clone_is_what_it_is_to_pylance(self, new_twin: Twin, clone, tmp_path):
        uri = str(tmp_path / "clone.lance")
        getattr(new_twin.dataset, clone)(uri, 3)
        lance.dataset(uri).delete("key = 0")
        table = open_table(uri)
        assert table.versions()["operation"].to_list() == ["Clone", "Delete"]
        assert_same_versions(table)
        assert_same_transactions(table)
        assert_same_steps(table)
        assert_right_gaps(table, first=3)
        assert_frame_equal(table.at(3).read(), as_frame(lance.dataset(new_twin.uri, version=3)))
