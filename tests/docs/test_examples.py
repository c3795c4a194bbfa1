"""The Python in the pages runs, and shows what stands below it."""

import re
from contextlib import chdir, suppress

import pytest

import lance_explorer as lx
from tools.docs.examples import pages_with_examples, with_output
from tools.docs.notebooks import ROOT

COMING_FROM = ROOT / "docs" / "guides" / "coming-from.md"
GUIDES = [page for page in pages_with_examples() if page != COMING_FROM]


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_show_what_stands_there(page, samples, tmp_path):
    text = page.read_text(encoding="utf-8")
    assert "```python" in text
    assert with_output(text, tmp_path) == text


def test_what_a_value_is_stands_below_its_code(tmp_path):
    page = "```python\na = 1\n```\n\n```python\nprint(a)\na + 1\n```\n"
    shown = page + "\n```text\n1\n2\n```\n"
    assert with_output(page, tmp_path) == shown
    assert with_output(shown.replace("2\n```", "3\n```"), tmp_path) == shown


def equivalents() -> list[str]:
    """Return the code in the last columns of the tables of equivalents."""
    lines = COMING_FROM.read_text(encoding="utf-8").splitlines()
    cells = [line.rstrip("| ").rpartition("|")[2] for line in lines if line.startswith("| ")]
    found = (code for cell in cells for code in re.findall(r"`((?:table|lx)\.[^`]*)`", cell))
    return [*dict.fromkeys(found)]


@pytest.mark.parametrize("code", equivalents())
def test_what_stands_for_a_command_elsewhere_runs(code, samples):
    with chdir(samples):
        names = {"lx": lx, "table": lx.open_table("photos.lance")}
        with suppress(lx.VersionNotFoundError):  # the sample is younger than a date in the page
            assert eval(code, names) is not None
