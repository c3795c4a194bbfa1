"""Damaged tables through every entry point; ``python -m tests.table_fuzzing`` tries thousands."""

import random
from pathlib import Path

import pytest

from lance_explorer.format.manifest import read_layout
from tests import table_fuzzing
from tests.format.samples import DATA
from tests.mutations import mutated, table_files


@pytest.mark.slow
@pytest.mark.drawn(1)
def test_damaged_tables_end_in_answers_and_documented_errors(seed):
    outcome = table_fuzzing.fuzz_tables(cases=6, seed=seed)
    assert outcome.failures == []
    assert outcome.cases == 6
    assert outcome.asked > 50


@pytest.mark.drawn(1)
def test_most_changed_manifests_are_still_manifest_files(seed):
    chance = random.Random(seed)
    table = DATA / "14.0.2" / "rewritten_indices.lance"
    [file, *_] = sorted((table / "_versions").glob("*.manifest"))
    changed = [mutated(chance, file, b"other bytes") for _ in range(100)]
    assert len({data for _, data in changed}) > 80
    whole = [data for words, data in changed if words not in ("bytes", "empty")]
    assert len(whole) > 60
    for data in whole:
        read_layout(data)
    assert {file.suffix for file in table_files(table)} >= {".manifest", ".lance", ".txn"}


@pytest.mark.parametrize("ends", ["os.kill(os.getpid(), 6)", "time.sleep(60)", "raise KeyError"])
def test_a_death_a_hang_and_a_bare_exception_are_failures(tmp_path, monkeypatch, ends):
    child = f"""
import os, sys, time
from tests import table_fuzzing as tf
def ask(*_):
    {ends}
tf.questions = lambda: {{name: ask if name == "log" else (lambda *_: "read") for name in
    ("log", *"abcdefg", "view x", "frame x", "check_deep", "verify", "pylance")}}
tf.SOME = 10
tf._asked_before = tf._asked
tf._asked = lambda ask, name, *more: (
    {{"ended": "answered"}} if name == "check_deep" else tf._asked_before(ask, name, *more))
sys.argv[1:] = sys.argv[1:]
tf.main()
"""
    script = tmp_path / "child.py"
    script.write_text(child)
    monkeypatch.setattr(table_fuzzing, "CHILD", [str(script)])
    monkeypatch.setattr(table_fuzzing, "MOST_SECONDS", 2)
    outcome = table_fuzzing.fuzz_tables(cases=1, seed=1)
    assert outcome.cases == 1
    [failure] = outcome.failures
    assert "asked log: FAILED" in failure


def test_a_case_is_the_same_for_the_same_seed(tmp_path):
    file = tmp_path / "branch.json"
    Path(file).write_text('{"parentVersion": 3, "createAt": 0}')
    drawn = [
        [mutated(chance, file, b"") for _ in range(50)]
        for chance in (random.Random(1), random.Random(1))
    ]
    assert drawn[0] == drawn[1]
