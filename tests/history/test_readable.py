"""Histories without the versions whose reader flags nobody knows."""

import pytest

from lance_explorer.errors import UnsupportedFeatureError
from lance_explorer.history.readable import check_readable, readable_history
from lance_explorer.history.source import TableSource
from tests.synthetic import SyntheticTable


def with_unknown_flag(table: SyntheticTable) -> SyntheticTable:
    return table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 2 | 512))


def test_a_history_whose_flags_are_known_stays_as_it_is(tmp_path):
    history = TableSource(str(SyntheticTable(tmp_path / "t").append().append().path)).history
    assert readable_history(history) is history


def test_versions_with_unknown_flags_are_as_if_not_kept(tmp_path):
    table = with_unknown_flag(SyntheticTable(tmp_path / "t").append().append()).append()
    history = readable_history(TableSource(str(table.path)).history)
    assert history.versions.tolist() == [1, 3]
    assert history.follows_previous.tolist() == [True, False]
    assert history.states_at(0) == [0]
    assert history.states_at(1) == [0, 1, 2]


def test_the_error_names_the_version_and_the_flag(tmp_path):
    table = with_unknown_flag(SyntheticTable(tmp_path / "t").append())
    record = TableSource(str(table.path)).history.records[0]
    with pytest.raises(UnsupportedFeatureError, match=r"version 1.*fragment_reuse_with_stable"):
        check_readable(record)
