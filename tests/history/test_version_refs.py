"""Versions as people name them, in every form and with its edges."""

from datetime import UTC, date, datetime, timedelta, timezone
from types import SimpleNamespace

import lance
import numpy as np
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError, RefNotFoundError, VersionNotFoundError
from lance_explorer.history.version_refs import resolve, version_number
from lance_explorer.history.view import HistoryView
from tests.synthetic import SyntheticTable

DAY = datetime(2026, 11, 20, tzinfo=UTC)
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOURS = [0, 23, 24, 47, 48, 54]
"""When versions 1 to 6 were committed, in hours after the beginning of 20 November."""


def committed(path, hours) -> SyntheticTable:
    """Return a table with a version at each hour after the beginning of 20 November."""
    table = SyntheticTable(path, stable_row_ids=True)
    for hour in hours:
        table.append(rows=1)
        at = DAY + timedelta(hours=hour)

        def stamp(manifest, at=at):
            manifest.timestamp.seconds = int(at.timestamp())
            manifest.timestamp.nanos = 0

        table.amend(stamp)
    return table


@pytest.fixture
def view(tmp_path) -> HistoryView:
    return HistoryView.open(str(committed(tmp_path / "t.lance", HOURS).path))


@pytest.fixture
def tagged(tmp_path) -> lx.Table:
    """Return a table of three versions with tags that look like something else, and a branch."""
    path = str(tmp_path / "t.lance")
    dataset = lance.write_dataset(pa.table({"n": [1]}), path)
    for number in (2, 3):
        dataset.insert(pa.table({"n": [number]}))
    for name, version in {"26": 2, "yesterday": 1, "2026-11-22": 1, "v3": 2}.items():
        dataset.tags.create(name, version)
    branch = dataset.create_branch("dev", 2)
    branch.insert(pa.table({"n": [9]}))
    dataset.tags.create("theirs", ("dev", 3))
    return lx.open_table(path)


def found(view, ref, **options) -> tuple[str | None, int]:
    there, version = resolve(view, ref, now=NOW, **options)
    return there.branch, version


@pytest.mark.parametrize(
    ("ref", "version"),
    [(3, 3), (np.int64(3), 3), ("3", 3), (" 3 ", 3), (-1, 6), ("-1", 6), (-6, 1), ("-2", 5)],
    ids=repr,
)
def test_numbers(view, ref, version):
    assert found(view, ref) == (None, version)


def test_a_number_need_not_be_kept_but_one_from_the_end_must(view):
    assert found(view, 99) == (None, 99)
    with pytest.raises(VersionNotFoundError, match="no version -7: 6 versions are kept"):
        resolve(view, -7)


@pytest.mark.parametrize(
    ("ref", "as_end", "as_begin"),
    [
        (date(2026, 11, 20), 2, 0),
        ("2026-11-20", 2, 0),
        (date(2026, 11, 21), 4, 2),
        ("2026-11-21", 4, 2),
        ("yesterday", 4, 2),
        ("Yesterday", 4, 2),
        ("today", 6, 4),
        ("2026-11-23", 6, 6),
        ("2026-11-21T00:00", 3, 3),
        ("2026-11-21 00:00", 3, 3),
        ("2026-11-21T00:00+01:00", 2, 2),
        (datetime(2026, 11, 21), 3, 3),  # noqa: DTZ001  it is UTC
        (datetime(2026, 11, 21, tzinfo=timezone(timedelta(hours=1))), 2, 2),
        ("12 hours ago", 5, 5),
        ("an hour ago", 6, 6),
        ("36 hours ago", 3, 3),
        ("2 days ago", 1, 1),
        ("90 minutes ago", 6, 6),
    ],
    ids=repr,
)
def test_times_and_days(view, ref, as_end, as_begin):
    assert found(view, ref) == (None, as_end)
    assert found(view, ref, is_begin=True) == (None, as_begin)


def test_days_part_the_changes_among_them(view):
    table = lx.open_table(view.uri)
    days = ["2026-11-20", "2026-11-21", "2026-11-22"]
    parts = [table.changes(day, day).summary()["inserted"].item() for day in days]
    assert parts == [2, 2, 2]


def _asked_for(words, now, monkeypatch, view) -> datetime:
    """Return the time that words mean."""
    asked: list[datetime] = []

    def version_as_of(_, time):
        asked.append(time)
        return 1

    monkeypatch.setattr(HistoryView, "version_as_of", version_as_of)
    resolve(view, words, now=now)
    [time] = asked
    return time


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("a month ago", datetime(2026, 10, 22, 12, tzinfo=UTC)),
        ("9 months ago", datetime(2026, 2, 22, 12, tzinfo=UTC)),
        ("2 years ago", datetime(2024, 11, 22, 12, tzinfo=UTC)),
        ("2 weeks ago", datetime(2026, 11, 8, 12, tzinfo=UTC)),
    ],
)
def test_weeks_months_and_years_are_those_of_the_calendar(words, moment, monkeypatch, view):
    assert _asked_for(words, NOW, monkeypatch, view) == moment


