"""Ranges of versions that are recorded, kept or neither, against the local engine."""

from datetime import timedelta
from itertools import combinations
from typing import Any, NamedTuple

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from lance_explorer.lineage.following import follow
from lance_explorer.spark.changes_source import ChangesSource
from lance_explorer.spark.history_source import HistorySource
from lance_explorer.spark.metadata_source import MetadataSource
from tests.spark.engines import OnSpark, read_by_tasks
from tests.spark.streams import micro_batches

pytestmark = pytest.mark.sampled(3)

LAST = 9
ENDS = [0, 4, 5, 7, 9]
RECORDED = {"none": 0, "some that are gone": 4, "all that are gone": 6, "all": LAST}
ORDER = ["_change_type", "_event", "_rowid", "_rowaddr_before", "_rowaddr_after"]


class Cleaned(NamedTuple):
    """A table with versions 7 to 9, and a ledger that may have earlier ones."""

    uri: str
    ledger: str
    num_recorded: int


def make(folder, *, stable: bool, num_recorded: int) -> Cleaned:
    uri, ledger = str(folder / "t.lance"), str(folder / "ledger")
    lance.write_dataset(
        pa.table({"id": range(20)}), uri, max_rows_per_file=8, enable_stable_row_ids=stable
    )
    commits = (
        lambda: lance.dataset(uri).update({"id": "id + 100"}, where="id % 7 = 1"),
        lambda: lance.dataset(uri).insert(pa.table({"id": range(20, 25)})),
        lambda: lance.dataset(uri).delete("id % 5 = 2"),
        lambda: lance.dataset(uri).insert(pa.table({"id": range(25, 28)})),
        lambda: lance.dataset(uri).update({"id": "id + 1000"}, where="id < 4"),
        lambda: lance.dataset(uri).delete("id = 26"),
        lambda: lance.dataset(uri).insert(pa.table({"id": [99]})),
        lambda: lance.dataset(uri).delete("id = 14"),
    )
    for version, commit in enumerate(commits, 1):
        if version == num_recorded:
            lx.Ledger(ledger).record(uri)
        commit()
    if num_recorded == LAST:
        lx.Ledger(ledger).record(uri)
    (folder / "ledger").mkdir(exist_ok=True)
    lance.dataset(uri).cleanup_old_versions(older_than=timedelta(0), retain_versions=3)
    return Cleaned(uri, ledger, num_recorded)


@pytest.fixture(scope="module", params=[False, True], ids=["addresses", "stable"])
def tables(request, tmp_path_factory) -> dict[str, Cleaned]:
    return {
        name: make(tmp_path_factory.mktemp("t"), stable=request.param, num_recorded=number)
        for name, number in RECORDED.items()
    }


@pytest.fixture(params=RECORDED)
def table(request, tables) -> Cleaned:
    found: Cleaned = tables[request.param]
    return found


def read(source_of, of: Cleaned, **options) -> pl.DataFrame:
    source = source_of({"path": of.uri, "ledger": of.ledger, **options})
    return pl.DataFrame(read_by_tasks(source))


def check_same(ask_local, ask_spark, order: list[str]) -> bool:
    """Compare two answers, whether there are any; an error is an answer, too."""
    try:
        expected = ask_local()
    except LanceExplorerError as error:
        with pytest.raises(type(error)):
            ask_spark()
        return False
    found = ask_spark()
    if expected.is_empty():
        assert found.is_empty()
        return True
    found = found.select(expected.columns).cast(expected.schema)
    assert found.sort(order).equals(expected.sort(order))
    return True


@pytest.mark.parametrize("mode", ["net", "per_commit"])
def test_changes_of_every_range_equal_the_local_ones(table, mode):
    local = lx.open_table(table.uri, ledger=table.ledger)
    num_answers = 0
    for begin, end in combinations(ENDS, 2):
        # A task knows no version after the end, from which the local engine takes lost values.
        images = {"images": "known"} if begin > LAST - 3 else {}
        options = {"mode": mode, "rows_per_partition": "5", **images}
        options |= {"begin_version": str(begin), "end_version": str(end)}
        asked = {"mode": mode, "images": images.get("images")}
        num_answers += check_same(
            lambda a=begin, b=end, asked=asked: local.changes(a, b, **asked).to_polars(),
            lambda given=options: read(ChangesSource, table, **given),
            ORDER,
        )
    recorded = [end for end in ENDS if 0 < end <= table.num_recorded]
    assert num_answers >= len([*combinations(recorded, 2)])


def test_events_in_every_range_equal_the_local_ones(table):
    local = lx.open_table(table.uri, ledger=table.ledger)
    kept = {file.version for file in local._view.listing.versions}
    for begin, end in combinations([end for end in ENDS if end in kept], 2):
        ids = local.at(begin).row_ids()["_rowid"] if begin >= LAST - 2 else pl.Series(range(8))
        given = {"row_ids": ",".join(map(str, ids)), "rows_per_partition": "5"}
        given |= {"begin_version": str(begin), "end_version": str(end)}
        check_same(
            lambda a=begin, b=end, ids=ids: follow(local._view, ids, a, b),
            lambda given=given: read(HistorySource, table, **given),
            ["_rowid", "version"],
        )


def test_versions_equal_the_local_ones(table):
    local = lx.open_table(table.uri, ledger=table.ledger).sql("SELECT * FROM versions")
    found = read(MetadataSource, table, frame="versions").drop("table")
    assert found.cast(local.schema).equals(local)


def test_a_session_tells_of_a_range_that_is_gone_what_one_machine_tells(spark, tables):
    table = tables["all"]
    options: Any = {"mode": "per_commit", "images": None}
    expected = lx.open_table(table.uri, ledger=table.ledger).changes(2, 5, **options)
    found = OnSpark(spark, table.ledger).changes_in_parts(table.uri, 2, 5, **options)
    assert found.sort(ORDER).equals(expected.to_polars().sort(ORDER))


@pytest.mark.parametrize("step", [1, 4, LAST])
@pytest.mark.parametrize("name", ["all that are gone", "all"])
@pytest.mark.parametrize("images", [None, "known"])
def test_a_stream_tells_of_what_is_gone_what_one_machine_tells(tables, name, step, images):
    table = tables[name]
    given = {"path": table.uri, "ledger": table.ledger, **({"images": images} if images else {})}
    found = micro_batches(ChangesSource(given), 0, LAST, step)
    options: Any = {"mode": "per_commit", "images": images}
    expected = lx.open_table(table.uri, ledger=table.ledger).changes(0, **options).to_polars()
    expected = expected.select(found.columns)
    assert found.cast(expected.schema).sort(ORDER).equals(expected.sort(ORDER))
