"""Files of a ledger are Parquet: others read them without us."""

from pathlib import Path

import polars as pl
import pytest

import lance_explorer as lx
from tests.format.samples import DATA

TABLES = ("14.0.2/stable_row_ids", "0.10.18/life_cycle")

# A version has the fragments whose last change up to it is not a removal, if each version is told
# from the one before.
FRAGMENTS_OF_A_VERSION = """
    SELECT fragment_id, num_deleted_rows, physical_rows FROM (
        SELECT *, row_number() OVER (PARTITION BY fragment_id ORDER BY version DESC) AS place
        FROM {fragments} WHERE version <= {version}
    ) AS changes WHERE place = 1 AND change <> 'removed' ORDER BY fragment_id
"""


@pytest.fixture(scope="module", params=TABLES)
def table(request) -> lx.Table:
    return lx.open_table(DATA / f"{request.param}.lance")


@pytest.fixture(scope="module")
def folder(table: lx.Table, tmp_path_factory) -> Path:
    """The folder of a table that was recorded, with one file of each kind."""
    ledger = lx.Ledger(tmp_path_factory.mktemp("ledger"))
    ledger.record(table)
    [found] = Path(ledger.uri).iterdir()
    return found


def expected(table: lx.Table, version: int) -> list[tuple[int, ...]]:
    names = ["fragment_id", "num_deleted_rows", "physical_rows"]
    frame = table.inspect.fragments(version).select(names).sort("fragment_id")
    found: list[tuple[int, ...]] = frame.rows()
    return found


def test_polars_reads_it(table: lx.Table, folder: Path):
    versions = pl.scan_parquet(folder / "versions-*.parquet").collect()
    assert versions["version"].to_list() == table.versions()["version"].to_list()
    with pl.SQLContext(fragments=pl.scan_parquet(folder / "fragments-*.parquet")) as sql:
        for version in versions["version"]:
            found = sql.execute(
                FRAGMENTS_OF_A_VERSION.format(fragments="fragments", version=version)
            )
            assert found.collect().rows() == expected(table, version)


def test_duckdb_reads_it(table: lx.Table, folder: Path):
    import duckdb

    with duckdb.connect() as sql:
        count = f"SELECT count(*) FROM '{folder}/versions-*.parquet'"
        assert sql.sql(count).fetchall() == [(len(table.versions()),)]
        for version in table.versions()["version"]:
            fragments = f"'{folder}/fragments-*.parquet'"
            query = FRAGMENTS_OF_A_VERSION.format(fragments=fragments, version=version)
            assert sql.sql(query).fetchall() == expected(table, version)