def test_the_last_of_a_month_stays_in_the_month(monkeypatch, view):
    end_of_march = datetime(2026, 3, 31, tzinfo=UTC)
    assert _asked_for("a month ago", end_of_march, monkeypatch, view).day == 28


def test_before_the_first_version_is_the_empty_table_if_it_was_the_first(view, tmp_path):
    early = "2026-11-19T00:00"
    assert found(view, early, is_begin=True) == (None, 0)
    with pytest.raises(VersionNotFoundError, match="no kept version is as old"):
        resolve(view, early)
    cleaned = committed(tmp_path / "cleaned.lance", HOURS).remove(1)
    with pytest.raises(VersionNotFoundError, match="no kept version is as old"):
        resolve(HistoryView.open(str(cleaned.path)), early, is_begin=True)


def test_where_clocks_ran_back_a_time_means_the_highest_version_by_then(tmp_path):
    view = HistoryView.open(str(committed(tmp_path / "t.lance", [0, 10, 4, 12]).path))
    with pytest.warns(UserWarning, match="committed after version 2, whose time is later"):
        assert found(view, "2026-11-20T05:00") == (None, 3)
    assert found(view, "2026-11-20T10:00") == (None, 3)
    assert found(view, "2026-11-20T12:00") == (None, 4)


def test_digits_are_a_number_and_a_tag_goes_before_a_time(tagged):
    view = tagged._view
    assert found(view, "tag:26") == (None, 2)
    with pytest.raises(VersionNotFoundError, match="26 never existed"):
        tagged.at("26")
    assert found(view, "yesterday") == (None, 1)
    assert found(view, "2026-11-22") == (None, 1)
    assert found(view, "v3") == (None, 2)


@pytest.mark.parametrize(
    ("ref", "version"),
    [
        ("dev@2", 2),
        (("dev", 3), 3),
        (("dev", -1), 3),
        ("dev@-1", 3),
        (("dev", "-2"), 2),
        ("theirs", 3),
        ("tag:theirs", 3),
        (("dev", "today"), 3),
    ],
)
def test_versions_of_branches(tagged, ref, version):
    there, number = resolve(tagged._view, ref)
    assert (there.branch, number) == ("dev", version)
    assert tagged.at(ref).branch == "dev"
    assert tagged.inspect.fragments(ref).equals(tagged.at(ref).inspect.fragments())
    branch = lx.open_table(tagged.uri, "dev")
    assert found(branch._view, "main@3") == (None, 3)
    assert branch.at(ref).version == version
    with pytest.raises(InvalidArgumentError, match="open branch dev for it"):
        version_number(tagged._view, ref)
    with pytest.raises(InvalidArgumentError, match=r"compare two branches with table\.diff"):
        tagged.changes(1, ref)


def test_a_branch_that_was_just_made_has_one_version(tagged):
    lance.dataset(tagged.uri).create_branch("empty", 3)
    branch = lx.open_table(tagged.uri, "empty")
    assert branch.at(-1).version == branch.latest.version
    with pytest.raises(VersionNotFoundError, match="1 version is kept"):
        branch.at(-2)


def test_snapshots(tagged, tmp_path):
    snapshot = tagged.at(2)
    assert tagged.at(snapshot).version == 2
    assert tagged.changes(snapshot).begin_version == 2
    assert tagged.at(tagged.at("dev@3")).branch == "dev"
    other = lx.open_table(committed(tmp_path / "other.lance", [0]).path)
    with pytest.raises(InvalidArgumentError, match=r"of another table, .*other\.lance"):
        tagged.at(other.latest)
    with pytest.raises(InvalidArgumentError, match=r"of another table"):
        tagged.inspect.fragments(other.latest)
    assert not tagged.diff(2, other.latest).is_identical


@pytest.mark.parametrize(
    "text", ["nope", "", "@", "dev@", "@4", "2026-13-01", "tomorrow", "3 fortnights ago", "9" * 30]
)
def test_other_text_is_no_version(tagged, text):
    with pytest.raises((RefNotFoundError, VersionNotFoundError)):
        tagged.at(text)


def test_errors_say_what_is_there(tagged):
    with pytest.raises(RefNotFoundError, match=r"the tag theirs\?.*a version is a number"):
        tagged.at("theris")
    with pytest.raises(RefNotFoundError, match=r"no branch 'deb' in .*; there are: main, dev"):
        tagged.at("deb@3")
    with pytest.raises(RefNotFoundError, match="no branch 'deb'"):
        tagged.at(("deb", 3))
    with pytest.raises(RefNotFoundError, match=r"no tag 'nope' in .*; there are: "):
        tagged.at("tag:nope")
    with pytest.raises(InvalidArgumentError, match="is before the earliest possible time"):
        tagged.at("9000 years ago")


@pytest.mark.parametrize(
    "ref",
    [
        True,
        1.0,
        None,
        b"3",
        [1],
        {},
        np.array([1, 2]),
        ("dev", True),
        ("dev", ("dev", 1)),
        (1, 2),
        ("dev", 1, 2),
        SimpleNamespace(version=1),
        ...,
    ],
    ids=repr,
)
def test_anything_else_is_refused(tagged, ref):
    with pytest.raises(InvalidArgumentError, match="expected a version, that is a number"):
        resolve(tagged._view, ref)
