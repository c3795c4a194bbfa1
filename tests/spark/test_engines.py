"""The same questions, answered by the local engine and by Spark, about the same tables."""

import lance
import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from tests.differential.lives import LIVES, Life, live_on_branches
from tests.differential.twin import Twin
from tests.spark.engines import Engine, Local, OnSpark

NAMES = ("ordinary_days", "merges", "columns", "compactions", "restores", "cleanups")
SCRIPTS = [script for script in LIVES if script.__name__ in NAMES]
LIFE = [Life(script, stable, "2.2") for script in SCRIPTS for stable in (False, True)]
WITH_ROW_IDS = [Life(script, True, "2.2") for script in SCRIPTS]
OLD = ("life_cycle", "stable_row_ids", "cleaned_stable_row_ids")
RELEASES = ("0.10.18", "0.20.0", "0.32.1", "1.0.4", "8.0.1", "13.0.0", "14.0.2")


@pytest.fixture(params=["local", "spark"])
def engine(request) -> Engine:
    return Local() if request.param == "local" else OnSpark(request.getfixturevalue("spark"))


@pytest.fixture(scope="module", params=LIFE, ids=str)
def twin(request, tmp_path_factory) -> Twin:
    """A table that had a life, and what must be in it."""
    life: Life = request.param
    return life.live(tmp_path_factory.mktemp("life"))


@pytest.fixture(scope="module", params=WITH_ROW_IDS, ids=str)
def twin_with_row_ids(request, tmp_path_factory) -> Twin:
    """The same with stable row IDs: without, only its history tells which row an event is about."""
    life: Life = request.param
    return life.live(tmp_path_factory.mktemp("life"))


@pytest.fixture(scope="module", params=[False, True], ids=["addresses", "stable"])
def branches(request, tmp_path_factory) -> dict[str | None, Twin]:
    uri = str(tmp_path_factory.mktemp("branches") / "table.lance")
    main = Twin.create(uri, 10, stable_row_ids=request.param)
    return {None: main} | live_on_branches(main)


def test_rows_have_the_values_of_the_dict(engine, twin):
    rows = engine.rows(twin.uri, twin.version)
    assert dict(rows.select("key", "value").rows()) == twin.rows


def test_rows_are_those_of_pylance(engine, twin):
    rows = engine.rows(twin.uri, twin.version)
    scanned = lance.dataset(twin.uri).to_table(columns=[], with_row_id=True, with_row_address=True)
    assert rows.select("_rowid", "_rowaddr").equals(pl.DataFrame(scanned))


def test_changes_of_all_commits_lead_to_the_dict(engine, twin_with_row_ids):
    twin = twin_with_row_ids
    gaps = lx.open_table(twin.uri).inspect.gaps()
    begin = max(gaps["last_version"], default=-1) + 1  # changes are known from the version after
    feed = engine.changes(twin.uri, begin, twin.version, mode="per_commit", images=None)
    live = {*engine.rows(twin.uri, begin)["_rowid"]} if begin else set[int]()
    for change, row_id in feed.select("_change_type", "_rowid").rows():
        if change == "insert":
            live.add(row_id)
        if change == "delete":
            live.remove(row_id)
    assert live == {*engine.rows(twin.uri, twin.version)["_rowid"]}


def test_net_changes_are_the_difference_of_both_versions(engine, twin_with_row_ids):
    twin = twin_with_row_ids
    versions = [f.version for f in lx.open_table(twin.uri)._view.listing.versions]
    begin = versions[len(versions) // 2]
    feed = engine.changes(twin.uri, begin, twin.version, images=None)
    old, new = (
        {*lance.dataset(twin.uri, version=v).to_table(columns=[], with_row_id=True)[0].to_pylist()}
        for v in (begin, twin.version)
    )
    assert {*feed.filter(_change_type="delete")["_rowid"]} == old - new
    assert {*feed.filter(_change_type="insert")["_rowid"]} == new - old


# -------------------------------------------------------------------- row for row, in their order


def test_spark_tells_of_a_life_what_one_machine_tells(spark, twin):
    check_all(OnSpark(spark), twin.uri)


@pytest.mark.parametrize("branch", [None, "dev", "dev/deep", "early"])
def test_spark_tells_of_a_branch_what_one_machine_tells(spark, branches, branch):
    check_all(OnSpark(spark), branches[None].uri, branch)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", OLD)
def test_spark_tells_of_an_old_table_what_one_machine_tells(spark, request, release, name):
    path = request.config.rootpath / "tests" / "data" / release / f"{name}.lance"
    if path.is_dir():
        check_all(OnSpark(spark), str(path))


@pytest.mark.parametrize("life", LIFE, ids=str)
def test_spark_tells_with_a_ledger_what_one_machine_tells(spark, life, tmp_path):
    uri, ledger = life.live(tmp_path).uri, str(tmp_path / "ledger")
    lx.Ledger(ledger).record(uri)
    dataset = lance.dataset(uri)
    dataset.delete("key % 5 = 1")
    dataset.cleanup_old_versions(retain_versions=2, error_if_tagged_old_versions=False)
    check_all(OnSpark(spark, ledger), uri, ledger=ledger)


def check_all(
    on_spark: OnSpark, uri: str, branch: str | None = None, ledger: str | None = None
) -> None:
    """Compare every kind of answer."""
    local, table = Local(ledger), lx.open_table(uri, branch, ledger=ledger)
    versions = [file.version for file in table._view.listing.versions]
    last, middle = versions[-1], versions[len(versions) // 2]
    same(lambda engine: engine.rows(uri, last, branch), local, on_spark)
    images = "both" if ledger is None else None  # of recorded versions, there are no values
    both = {"images": images, "include": ("moved", "column_added")}
    same(lambda engine: engine.changes(uri, middle, last, branch, **both), local, on_spark)
    same(lambda engine: in_parts(engine, uri, middle, last, branch, **both), local, on_spark)
    per_commit = {"mode": "per_commit", "images": "after" if ledger is None else "known"}
    same(
        lambda engine: engine.changes(uri, versions[0], last, branch, **per_commit), local, on_spark
    )
    ids = table.latest.row_ids()["_rowid"].to_list()[:7]
    same(lambda engine: engine.history(uri, ids, branch), local, on_spark)


def in_parts(engine: Engine, *asked, **options) -> pl.DataFrame:
    """Return changes, on Spark those of many tasks, in an order that tasks do not change."""
    ask = engine.changes_in_parts if isinstance(engine, OnSpark) else engine.changes
    order = ["_change_type", "_event", "_rowid", "_rowaddr_before", "_rowaddr_after"]
    return ask(*asked, **options).sort(order)


def same(ask, one: Engine, other: Engine) -> None:
    """Compare two answers; an error is an answer, too."""
    try:
        expected = ask(one)
    except LanceExplorerError as error:
        with pytest.raises(Exception, match=type(error).__name__):
            ask(other)
        return
    found = ask(other)
    assert found.equals(expected), (found, expected)
