"""Commands on a folder of tables: what they print, their exit codes, and numbers for a monitor."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import pytest
from click.testing import CliRunner, Result
from prometheus_client.parser import text_string_to_metric_families

import lance_explorer as lx
from lance_explorer.cli.group import main
from lance_explorer.database.metrics import METRICS
from tests.database.databases import write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two tables, one with an old version."""
    write(tmp_path / "db" / "photos.lance", [1, 2])
    write(tmp_path / "db" / "photos.lance", [3], "overwrite")
    write(tmp_path / "db" / "users.lance", [1])
    return tmp_path / "db"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(one) for one in arguments])


def sections(result: Result) -> dict[str, list[dict[str, Any]]]:
    told = json.loads(result.stdout)["sections"]
    return {name: part["rows"] for name, part in told.items() if "rows" in part}


def test_tables_and_disk_usage_are_those_of_the_database(folder: Path) -> None:
    database = lx.open_database(folder)
    rows = sections(run("tables", folder, "--json"))["tables"]
    assert [row["name"] for row in rows] == database.tables()["name"].to_list()
    told = json.loads(run("du", folder, "--json").stdout)
    assert told["sections"]["totals"]["facts"]["total_bytes"] == database.disk_usage().total_bytes
    assert "photos" in run("tables", folder).output


def test_check_ends_with_1_if_a_table_cannot_be_read(folder: Path) -> None:
    assert run("check", folder).exit_code == 0
    (folder / "half.lance").mkdir()
    result = run("check", folder)
    assert result.exit_code == 1
    assert "unreadable_table: `half`:" in result.output


def test_the_log_of_all_tables(folder: Path) -> None:
    result = run("log", folder, "--limit", 2, "--json")
    assert [row["table"] for row in sections(result)["commits"]] == ["users", "photos"]
    assert run("log", folder, "--operation", "append").exit_code == 0
    (folder / "half.lance").mkdir()
    assert "- `half`: no Lance table" in run("log", folder).output


def test_a_lock_of_all_tables_is_verified(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.lock"
    assert run("lock", folder, "-o", file).exit_code == 0
    result = run("verify", file)
    assert result.exit_code == 0
    assert "2 tables are as they were locked" in result.output
    lance.dataset(str(folder / "photos.lance")).cleanup_old_versions(timedelta(0))
    assert run("verify", file).exit_code == 0  # the latest version stays
    assert run("lock", folder, "1").exit_code == 1
    assert "numbers of their own" in run("lock", folder, "1").output
    assert run("verify", file, "--table", folder).exit_code == 2
    file.write_text(file.read_text().replace('"version": 1,', '"version": 7,', 1))
    assert run("verify", file).exit_code == 1


def test_a_cleanup_of_all_tables_says_the_calls(folder: Path) -> None:
    result = run("cleanup", folder, "--older-than", "0d")
    assert result.exit_code == 0
    assert f'dataset = lance.dataset("{folder}/photos.lance")' in result.output
    assert "users.lance" not in result.output


def test_rows_are_found_and_tables_recorded(folder: Path, tmp_path: Path) -> None:
    result = run("find", folder, "id = 2", "--json")
    assert json.loads(result.stdout)["answer"].startswith("1 row found in 1 table of 2")
    recorded = run("record", folder, "--ledger", tmp_path / "ledger")
    assert len(recorded.stdout.splitlines()) == 2
    lance.dataset(str(folder / "photos.lance")).cleanup_old_versions(timedelta(0))
    log = run("log", folder, "--ledger", tmp_path / "ledger", "--json")
    assert len(sections(log)["commits"]) == 3


def test_options_of_one_table_are_refused(folder: Path) -> None:
    for arguments in (("du", folder, "--branch", "dev"), ("check", folder, "--key", "id")):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "is for one table" in result.output


def test_metrics_are_what_a_monitor_reads(folder: Path) -> None:
    (folder / "half.lance").mkdir()
    families = {one.name: one for one in text_string_to_metric_families(scraped(folder))}
    assert families.keys() == {metric.name for metric in METRICS}
    for metric in METRICS:
        family = families[metric.name]
        assert family.type == "gauge"
        assert family.documentation == metric.meaning
        for sample in family.samples:
            assert sample.labels.keys() == {*metric.labels}
    tables = lx.open_database(folder).tables()
    for metric in METRICS:
        if metric.column is None:
            continue
        told = {s.labels["table"]: s.value for s in families[metric.name].samples}
        known = tables.select("name", metric.column).drop_nulls()
        expected = {
            name: value.timestamp() if hasattr(value, "timestamp") else value
            for name, value in known.iter_rows()
        }
        assert told == pytest.approx(expected)
    readable = {s.labels["table"]: s.value for s in families["lance_table_readable"].samples}
    assert readable == {"photos": 1, "users": 1, "half": 0}


def test_values_of_columns_are_read_if_they_are_named(folder: Path) -> None:
    assert "lance_column_shift{" not in scraped(folder)
    text = scraped(folder, "--column", "id", "--column", "nowhere")
    families = {one.name: one for one in text_string_to_metric_families(text)}
    shifts = families["lance_column_shift"].samples
    assert {sample.labels["column"] for sample in shifts} == {"id"}
    for sample in shifts:
        table = lx.open_table(folder / f"{sample.labels['table']}.lance")
        versions = table.versions()["version"].to_list()[-2:]
        line = table.profile("id", versions).to_polars().row(-1, named=True)
        assert sample.value == line["shift"]
        [mean] = [
            one.value
            for one in families["lance_column_mean"].samples
            if one.labels["table"] == sample.labels["table"]
        ]
        assert mean == line["mean"]


def scraped(folder: Path, *options: str) -> str:
    result = run("metrics", folder, *options)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_metrics_as_json(folder: Path) -> None:
    rows = sections(run("metrics", folder, "--format", "json"))["metrics"]
    [row] = [one for one in rows if (one["metric"], one["table"]) == ("lance_table_rows", "photos")]
    assert (row["database"], row["severity"], row["value"]) == (str(folder), None, 1.0)


def test_watch_writes_again_what_changed(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "lance.prom"
    result = run("watch", folder, "--every", "0s", "--count", 2, "--textfile", file)
    assert result.exit_code == 0, result.output
    assert re.search(r'^lance_table_rows\{.*table="photos"\} 1\.0$', file.read_text(), re.MULTILINE)
    assert run("watch", folder, "--every", "soon").exit_code == 2
    missing = run("watch", folder, "--count", 1, "--textfile", tmp_path / "no" / "x.prom")
    assert missing.exit_code == 1


def test_a_database_that_goes_away_is_told_and_ends_no_watch(folder: Path) -> None:
    from lance_explorer.database.metrics import read_metrics

    database = lx.open_database(folder)
    folder.rename(folder.with_name("gone"))
    assert [(one.metric, one.value) for one in read_metrics(database)] == [
        ("lance_database_readable", 0.0)
    ]
