"""The Python in the pages runs, and shows what stands below it."""

import re
import shlex
from contextlib import chdir, suppress

import pytest
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.cli import main
from tools.docs.examples import pages_with_examples, with_output
from tools.docs.notebooks import ROOT

COMING_FROM = ROOT / "docs" / "guides" / "coming-from.md"
GUIDES = [page for page in pages_with_examples() if page != COMING_FROM]


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_the_examples_of_a_page_show_what_stands_there(page, samples):
    text = page.read_text(encoding="utf-8")
    assert "```python" in text
    assert with_output(text, samples) == text


def test_what_a_value_is_stands_below_its_code(tmp_path):
    page = "```python\na = 1\n```\n\n```python\nprint(a)\na + 1\n```\n"
    shown = page + "\n```text\n1\n2\n```\n"
    assert with_output(page, tmp_path) == shown
    assert with_output(shown.replace("2\n```", "3\n```"), tmp_path) == shown


def one_liners() -> list[str]:
    """Return the code in the tables of questions and of equivalents."""
    pages = [ROOT / "README.md", ROOT / "docs" / "index.md", COMING_FROM]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    cells = [cell for line in lines if line.startswith("| ") for cell in line.split(" | ")]
    found = (code for cell in cells for code in re.findall(r"`((?:table|lx)\.[^`]*)`", cell))
    return [*dict.fromkeys(found)]


@pytest.mark.parametrize("code", one_liners())
def test_the_line_that_answers_a_question_runs(code, samples):
    with chdir(samples):
        names = {"lx": lx, "table": lx.open_table("photos.lance")}
        with suppress(lx.VersionNotFoundError):  # the sample is younger than a date in the page
            assert eval(code, names) is not None


def commands() -> list[str]:
    """Return the commands that the pages show on the sample table, but for those that go on."""
    pages = [ROOT / "README.md", *pages_with_examples()]
    lines = [line for page in pages for line in page.read_text(encoding="utf-8").splitlines()]
    shown = [line.partition("  #")[0] for line in lines if line.startswith("lance-explorer ")]
    return [line for line in dict.fromkeys(shown) if not line.startswith("lance-explorer open")]


@pytest.mark.parametrize("command", commands())
def test_a_command_that_a_page_shows_runs(command, samples):
    is_telling = "--exit-code" in command  # whether something differs, by the exit code
    with chdir(samples):
        lock = lx.lock(lx.open_table("photos.lance").at("backup"))
        (samples / "photos.lock").write_text(lock, encoding="utf-8")
        ran = CliRunner().invoke(main, shlex.split(command)[1:])
    assert ran.exit_code == int(is_telling), ran.output
    assert ran.output
