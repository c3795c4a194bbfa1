"""How far reading is, told to whoever asks for it instead of in a bar."""

import pytest

from lance_explorer import open_table
from lance_explorer.history import progress
from lance_explorer.history.progress import showing_progress, with_count, with_progress
from tests.synthetic import SyntheticTable


@pytest.fixture(autouse=True)
def _always(monkeypatch):
    monkeypatch.setattr(progress, "_TELL_EVERY", 0.0)


def test_items_come_in_their_order_and_parts_of_one_rise():
    told = []
    with showing_progress(lambda what, fraction: told.append((what, fraction))):
        assert [*with_progress(range(200), "Reading")] == [*range(200)]
    assert told == [("Reading", number / 200) for number in range(200)]


def test_few_items_are_not_worth_it():
    told = []
    with showing_progress(lambda what, fraction: told.append((what, fraction))):
        assert [*with_progress(range(9), "Reading")] == [*range(9)]
    assert told == []


def test_items_of_unknown_number_are_counted():
    told = []
    with showing_progress(lambda what, fraction: told.append((what, fraction))):
        assert [*with_count(iter("abc"), "Listing", "objects")] == [*"abc"]
    assert told == [(f"Listing {number} objects", None) for number in range(3)]


@pytest.mark.parametrize("ask", ["log", "check", "disk_usage"])
def test_what_is_asked_of_all_versions_tells_how_far_it_is_and_can_be_ended(tmp_path, ask):
    table = SyntheticTable(tmp_path / "t.lance")
    for _ in range(120):
        table.append()
    opened = open_table(table.path)
    opened.versions()
    told = []

    def tell(what, fraction):
        told.append((what, fraction))
        if len(told) > 2:
            raise KeyboardInterrupt

    with showing_progress(tell), pytest.raises(KeyboardInterrupt):
        getattr(opened, ask)()
    assert len(told) == 3
    getattr(opened, ask)()


def test_versions_count_by_their_bytes_and_whoever_is_told_may_end_it(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance")
    for _ in range(120):
        table.append()
    told = []

    def tell(what, fraction):
        told.append((what, fraction))
        if fraction > 0.5:
            raise KeyboardInterrupt

    opened = open_table(table.path)
    with showing_progress(tell), pytest.raises(KeyboardInterrupt):
        opened.versions()
    assert {what for what, _ in told} == {"Reading 120 versions"}
    assert told == sorted(told)
    assert len(told) > 60  # manifests grow
    assert len(opened.versions()) == 120


def test_what_was_read_before_an_interrupt_is_not_read_again(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3, fragments=4)
    while table.version < 120:
        table.append().delete({0: [table.version % 3]} if table.version == 9 else {})
    opened, whole = open_table(table.path), open_table(table.path).versions()
    seen = []

    def tell(what, fraction):
        seen.append(fraction)
        if len(seen) == 80:
            raise KeyboardInterrupt

    with showing_progress(tell), pytest.raises(KeyboardInterrupt):
        opened.versions()
    begun = opened._view.read_so_far
    assert 70 < len(begun) < 120
    requests = opened._view.storage.io.requests
    assert opened.versions().equals(whole)
    assert opened._view.storage.io.requests - requests <= 2 * (table.version - len(begun))
