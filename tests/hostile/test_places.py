"""Nothing is opened, asked for or told that lies where a table must not lead."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import lance_explorer as lx
from lance_explorer.errors import UnsupportedFeatureError
from tests.hostile.shadow import SECRET, Shadow, templates, write_shadow

TABLES = 250


@pytest.mark.drawn(1)
def test_no_table_leads_out(seed, tmp_path):
    command = [sys.executable, "-m", "tests.hostile.worker", str(tmp_path), str(seed), str(TABLES)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["leaks"] == []
    assert found["refused"] > TABLES / 2


@pytest.fixture(scope="module")
def leading_out(tmp_path_factory) -> tuple[Path, Path]:
    """A table all of whose rows are outside, and where that is."""
    folder = tmp_path_factory.mktemp("leading_out")
    near, outside, made = (folder / name for name in ("near", "outside", "templates"))
    for each in (near, outside, made):
        each.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    [table] = [path for path in templates(made, outside / "secret.txt") if path.stem == "stable"]
    write_shadow(table, outside)
    return Shadow(table, outside, near).lead_out("t.lance"), outside


def test_what_is_refused_would_be_told(leading_out):
    path, outside = leading_out
    with pytest.raises(UnsupportedFeatureError, match="is not opened: it is neither a Lance table"):
        lx.open_table(path).latest.read()
    assert SECRET in lx.open_table(path, allow_bases=[outside]).latest.read()["name"].to_list()
