"""Tags and branches of every writer that has them, and JSON that no writer makes."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.refs import Branch, Tag, decode_branch, decode_tag
from tests.format import samples

TAG_FILES = sorted(samples.DATA.glob("*/*.lance/_refs/tags/*.json"))
BRANCH_FILES = sorted(samples.DATA.glob("*/*.lance/_refs/branches/*.json"))
FILES = [path.read_bytes() for path in (*TAG_FILES, *BRANCH_FILES)]
BRANCHES = samples.DATA / "14.0.2" / "branches.lance"


def tag(**members: Any) -> Tag:
    return decode_tag(json.dumps({"version": 3, **members}).encode(), "gold")


def branch(**members: Any) -> Branch:
    return decode_branch(json.dumps({"parentVersion": 3, **members}).encode(), "dev")


def test_the_stored_tables_have_refs_of_all_ages():
    assert {path.parents[3].name for path in TAG_FILES} >= {"0.20.0", "1.0.4", "8.0.1", "14.0.2"}
    assert {path.parents[3].name for path in BRANCH_FILES} >= {"1.0.4", "8.0.1", "14.0.2"}


def test_a_branch_of_a_branch_knows_its_line():
    path = BRANCHES / "_refs" / "branches" / "dev%2Fdeep.json"
    dev = decode_branch((path.parent / "dev.json").read_bytes(), "dev")
    deep = decode_branch(path.read_bytes(), "dev/deep")
    assert [version for version, _ in deep.identifier] == [3, 5]
    assert deep.identifier[:1] == dev.identifier


def test_a_tag_of_the_first_writers_is_a_version_and_a_size():
    found = decode_tag(b'{"version": 7, "manifestSize": 640}', "gold")
    assert found == Tag("gold", None, 7, None, None, 640, ())


def test_a_branch_of_the_first_writers_has_no_line():
    assert branch(parentBranch="main", createAt=0).identifier == ()


def test_times_are_cut_to_microseconds():
    assert tag(createdAt="2026-01-31T09:30:00.123456789Z").created_at == datetime(
        2026, 1, 31, 9, 30, 0, 123456, UTC
    )


@pytest.fixture
def in_tokyo(monkeypatch) -> Iterator[None]:
    """The clock of the machine shows another time than UTC."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize("text", ["2026-01-31T11:30:00+02:00", "2026-01-31T09:30:00"])
def test_times_are_utc_whatever_the_machine(text, in_tokyo):
    assert tag(updatedAt=text).updated_at == datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


def test_a_branch_counts_seconds():
    assert branch(createAt=1_767_225_600).created_at == datetime(2026, 1, 1, tzinfo=UTC)


def test_metadata_stand_in_the_order_of_their_keys():
    assert tag(metadata={"b": "2", "a": "1"}).metadata == (("a", "1"), ("b", "2"))


def test_members_of_later_writers_are_ignored():
    assert tag(signature={"by": [1, 2]}, version=9).version == 9


@pytest.mark.parametrize("version", [0, 1, 2**53 + 1, 2**64 - 1])
def test_versions_are_exact(version):
    assert tag(version=version).version == version


NO_OBJECT = [b"", b"{", b"[]", b"null", b"3", b'"text"', b"\xff\xfe", b"{'version': 3}", b"\x00"]


@pytest.mark.parametrize("data", NO_OBJECT)
@pytest.mark.parametrize("decode", [decode_tag, decode_branch])
def test_what_is_no_object_is_refused(decode, data):
    with pytest.raises(CorruptFileError):
        decode(data, "gold")


@pytest.mark.parametrize("decode", [decode_tag, decode_branch])
def test_a_missing_version_is_named(decode):
    member = "version" if decode is decode_tag else "parentVersion"
    with pytest.raises(CorruptFileError, match=f"the member {member} is missing"):
        decode(b"{}", "gold")


