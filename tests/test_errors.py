"""The exception tree: as its drawing says, and fit for process boundaries."""

import ast
import copy
import inspect
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lance_explorer import errors

DRAWN = re.compile(r"^    (?P<branch>[|+ -]*)(?P<name>\w+Error)(?: \((?P<builtin>\w+)\))?$")

COMMON = re.compile(
    r"If (?:an? |the |its )?(?:[\w`]+ ){1,2}"
    r"(?:cannot be (?:read|decoded|understood|told)|is missing or cannot be read"
    r"|is (?:not kept|gone|damaged|none of these)|does not fit the table)\."
)
"""What the docstring of ``errors`` says for all calls."""

ERRORS = {name: getattr(errors, name) for name in errors.__all__}


def drawn_bases() -> dict[str, set[str]]:
    """Return the bases of each error as the drawing in the docstring shows them."""
    bases: dict[str, set[str]] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if match := DRAWN.match(line):
            del path[len(match["branch"]) // 4 :]
            parent = path[-1] if path else "Exception"
            bases[match["name"]] = {parent, match["builtin"] or parent}
            path.append(match["name"])
    return bases


def raised() -> Iterator[tuple[str, str, str]]:
    """Yield what docstrings of the package say of our errors: where, which, and the condition."""
    for path in Path(errors.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                _, _, rest = (ast.get_docstring(node) or "").partition("\nRaises\n------\n")
                section = re.split(r"\n\n\w+\n-+\n", rest)[0]
                for entry in re.split(r"\n(?=\S)", section):
                    error, _, condition = entry.partition("\n")
                    if error in ERRORS:
                        yield f"{path.name}: {node.name}", error, " ".join(condition.split())


def test_the_tree_is_as_drawn():
    tree = {name: {base.__name__ for base in error.__bases__} for name, error in ERRORS.items()}
    assert tree == drawn_bases()


def test_every_error_of_the_module_is_public():
    classes = inspect.getmembers(errors, inspect.isclass)
    assert {name for name, _ in classes if name.endswith("Error")} == set(errors.__all__)


@pytest.mark.parametrize(
    "name", sorted(set(ERRORS) - {"LanceExplorerError", "MissingDependencyError"})
)
def test_the_contract_of_all_calls_names_each_error(name):
    assert f":class:`{name}`" in (errors.__doc__ or "")


@pytest.mark.parametrize(
    "condition",
    [
        "If a file cannot be read.",
        "If a deletion file cannot be understood.",
        "If its manifest cannot be understood.",
        "If it cannot be read.",
        "If it is not kept.",
        "If the version is not kept.",
        "If the table is gone.",
        "If ``ref`` is none of these.",
        "If a column does not fit the table.",
    ],
)
def test_the_contract_is_recognised(condition):
    assert COMMON.fullmatch(condition)


@pytest.mark.slow
def test_no_docstring_repeats_the_contract():
    entries = list(raised())
    special = (
        "table.py: deletion_history",
        "FragmentNotFoundError",
        "If no kept version has the fragment.",
    )
    assert special in entries
    assert [entry for entry in entries if COMMON.fullmatch(entry[2])] == []


@pytest.mark.parametrize("name", ERRORS)
def test_errors_survive_pickling(name):
    error = ERRORS[name]("what failed")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again)) == (type(error), "what failed")


def test_the_place_of_a_format_error_survives_pickling():
    error = errors.CorruptFileError("a number is cut off", "_versions/7.manifest", 12)
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.path, again.offset) == (error.message, error.path, error.offset)


def test_the_place_of_a_format_error_survives_copying():
    error = copy.copy(errors.UnsupportedFeatureError("of another kind", "a.bin"))
    assert str(error) == "a.bin: of another kind"


@pytest.mark.parametrize(
    ("path", "offset", "text"),
    [
        (None, None, "cut off"),
        ("a.manifest", None, "a.manifest: cut off"),
        ("a.manifest", 0, "a.manifest at byte 0: cut off"),
        (None, 12, "at byte 12: cut off"),
    ],
)
def test_a_format_error_says_as_much_of_the_place_as_it_knows(path, offset, text):
    assert str(errors.FormatError("cut off", path, offset)) == text


def test_located_names_the_file():
    error = errors.CorruptFileError("cut off", offset=3).located("a.manifest")
    assert str(error) == "a.manifest at byte 3: cut off"


@pytest.mark.parametrize("kind", [errors.CorruptFileError, errors.UnsupportedFeatureError])
def test_located_keeps_the_class(kind):
    assert type(kind("wrong").located("a.manifest")) is kind


def test_located_leaves_alone_what_names_its_file():
    error = errors.CorruptFileError("cut off", "_deletions/0-1-2.arrow")
    assert error.located("a.manifest") is error


def test_errors_of_storage_are_those_that_a_user_of_files_catches():
    with pytest.raises(OSError, match="cannot read"):
        raise errors.StorageError("cannot read 'a': Permission denied")


def test_a_place_in_a_part_becomes_a_place_in_the_whole():
    error = errors.CorruptFileError("cut off", offset=2)
    assert error.within(b"part", b"the part").offset == 6
    assert error.within(b"not there", b"the part").offset == 2
    assert errors.CorruptFileError("cut off").within(b"part", b"the part").offset == 4
    assert error.located("a.manifest", 100).offset == 102
    assert errors.CorruptFileError("cut off").located("a.manifest", 100).offset is None
    located = error.located("a.manifest")
    assert located.located("b.manifest", 7) is located
