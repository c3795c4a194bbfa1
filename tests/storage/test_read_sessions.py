"""What a session notes of the files that are missing while it lasts."""

from contextlib import suppress

import pytest

from lance_explorer.ledger.recorded_storage import RecordedStorage
from lance_explorer.storage import LocalStorage


@pytest.fixture
def storage(tmp_path):
    tmp_path.joinpath("there").write_bytes(b"data")
    return LocalStorage(tmp_path)


def ask(storage, *paths):
    for path in paths:
        with suppress(FileNotFoundError):
            storage.get(path)


def test_a_session_notes_what_is_missing_while_it_lasts(storage):
    ask(storage, "before")
    with storage.sessions.begin() as session:
        ask(storage, "there", "gone")
    ask(storage, "after")
    assert session.missing == {f"{storage.uri}/gone"}


def test_what_is_missing_within_another_session_is_noted_in_both(storage):
    with storage.sessions.begin() as outer:
        with storage.sessions.begin() as inner:
            ask(storage, "gone")
        ask(storage, "also")
    assert inner.missing == {f"{storage.uri}/gone"}
    assert outer.missing == {f"{storage.uri}/gone", f"{storage.uri}/also"}


def test_nothing_is_missing_that_a_ledger_has(storage):
    recorded = RecordedStorage(storage, {"old": b"kept"}.get, {})
    with storage.sessions.begin() as session:
        assert (recorded.get("old"), recorded.get_range("old", 1, 2)) == (b"kept", b"ep")
        assert session.missing == set()
        ask(recorded, "gone")
    assert session.missing == {f"{storage.uri}/gone"}


def test_a_session_ends_with_an_error(storage):
    with pytest.raises(ZeroDivisionError), storage.sessions.begin() as session:
        raise ZeroDivisionError
    ask(storage, "gone")
    assert session.missing == set()