WRONG_NUMBERS = [-1, 2**64, 1.0, 1e400, True, "3", [3], {}]
WRONG_TEXTS = [3, True, ["main"], {}, "\ud800"]
WRONG_TIMES = ["", "yesterday", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00+23:59", 3, "\ud800"]
WRONG_LINES = [
    3,
    [],
    {},
    {"version_mapping": None},
    {"version_mapping": {"12": "ab"}},
    {"version_mapping": ["ab"]},
    {"version_mapping": [[1]]},
    {"version_mapping": [[1, "ab", "cd"]]},
    {"version_mapping": [[1e400, "ab"]]},
    {"version_mapping": [[-1, "ab"]]},
    {"version_mapping": [["1", "ab"]]},
    {"version_mapping": [[1, None]]},
]
WRONG_METADATA = [3, [], {"a": 1}, {"a": None}, {"a": "\ud800"}, {"\ud800": "a"}]


def wrong_members() -> list[tuple[str, Any]]:
    members = {
        "version": WRONG_NUMBERS,
        "manifestSize": WRONG_NUMBERS,
        "branch": WRONG_TEXTS,
        "createdAt": WRONG_TIMES,
        "updatedAt": WRONG_TIMES,
        "metadata": WRONG_METADATA,
    }
    return [(name, value) for name, values in members.items() for value in values]


@pytest.mark.parametrize(("member", "value"), wrong_members())
def test_a_wrong_member_of_a_tag_is_named(member, value):
    with pytest.raises(CorruptFileError, match=f"^at byte [1-9][0-9]*: {member}: expected "):
        tag(**{member: value})


def wrong_members_of_branches() -> list[tuple[str, Any]]:
    members = {
        "parentVersion": WRONG_NUMBERS,
        "parentBranch": WRONG_TEXTS,
        "createAt": [*WRONG_NUMBERS, 2**63],
        "identifier": WRONG_LINES,
        "metadata": WRONG_METADATA,
    }
    return [(name, value) for name, values in members.items() for value in values]


@pytest.mark.parametrize(("member", "value"), wrong_members_of_branches())
def test_a_wrong_member_of_a_branch_is_named(member, value):
    with pytest.raises(CorruptFileError, match=f"^at byte [1-9][0-9]*: {member}: "):
        branch(**{member: value})


def test_what_was_found_is_shown_in_short_and_in_one_line():
    with pytest.raises(CorruptFileError) as refusal:
        tag(branch=["<script>\n\u202e" * 100_000])
    assert len(str(refusal.value)) < 200
    assert str(refusal.value).isprintable()


@pytest.mark.parametrize("depth", [10, 100_000])
def test_nesting_is_refused_at_any_depth(depth):
    nested = b'{"version": 1, "metadata": {"a": ' + b"[" * depth + b"]" * depth + b"}}"
    with pytest.raises(CorruptFileError):
        decode_tag(nested, "gold")


def test_endless_numbers_are_refused():
    with pytest.raises(CorruptFileError):
        decode_tag(b'{"version": ' + b"9" * 10_000 + b"}", "gold")


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
    max_leaves=8,
)
MEMBERS = {
    *["version", "branch", "createdAt", "updatedAt", "manifestSize", "metadata"],
    *["parentVersion", "parentBranch", "createAt", "identifier"],
}


@pytest.mark.slow
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(MEMBERS, JSON_VALUES)))
def test_any_object_is_a_ref_or_refused(members):
    for decode in (decode_tag, decode_branch):
        expect_ref_or_refusal(decode, json.dumps(members).encode())


@given(samples.damaged(FILES))
def test_a_damaged_file_is_a_ref_or_refused(data):
    for decode in (decode_tag, decode_branch):
        expect_ref_or_refusal(decode, data)


def expect_ref_or_refusal(decode: Any, data: bytes) -> None:
    try:
        repr(decode(data, "gold")).encode()
    except CorruptFileError:
        return
