"""How objects and texts show: never with an error, never with a trick."""

import importlib
import inspect
import pkgutil
from pathlib import Path
from traceback import TracebackException
from typing import Any

import pytest

import lance_explorer
import lance_explorer as lx

DATA = Path(__file__).parent / "data"


# ------------------------------------------------------------------------------- how objects show


def described_classes() -> list[Any]:
    """Return the classes that say themselves how they show."""
    found = list[Any]()
    for about in pkgutil.walk_packages(lance_explorer.__path__, "lance_explorer."):
        if "._pb" not in about.name:
            module = importlib.import_module(about.name)
            for _, kind in inspect.getmembers(module, inspect.isclass):
                shows = inspect.unwrap(vars(kind).get("__repr__", object.__repr__))
                code = getattr(shows, "__code__", None)
                if code and code.co_filename == module.__file__:
                    found.append(kind)
    return found


def test_an_object_that_is_half_made_shows_without_an_error():
    classes = described_classes()
    assert {"Snapshot", "Table", "Row", "Changes", "RowIdIndex"} <= {k.__name__ for k in classes}
    for kind in classes:
        assert repr(kind.__new__(kind))


def test_what_fails_while_an_object_is_made_is_what_is_told():
    table = lx.open_table(DATA / "14.0.2" / "stable_row_ids.lance")
    with pytest.raises(lx.VersionNotFoundError) as failure:
        table.at(99)
    shown = "".join(TracebackException.from_exception(failure.value, capture_locals=True).format())
    assert "self = <Snapshot that cannot be shown: AttributeError>" in shown
    assert "repr() failed" not in shown
