"""Options: names of readers of Delta tables, and what was meant by a name that there is not."""

from datetime import datetime, timedelta

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.spark.changes_source import ChangesSource
from lance_explorer.spark.metadata_source import MetadataSource
from lance_explorer.spark.options import Options
from lance_explorer.spark.rows_source import RowsSource


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("options") / "t.lance")
    for _ in range(5):
        lance.write_dataset(pa.table({"id": [1]}), path, mode="append")
    return path


@pytest.fixture(scope="module")
def times(path) -> dict[int, str]:
    """The times of the versions, in UTC, as Spark writes them."""
    versions = lx.open_table(path).versions()
    return {v: t.isoformat(sep=" ")[:26] for v, t in versions.select("version", "timestamp").rows()}


def read_version(path: str, **options: str) -> int:
    return RowsSource({"path": path, **options})._table.version


def read_range(path: str, **options: str) -> tuple[int, int]:
    source = ChangesSource({"path": path, **options})
    return source._begin, source._end


def test_a_version_is_named_as_for_delta(path, times):
    assert read_version(path, versionAsOf="3") == 3
    assert read_version(path, timestampAsOf=times[3]) == 3
    time = datetime.fromisoformat(times[3]) + timedelta(hours=5, minutes=30)
    in_india = time.isoformat(sep=" ")
    assert read_version(path, timestampAsOf=in_india, timeZone="Asia/Kolkata") == 3
    assert MetadataSource({"path": path, "frame": "fragments", "versionAsOf": "2"}) is not None


def test_a_time_that_no_version_has_is_an_error(path):
    with pytest.raises(lx.VersionNotFoundError, match="is after the latest version, 5"):
        read_version(path, timestampAsOf="2999-01-01")
    with pytest.raises(lx.VersionNotFoundError, match="no kept version is as old"):
        read_version(path, timestampAsOf="1999-01-01")


def test_a_range_is_named_as_for_delta(path, times):
    assert read_range(path, startingVersion="3") == (2, 5)
    assert read_range(path, startingVersion="1", endingVersion="4") == (0, 4)
    assert read_range(path, startingVersion="0") == (0, 5)
    assert read_range(path, startingVersion="latest") == (5, 5)
    assert read_range(path, startingTimestamp=times[3]) == (2, 5)
    assert read_range(path, startingTimestamp=times[3], endingTimestamp=times[4]) == (2, 4)
    assert read_range(path, startingTimestamp="1999-01-01") == (0, 5)
    with pytest.raises(lx.VersionNotFoundError, match="is after the latest"):
        read_range(path, startingTimestamp="2999-01-01")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"version": "1", "versionAsOf": "1"}, "give version or versionAsOf, not both"),
        ({"versionAsOf": "latest"}, "versionAsOf is a number of a version, not 'latest'"),
        ({"timestampAsOf": "soon"}, "timestampAsOf must be a time such as"),
        ({"timestampAsOf": "2026-01-01", "timeZone": "Mars/North"}, "in 'Mars/North'"),
        ({"versionsAsOf": "1"}, "did you mean 'versionAsOf'"),
        ({"verson": "1"}, "did you mean 'version'"),
        ({"zzz": "1"}, "has no option 'zzz'; there are: path, branch"),
        ({"ledger.storage.region": "eu"}, "is for a ledger: give that, too"),
    ],
)
def test_what_does_not_fit_is_told(path, options, message):
    with pytest.raises(lx.InvalidArgumentError, match=message):
        RowsSource({"path": path, **options})


def test_options_of_streams_are_told_apart(path):
    source = ChangesSource({"path": path, "begin_version": "1", "failOnDataLoss": "no"})
    with pytest.raises(lx.InvalidArgumentError, match="failOnDataLoss is for streams"):
        source.reader(source.schema())


def test_credentials_of_the_ledger_do_not_show():
    given = {"path": "a", "ledger": "b", "ledger.storage.aws_secret_access_key": "hush"}
    options = Options.parse("rows", given, ())
    assert dict(options.ledger_storage) == {"aws_secret_access_key": "hush"}
    assert "hush" not in repr(options)
    assert options.storage == ()
