"""Tables under several names: what a cleanup breaks then is known, and no call offered does it."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import lance
import lancedb
import pyarrow as pa
import pytest
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.answers import Answer
from lance_explorer.checks.advice import advice
from lance_explorer.cli import main
from lance_explorer.disk.plans import plans
from lance_explorer.disk.survey import survey
from tests.disk.safe_calls import check_life
from tests.report.reading import report_on

NOW = timedelta(0)


class Named(NamedTuple):
    """A table at its real place, and through a link above it and one to it."""

    root: Path
    through: Path
    link: Path


@pytest.fixture
def named(tmp_path) -> Named:
    (tmp_path / "real").mkdir()
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    root, link = tmp_path / "real" / "t.lance", tmp_path / "l.lance"
    link.symlink_to(root)
    return Named(root, tmp_path / "linked" / "t.lance", link)


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": list(ids)})


def grow(path: object) -> None:
    """Write a table with a branch that reads a file which the latest version does not need."""
    uri = str(path)
    lance.write_dataset(rows(*range(10)), uri, enable_stable_row_ids=True)
    lance.dataset(uri).insert(rows(*range(10, 20)))
    lance.dataset(uri).delete("id < 3")
    lance.dataset(uri).create_branch("b", 3).insert(rows(100, 101))
    lance.dataset(uri).optimize.compact_files()
    lance.dataset(uri).insert(rows(99))


def branch_is_whole(path: Path, branch: str = "b", count: int = 19) -> bool:
    try:
        return (
            lance.dataset(str(path)).checkout_version((branch, None)).count_rows("id >= 0") == count
        )
    except OSError:
        return False


def clean_up(path: object, code: str) -> None:
    exec(code, {"dataset": lance.dataset(str(path)), "timedelta": timedelta})


ALL = "A cleanup of all but the latest version"


def plans_of(path: object, branch: str | None = None) -> dict[str, Answer]:
    return plans(survey(lx.open_table(path, branch)._view))


OPENED: dict[str, Callable[[Named], Any]] = {
    "a folder that is a link": lambda named: named.through,
    "a table that is a link": lambda named: str(named.link),
    "a file URI": lambda named: f"file://{named.through}",
    "a dataset": lambda named: lance.dataset(str(named.link)),
    "a branch of a dataset": lambda named: lance.dataset(str(named.through)).checkout_version(
        ("b", None)
    ),
    "a table of LanceDB": lambda named: lancedb.connect(str(named.through.parent)).open_table("t"),
}


@pytest.mark.slow
@pytest.mark.parametrize("opened", OPENED)
def test_a_table_that_is_opened_through_a_link_is_the_one_at_its_real_place(named, opened):
    grow(named.root)
    table = lx.open_table(OPENED[opened](named))
    assert table.uri == str(named.root)
    [finding] = table.inspect.findings().filter(code="opened_through_link").to_dicts()
    assert finding["severity"] == "warning"
    assert str(named.root) in finding["statement"]
    assert not plans(survey(table._view))[ALL].words("breaks")


def test_a_table_that_is_opened_at_its_real_place_has_no_such_finding(named):
    grow(named.root)
    found = lx.open_table(named.root).inspect.findings()
    assert found.filter(code="opened_through_link").is_empty()


def test_a_dataset_that_was_opened_with_a_slash_is_told_of(named):
    grow(named.root)
    table = lx.open_table(lance.dataset(f"{named.root}/"))
    assert table.inspect.findings()["code"].to_list() == ["opened_through_link"]


def test_another_spelling_without_branches_is_not_told_of(tmp_path, monkeypatch):
    folder = tmp_path / "tree" / "data"
    lance.write_dataset(rows(1), str(folder / "t.lance"))
    monkeypatch.chdir(folder)
    for given in ("t.lance", f"{folder}/t.lance/", f"file://{folder}/t.lance"):
        assert lx.open_table(lance.dataset(given)).inspect.findings().is_empty()
    lance.dataset("t.lance").create_branch("b")
    assert len(lx.open_table(lance.dataset("t.lance")).inspect.findings()) == 1
    table = lx.open_table(lance.dataset(str(folder / "t.lance")).checkout_version(("b", None)))
    assert table.inspect.findings().is_empty()


def test_what_is_offered_for_a_link_breaks_no_branch_and_pylance_does_through_the_link(named):
    grow(named.root)
    plan = plans_of(named.through)[ALL]
    clean_up(lx.open_table(named.through).uri, plan.code)
    assert branch_is_whole(named.root)
    assert lx.open_table(named.root)._view.listing.versions[0].version == 3
    lance.dataset(str(named.through)).cleanup_old_versions(NOW)
    assert not branch_is_whole(named.root)


NAMES: dict[str, Callable[[Named], str]] = {
    "a link": lambda named: str(named.through),
    "a slash": lambda named: f"{named.root}/",
    "a file URI": lambda named: f"file://{named.root}",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_branch_that_was_created_under_another_name_is_kept_by_what_is_offered(named, name):
    grow(NAMES[name](named))
    table = lx.open_table(named.root)
    [finding] = [f for f in advice(table._view) if f.code == "branch_under_another_name"]
    assert NAMES[name](named) in finding.statement
    preview = table.cleanup_preview(older_than=NOW)
    [sentence] = preview.breaks
    assert sentence.startswith("Branch b could no longer be read")
    assert preview.instead is not None
    assert not preview.instead.breaks
    clean_up(named.root, preview.code)
    assert branch_is_whole(named.root)
    lance.dataset(str(named.root)).tags.delete("keep-main-3")
    lance.dataset(str(named.root)).cleanup_old_versions(NOW)
    assert not branch_is_whole(named.root)


def test_a_branch_of_a_branch_is_kept_by_what_is_offered(named):
    grow(named.through)
    b = lance.dataset(str(named.through)).checkout_version(("b", None))
    b.delete("id > 100")
    b = lance.dataset(str(named.through)).checkout_version(("b", None))
    b.create_branch("c", ("b", b.version)).insert(rows(7))
    for change in (lambda d: d.optimize.compact_files(), lambda d: d.insert(rows(5))):
        change(lance.dataset(str(named.through)).checkout_version(("b", None)))
    preview = lx.open_table(named.root, "b").cleanup_preview(older_than=NOW)
    assert preview.breaks
    clean_up(named.root, preview.code)
    assert branch_is_whole(named.root, "c", 19)


def test_a_clone_that_is_named_is_kept_by_what_is_offered(named, tmp_path):
    grow(named.root)
    lance.write_dataset(rows(1, 2), str(named.root), mode="overwrite")
    clone = tmp_path / "clone.lance"
    lance.dataset(str(named.root), version=6).shallow_clone(str(clone), 6)
    preview = lx.open_table(named.root).cleanup_preview(older_than=NOW, clones=[clone])
    assert any("lone" in sentence for sentence in preview.breaks)
    clean_up(named.root, preview.code)
    assert lance.dataset(str(clone)).count_rows("id >= 0") == 18
    assert branch_is_whole(named.root)


@pytest.mark.slow
def test_what_nothing_keeps_is_offered_no_call(named):
    grow(named.root)
    (named.root / "_refs" / "branches" / "b.json").write_text("{")
    preview = lx.open_table(named.root).cleanup_preview(older_than=NOW)
    assert "branch b needs" in preview.breaks[0]
    assert preview.instead is None
    assert preview.code == ""
    assert "Nothing that Lance offers" in plans_of(named.root)[ALL].text()


def test_files_of_a_commit_under_way_are_kept_by_what_is_offered(named):
    grow(named.root)
    lance.fragment.LanceFragment.create(str(named.root), rows(50))
    preview = lx.open_table(named.root).cleanup_preview(older_than=NOW, delete_unverified=True)
    assert any("commit under way" in sentence for sentence in preview.breaks)
    assert "delete_unverified" not in preview.code
    assert preview.code


def test_a_tag_has_a_name_that_is_free(named):
    grow(named.through)
    lance.dataset(str(named.root)).tags.create("keep-main-3", 5)
    preview = lx.open_table(named.root).cleanup_preview(older_than=NOW)
    assert preview.code.startswith('dataset.tags.create("keep-main-3-2", 3)\n')


def test_the_command_tells_what_breaks_before_its_calls(named):
    grow(named.through)
    found = CliRunner().invoke(main, ["cleanup", str(named.root), "--older-than", "0d"])
    lines = found.output.splitlines()
    told = next(n for n, line in enumerate(lines) if line.startswith("- Branch b could no longer"))
    calls = [n for n, line in enumerate(lines) if line.startswith("dataset.")]
    assert told < calls[0] == calls[1] - 1 == len(lines) - 2
    assert lines[calls[0]] == 'dataset.tags.create("keep-main-3", 3)'


@pytest.mark.slow
def test_a_report_tells_what_breaks_and_offers_what_does_not(named, tmp_path):
    grow(named.through)
    report = report_on(lx.open_table(named.root), tmp_path)
    text = report.sections["On disk"]
    danger = text.index("This would break what others need")
    assert danger < text.index("What is lost") < text.index('dataset.tags.create("keep-main-3", 3)')


def test_no_plan_calls_what_would_break_something(named):
    grow(named.through)
    for plan in plans_of(named.root).values():
        assert not plan.words("breaks") or plan.code.startswith("dataset.tags.create")


@pytest.mark.slow
@pytest.mark.drawn(6)
def test_what_is_offered_for_a_random_table_breaks_nothing(tmp_path, seed):
    check_life(tmp_path, seed)
