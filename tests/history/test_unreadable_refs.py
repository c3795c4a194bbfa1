"""Tags and branches that are listed and whose files are not found, always or by chance."""

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

import lance_explorer as lx
from lance_explorer.errors import RefNotFoundError
from lance_explorer.history.view import HistoryView
from lance_explorer.storage.base import Contents
from lance_explorer.storage.local import LocalStorage
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable

BRANCHES = DATA / "14.0.2" / "branches.lance"


class Forgetful(LocalStorage):
    """A store that says of some files that they are not there, though it lists them."""

    def __init__(self, root: str, name: str, times: int) -> None:
        super().__init__(root)
        self.name, self.times = name, times

    def get_many(self, paths: Iterable[str], sizes: Sequence[int] = ()) -> Iterator[Contents]:
        paths = list(paths)
        for path, data in zip(paths, super().get_many(paths, sizes), strict=True):
            is_forgotten = path.endswith(f"/{self.name}.json") and self.times > 0
            self.times -= is_forgotten
            yield None if is_forgotten else data


def opened(name: str, times: int) -> HistoryView:
    return HistoryView.open(Forgetful(str(BRANCHES), name, times))


@pytest.fixture(scope="module")
def whole() -> HistoryView:
    return HistoryView.open(str(BRANCHES))


@pytest.fixture(scope="module")
def branch(whole) -> str:
    name: str = min(whole.refs.branches)
    return name


def test_a_reference_that_is_not_found_once_is_read_again(whole, branch):
    view = opened(branch, 1)
    assert view.refs.branches == whole.refs.branches
    assert view.refs.unreadable == []


def test_a_branch_whose_reference_is_not_found_is_listed_as_unreadable(branch):
    table = lx.Table(opened(branch, 100))
    assert branch not in table.branches
    [row] = table.inspect.refs().filter(name=branch).iter_rows(named=True)
    assert (row["kind"], row["version"], row["is_kept"]) == ("branch", None, None)
    assert "is listed, but its reference" in row["problem"]
    assert f"{branch} (cannot be read)" in table._repr_html_()


def test_a_branch_whose_reference_is_not_found_is_an_error_of_the_table(branch):
    found = lx.Table(opened(branch, 100)).inspect.findings().filter(code="missing_ref")
    assert found.select("severity", "branch").rows() == [("error", None)]
    assert repr(branch) in found["statement"][0]


def test_a_branch_whose_reference_is_not_found_can_be_opened(whole, branch):
    view = opened(branch, 100)
    versions = [file.version for file in view.on_branch(branch).listing.versions]
    assert versions == [file.version for file in whole.on_branch(branch).listing.versions]


def test_a_cleanup_says_that_it_may_break_such_a_branch(branch):
    preview = lx.Table(opened(branch, 100)).cleanup_preview(older_than=timedelta(0))
    damage = preview.losses().filter(what="damage")["message"].to_list()
    assert any(f"branch {branch} needs" in message for message in damage)


def test_a_tag_whose_reference_is_not_found_is_named_in_the_error(whole):
    name = min(whole.refs.tags)
    view = opened(name, 100)
    with pytest.raises(RefNotFoundError, match="is listed, but its reference"):
        view.refs.tag(name)
    assert [ref.kind for ref in view.refs.unreadable] == ["tag"]


def test_a_reference_that_was_deleted_since_it_was_listed_is_no_finding(branch):
    class Deleting(Forgetful):
        def list_files(self, folder):
            found = super().list_files(folder)
            return found if self.times else [f for f in found if not f.name.startswith(branch)]

    view = HistoryView.open(Deleting(str(BRANCHES), branch, 1))
    assert branch not in view.refs.branches
    assert view.refs.unreadable == []


def test_threads_that_ask_at_once_are_told_of_each_reference_once(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append()
    folder = tmp_path / "t.lance" / "_refs" / "tags"
    folder.mkdir(parents=True)
    (folder / "bad.json").write_text("{")
    together = threading.Barrier(8)

    def ask(refs):
        together.wait()
        _ = refs.tags
        return len(refs.unreadable)

    for _ in range(20):
        refs = lx.open_table(table.path)._view.refs
        with ThreadPoolExecutor(8) as threads:
            assert {*threads.map(ask, [refs] * 8)} == {1}
        assert len(refs.unreadable) == 1
