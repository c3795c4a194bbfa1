"""What a session notes of the files that are missing while it lasts."""

from contextlib import suppress

import pytest

from lance_explorer.ledger.recorded_storage import RecordedStorage
from lance_explorer.storage import LocalStorage, read_sessions
from lance_explorer.storage.read_sessions import ReadSessions


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


def test_what_was_read_is_kept_while_a_question_is_open():
    sessions = ReadSessions()
    sessions.keep("before", b"1")
    with sessions.begin():
        sessions.keep("within", b"2")
        with sessions.begin():
            sessions.keep("inner", b"3")
        assert [sessions.kept(key) for key in ("before", "within", "inner")] == [None, b"2", b"3"]
        sessions.forget()
        assert sessions.kept("within") is None
        sessions.keep("again", b"4")
    assert sessions.kept("again") is None


def test_only_so_much_is_kept(monkeypatch):
    monkeypatch.setattr(read_sessions, "_MOST_KEPT", 10)
    sessions = ReadSessions()
    with sessions.begin():
        for key in "abc":
            sessions.keep(key, b"1234")
            sessions.keep(key, b"123")
        assert [sessions.kept(key) for key in "abc"] == [b"123"] * 3
        sessions.keep("d", b"1234")
        assert sessions.kept("a") is None
        assert sessions.kept("b") == b"123"
        monkeypatch.setattr(read_sessions, "_LARGEST_KEPT", 3)
        sessions.keep("e", b"1234")
        assert sessions.kept("e") is None
