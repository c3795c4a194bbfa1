"""The catalogue of findings: each code is in it, documented, and brought about by a test."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lance_explorer.findings import KINDS, SEVERITIES, Cause, Finding, Remedy, Subject
from lance_explorer.frames.findings import FINDINGS, findings_frame
from tests.findings.brought_about import TESTS
from tools.write_findings_page import PAGE, page

ROOT = Path(__file__).parents[2]
_PACKAGE = ROOT / "lance_explorer"
_CATALOGUE = _PACKAGE / "findings"
_ELSEWHERE = {"unreadable_table"}
"""Codes of findings that are made in a process of Spark, where nothing is noted."""


def _texts() -> set[str]:
    """Return all texts in the package but for those of the catalogue."""
    trees = [
        ast.parse(file.read_text(encoding="utf-8"))
        for file in _PACKAGE.rglob("*.py")
        if _CATALOGUE not in file.parents
    ]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    return {node.value for node in nodes if isinstance(node.value, str)}


@pytest.mark.slow
def test_each_code_of_the_catalogue_is_raised_somewhere() -> None:
    assert set(KINDS) <= _texts()


def test_a_finding_of_an_unknown_code_is_an_error() -> None:
    with pytest.raises(KeyError):
        Finding("nonsense", "it is so")


def test_the_page_is_that_of_the_catalogue() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
    assert page().count("\n### `") == len(KINDS)


def test_each_code_has_a_test_that_brings_it_about() -> None:
    assert sorted(TESTS) == sorted(KINDS)


@pytest.mark.slow
def test_these_tests_do_bring_them_about(tmp_path: Path) -> None:
    run = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "tests.findings.recorder"),
            *("-p", "no:cacheprovider", "-W", "ignore::pytest.PytestUnraisableExceptionWarning"),
            *sorted({test for code, test in TESTS.items() if code not in _ELSEWHERE}),
        ],
        cwd=ROOT,
        env={**os.environ, "FINDINGS_FOLDER": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-2000:]
    lines = [line for file in tmp_path.iterdir() for line in file.read_text().splitlines()]
    seen = {(line.split("[")[0].split("\t")[0], line.split("\t")[1]) for line in lines}
    assert {code for code, test in TESTS.items() if (test, code) not in seen} == _ELSEWHERE


@pytest.mark.parametrize("code", KINDS)
def test_words_of_kinds_are_sentences(code: str) -> None:
    kind = KINDS[code]
    assert kind.severity in SEVERITIES
    assert kind.example.endswith("...") or not kind.example.endswith(".")
    assert kind.remedy
    for words in (kind.means, kind.remedy, kind.consequence):
        assert not words or words.endswith("."), words
    if kind.milder:
        assert SEVERITIES.index(kind.milder[0]) > SEVERITIES.index(kind.severity)


def test_a_finding_is_made_of_its_fields() -> None:
    found = Finding(
        "files_left_over",
        "2 files are named by no version",
        subject=Subject("files", path="data/0.lance"),
        versions=(2, 4),
        branch="dev",
        since=2,
        causes=(Cause("a writer ended", "its transaction is there"), Cause("a cleanup left them")),
        consequence="They take room.",
        remedy=Remedy("Remove them", "dataset.cleanup_old_versions()", "nothing"),
        readers="0.1 to 0.3",
        known_bug="0.3 does it",
        rows=4,
        columns=("a", "b"),
        is_mild=True,
    )
    assert found.sentence == (
        "2 files are named by no version. They take room. Possible causes: a writer ended (its "
        "transaction is there); or a cleanup left them. Known bug: 0.3 does it. Releases that "
        "answer wrongly because of it: 0.1 to 0.3. Remove them: `dataset.cleanup_old_versions()`."
    )
    [row] = findings_frame([found]).to_dicts()
    assert row == {
        "code": "files_left_over",
        "topic": "storage",
        "severity": "info",
        "branch": "dev",
        "subject_kind": "files",
        "subject_name": None,
        "subject_path": "data/0.lance",
        "first_version": 2,
        "last_version": 4,
        "since_version": 2,
        "statement": "2 files are named by no version",
        "consequence": "They take room.",
        "causes": ["a writer ended (its transaction is there)", "a cleanup left them"],
        "remedy": "Remove them",
        "remedy_code": "dataset.cleanup_old_versions()",
        "undone_by": "nothing",
        "readers": "0.1 to 0.3",
        "known_bug": "0.3 does it",
        "num_rows": 4,
        "columns": ["a", "b"],
    }
    assert list(row) == FINDINGS.names


def test_one_cause_is_said_as_the_cause() -> None:
    found = Finding("table_went_back", "it is older", causes=(Cause("it was put back"),))
    assert "Cause: it was put back." in found.sentence
