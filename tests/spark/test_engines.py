"""The same questions, answered by the local engine and by Spark, about the same tables.

What a session adds to the data sources is the same for all tables: it is asked about a few.
"""

import lance
import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from tests.differential.lives import LIVES, Life, live_on_branches
from tests.differential.twin import Twin
from tests.format.samples import DATA
from tests.spark.engines import Engine, InTasks, Local, OnSpark

pytestmark = pytest.mark.sampled(3)

NAMES = ("ordinary_days", "merges", "columns", "compactions", "restores", "cleanups")
SCRIPTS = {script.__name__: script for script in LIVES if script.__name__ in NAMES}
LIFE = [Life(script, stable, "2.2") for script in SCRIPTS.values() for stable in (False, True)]
OF_A_SESSION = [Life(SCRIPTS["merges"], False, "2.2"), Life(SCRIPTS["columns"], True, "2.2")]
OLD = ("life_cycle", "stable_row_ids", "cleaned_stable_row_ids")
RELEASES = ("0.10.18", "1.0.4", "8.0.1", "14.0.2")


@pytest.fixture(scope="module", params=[False, True], ids=["addresses", "stable"])
def branches(request, tmp_path_factory) -> str:
    """A table with branches that had lives of their own."""
    uri = str(tmp_path_factory.mktemp("branches") / "table.lance")
    main = Twin.create(uri, 10, stable_row_ids=request.param)
    live_on_branches(main)
    return uri


def recorded(life: Life, folder) -> tuple[str, str]:
    """Return a table whose early versions are in a ledger alone, and the ledger."""
    uri, ledger = life.live(folder).uri, str(folder / "ledger")
    lx.Ledger(ledger).record(uri)
    dataset = lance.dataset(uri)
    dataset.delete("key % 5 = 1")
    dataset.cleanup_old_versions(retain_versions=2, error_if_tagged_old_versions=False)
    return uri, ledger


@pytest.mark.parametrize("life", LIFE, ids=str)
def test_tasks_tell_of_a_life_what_one_machine_tells(life, tmp_path):
    check_all(InTasks(), life.live(tmp_path).uri)


@pytest.mark.parametrize("life", OF_A_SESSION, ids=str)
def test_spark_tells_of_a_life_what_one_machine_tells(spark, life, tmp_path):
    check_all(OnSpark(spark), life.live(tmp_path).uri)


@pytest.mark.parametrize("branch", [None, "dev", "dev/deep", "early"])
def test_tasks_tell_of_a_branch_what_one_machine_tells(branches, branch):
    check_all(InTasks(), branches, branch)


def test_spark_tells_of_a_branch_what_one_machine_tells(spark, branches):
    check_all(OnSpark(spark), branches, "dev/deep")


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", OLD)
def test_tasks_tell_of_an_old_table_what_one_machine_tells(release, name):
    path = DATA / release / f"{name}.lance"
    if path.is_dir():
        check_all(InTasks(), str(path))


def test_spark_tells_of_an_old_table_what_one_machine_tells(spark):
    check_all(OnSpark(spark), str(DATA / RELEASES[0] / "life_cycle.lance"))


@pytest.mark.parametrize("life", LIFE, ids=str)
def test_tasks_tell_with_a_ledger_what_one_machine_tells(life, tmp_path):
    uri, ledger = recorded(life, tmp_path)
    check_all(InTasks(ledger), uri, ledger=ledger)


@pytest.mark.parametrize("life", OF_A_SESSION, ids=str)
def test_spark_tells_with_a_ledger_what_one_machine_tells(spark, life, tmp_path):
    uri, ledger = recorded(life, tmp_path)
    check_all(OnSpark(spark, ledger), uri, ledger=ledger)


def check_all(
    other: InTasks, uri: str, branch: str | None = None, ledger: str | None = None
) -> None:
    """Compare every kind of answer."""
    local, table = Local(ledger), lx.open_table(uri, branch, ledger=ledger)
    versions = [file.version for file in table._view.listing.versions]
    last, middle = versions[-1], versions[len(versions) // 2]
    same(lambda engine: engine.rows(uri, last, branch), local, other)
    images = "both" if ledger is None else None  # of recorded versions, there are no values
    both = {"images": images, "include": ("moved", "column_added")}
    same(lambda engine: engine.changes(uri, middle, last, branch, **both), local, other)
    same(lambda engine: in_parts(engine, uri, middle, last, branch, **both), local, other)
    per_commit = {"mode": "per_commit", "images": "after" if ledger is None else "known"}
    same(lambda engine: engine.changes(uri, versions[0], last, branch, **per_commit), local, other)
    ids = table.latest.row_ids()["_rowid"].to_list()[:7]
    same(lambda engine: engine.history(uri, ids, branch), local, other)


def in_parts(engine: Engine, *asked, **options) -> pl.DataFrame:
    """Return changes, those of many tasks where there are tasks, in an order of their own."""
    ask = engine.changes_in_parts if isinstance(engine, InTasks) else engine.changes
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
