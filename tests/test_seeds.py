"""A run is repeated by its seed, and known failures fail until they are removed."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.seeds import drawn, known_failures

ROOT = Path(__file__).resolve().parent.parent
CONFTEST = """
from pathlib import Path
from tests import seeds

seeds.KNOWN = Path(__file__).with_name("known.toml")
seeds.ROOT = Path(__file__).parent  # where there are no modules to load

def pytest_addoption(parser, pluginmanager):
    pluginmanager.register(seeds)
"""
TESTS = """
import pytest
from hypothesis import given, strategies as st

@pytest.mark.drawn(3)
def test_numbers(seed):
    print(seed)

@given(st.integers(), st.sampled_from("abcdefgh"))
def test_examples(number, letter):
    print(number, letter)

@pytest.mark.drawn(2)
def test_the_first_fails(seed, request):
    assert request.node.callspec.id != "0"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with a few random tests, and no known failure."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_random.py").write_text(TESTS)
    (tmp_path / "known.toml").touch()
    return tmp_path


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "--rootdir", str(folder)]
    command += ["-p", "no:cacheprovider", "-rA", "-s", *options]
    env = {"PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)


def numbers(result: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.lstrip(".") for line in result.stdout.splitlines() if line[:1] in ".-0123456789"]


def test_a_seed_gives_the_same_and_another_seed_something_else(project):
    once, again, other = (run(project, "--seed", seed) for seed in ("one", "one", "two"))
    assert len(set(numbers(once))) > 50
    assert numbers(once) == numbers(again)
    assert len({*numbers(once)} & {*numbers(other)}) < 40


def test_a_test_alone_tries_what_it_tries_among_others(project):
    among = numbers(run(project, "--seed", "one"))
    alone = numbers(run(project, "test_random.py::test_examples", "--seed", "one"))
    assert [line for line in alone if line in among] == alone
    assert str(drawn("one", "test_random.py::test_numbers 2")) in among


def test_a_failure_prints_the_line_that_repeats_it(project):
    result = run(project, "--seed", "one two")
    [line] = [line for line in result.stdout.splitlines() if " -m pytest " in line]
    words = shlex.split(line)
    assert words[1:] == [
        *("-m", "pytest", "test_random.py::test_the_first_fails[0]", "--seed", "one two")
    ]
    assert "1 failed" in run(project, *words[3:]).stdout


@pytest.mark.parametrize(("number", "ending"), [(0, "xfailed"), (1, "failed")])
def test_a_known_failure_has_to_fail(project, number, ending):
    (project / "known.toml").write_text(
        f"""
        [[failure]]
        test = "test_random.py::test_the_first_fails[{number}]"
        seed = "one"
        wrong = "the first fails"
        since = "2026-11-25"
        """
    )
    test = f"test_random.py::test_the_first_fails[{number}]"
    result = run(project, test, "--seed", "one")
    assert f"1 {ending}" in result.stdout
    assert "the first fails (since 2026-11-25; once it passes" in result.stdout
    other = run(project, test, "--seed", "two").stdout
    assert ("1 failed" if number == 0 else "1 passed") in other


def test_every_known_failure_still_fails():
    """Where one passes, or is no test any more, its entry is to be removed."""
    for known in known_failures():
        command = [sys.executable, "-m", "pytest", "-q", known.test, "--seed", known.seed]
        result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert "1 xfailed" in result.stdout, f"{known}\n{result.stdout}"


SAMPLED = """
import pytest

@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", range(60))
def test_a_case(case):
    pass

@pytest.mark.sampled(3)
def test_alone():
    pass
"""


def test_of_sampled_cases_the_seed_draws_some_unless_all_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_sampled.py").write_text(SAMPLED)
    (tmp_path / "known.toml").touch()

    def passed(*options: str) -> set[str]:
        lines = run(tmp_path, *options).stdout.splitlines()
        return {line.split("::")[1] for line in lines if line.startswith("PASSED")}

    some, others = passed("--seed", "one"), passed("--seed", "two")
    assert some == passed("--seed", "one") != others
    assert "test_alone" in some & others
    assert all(10 < len(chosen) < 35 for chosen in (some, others))
    named = passed("--seed", "one", "test_sampled.py::test_a_case")
    assert len(named) == 60
    assert passed("--seed", "one", "--times", "2") == named | {"test_alone"}
