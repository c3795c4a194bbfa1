from datetime import timedelta

import pytest

import lance_explorer as lx
from lance_explorer.errors import (
    FragmentNotFoundError,
    InvalidArgumentError,
    LanceExplorerError,
    RefNotFoundError,
    RowNotFoundError,
    VersionNotFoundError,
)
from lance_explorer.widgets.search import Found, search
from tests.synthetic import SyntheticTable


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return five versions with stable row IDs: two fragments, a compaction of them into one."""
    made = SyntheticTable(tmp_path_factory.mktemp("search") / "t.lance")
    made.append(rows=4, fragments=2).append(rows=3).compact([0, 1]).append(rows=2)
    return lx.open_table(made.path)


@pytest.fixture
def tagged(tmp_path):
    """Return a table with tags, some of which look like something else."""
    import lance
    import pyarrow as pa

    path = str(tmp_path / "t.lance")
    dataset = lance.write_dataset(pa.table({"n": [1, 2]}), path)
    for number in (3, 4):
        dataset.insert(pa.table({"n": [number]}))
    for name, version in {"clean": 2, "v2": 1, "v3": 3, "v9": 1}.items():
        dataset.tags.create(name, version)
    dataset.create_branch("dev", 2)
    dataset.tags.create("theirs", ("dev", 2))
    return lx.open_table(path)


@pytest.mark.parametrize("typed", ["2", "v2", "V2", "version 2", " Version  2 ", "v 2"])
def test_versions(table, typed):
    assert search(table, typed) == Found("version", 2)


@pytest.mark.parametrize("typed", ["row 5", "ROW 5", "row id 5", "rowid 5", "row5"])
def test_rows(table, typed):
    assert search(table, typed) == Found("row", 5)


@pytest.mark.parametrize("typed", ["fragment 1", "frag 1", "Fragment1"])
def test_fragments_also_those_that_are_gone(table, typed):
    assert search(table, typed) == Found("fragment", 1)


@pytest.mark.parametrize(
    "typed",
    [
        "1:2@2",
        "1 : 2 @ 2",
        "1:2",
        f"address {(1 << 32) + 2}",
        f"addr {(1 << 32) + 2}@2",
        f"_rowaddr {(1 << 32) + 2}",
        f"row address {(1 << 32) + 2}",
        "address 1:2",
        "row 1:2@2",
    ],
)
def test_addresses_give_the_row_that_lives_there(table, typed):
    [row_id] = table.at(2).row_ids().filter(_rowaddr=(1 << 32) + 2)["_rowid"]
    assert search(table, typed) == Found("row", row_id)


def test_an_address_without_stable_row_ids_is_the_row(tmp_path):
    made = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4)
    assert search(lx.open_table(made.path), "0:3") == Found("row", 3)


def test_tags(tagged):
    assert search(tagged, "clean") == Found("version", 2)
    assert search(tagged, "tag clean") == Found("version", 2)


def test_a_name_that_is_a_tag_and_another_version_is_the_tag(tagged):
    assert search(tagged, "v2") == Found("version", 1)
    assert search(tagged, "tag v2") == Found("version", 1)
    assert search(tagged, "version 2") == Found("version", 2)


def test_a_name_that_is_a_tag_of_that_version_is_plain(tagged):
    assert search(tagged, "v3") == Found("version", 3)


def test_a_name_that_is_a_tag_and_no_version_is_the_tag(tagged):
    assert search(tagged, "v9") == Found("version", 1)


def test_a_tag_on_another_branch_says_so(tagged):
    with pytest.raises(InvalidArgumentError, match="branch dev"):
        search(tagged, "theirs")


def test_a_tag_that_is_misspelt_is_suggested(tagged):
    with pytest.raises(RefNotFoundError, match=r"the tag clean\?"):
        search(tagged, "claen")
    with pytest.raises(RefNotFoundError, match="there are: clean"):
        search(tagged, "tag claen")


def test_times(table):
    times = table.versions()["timestamp"]
    moment = times[2].isoformat()
    assert search(table, moment) == Found("version", 3)
    assert search(table, moment.replace("T", " ").removesuffix("+00:00")) == Found("version", 3)


def test_a_date_is_the_end_of_that_day(table):
    last = table.versions()["timestamp"][-1]
    assert search(table, f"{last:%Y-%m-%d}") == Found("version", table._view.latest_version)
    with pytest.raises(VersionNotFoundError, match="as old as"):
        search(table, f"{last - timedelta(days=400):%Y-%m-%d}")


@pytest.mark.parametrize(
    ("typed", "error", "words"),
    [
        ("99", VersionNotFoundError, "version 99 never existed; 5 versions remain, 1 to 5"),
        ("version 0", VersionNotFoundError, "never existed"),
        (f"v{10**30}", VersionNotFoundError, "never existed"),
        ("row 99", RowNotFoundError, "99"),
        ("9:9", RowNotFoundError, "there is no live row at offset 9 of fragment 9"),
        ("0:1@99", VersionNotFoundError, "99"),
        (f"address {2**64}", InvalidArgumentError, "too large"),
        ("row 42 and more", InvalidArgumentError, "is not a row"),
        ("fragment 99", FragmentNotFoundError, "there are 0 to"),
        ("2026-02-31", RefNotFoundError, "no version or tag is called '2026-02-31'"),
        ("row", RefNotFoundError, "no version or tag is called 'row'"),
        ("<img src=x>", RefNotFoundError, "no version or tag is called"),
        ("x" * 300, InvalidArgumentError, "has 200 characters at most"),
        ("", RefNotFoundError, "no version or tag is called"),
    ],
)
def test_what_is_wrong_is_told_in_words(table, typed, error, words):
    with pytest.raises(error, match=words):
        search(table, typed)


def test_numbers_of_other_alphabets_are_never_something_else(table):
    with pytest.raises(LanceExplorerError):
        search(table, "row ²")


def test_fragments_of_an_empty_table(tmp_path):
    table = lx.open_table(SyntheticTable(tmp_path / "t.lance").overwrite(0, 0).path)
    with pytest.raises(FragmentNotFoundError, match="the table has none"):
        search(table, "fragment 0")
    assert search(table, "1") == Found("version", 1)


def test_a_fragment_of_the_parent_is_found_from_a_branch(tagged):
    branch = lx.open_table(tagged.uri, branch="dev")
    assert search(branch, "fragment 0") == Found("fragment", 0)


@pytest.mark.parametrize("typed", ["dev", "branch dev", "Branch  dev"])
def test_branches(tagged, typed):
    latest = lx.open_table(tagged.uri, branch="dev").latest.version
    assert search(tagged, typed) == Found("branch", latest, "dev")


def test_a_version_of_a_branch(tagged):
    kept = lx.open_table(tagged.uri, branch="dev").versions()["version"][0]
    assert search(tagged, f"dev@{kept}") == Found("branch", kept, "dev")
    with pytest.raises(VersionNotFoundError):
        search(tagged, "dev@99")
