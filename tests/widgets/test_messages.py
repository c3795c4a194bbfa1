"""Every question of every view is asked: its answer is what its method declares, arrays apart."""

from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, get_args, get_origin

import msgspec
import pytest

from lance_explorer import demo, open_database, open_table
from lance_explorer.widgets.messages.base import Message, to_json
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import View
from tests.widgets import sent
from tools.write_messages import VIEWS

ASKED: Mapping[str, Mapping[str, Any]] = {
    **sent.ASKED,
    "lives": {"index": "taken_at_idx"},
    "choose": {"index": "taken_at_idx"},
    "open_table": {"name": "photos"},
    "version": {"version": "30", "fragment": None, "mode": "row_id", "index": "x"},
}
"""What is asked; a question that has no arguments needs no line."""


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return open_table(demo.make_photos(tmp_path_factory.mktemp("messages") / "photos.lance"))


def fits(answer: Any, declared_type: Any) -> bool:
    """Tell whether an answer is of the declared type."""
    kinds = get_args(declared_type) if get_origin(declared_type) is UnionType else [declared_type]
    return isinstance(answer, tuple([NoneType if kind is None else kind for kind in kinds]))


def checked(message: Message) -> None:
    """Check that each field of a message, and of those within it, is of its declared type."""
    hints = {field.name: field.type for field in msgspec.structs.fields(type(message))}
    for name, hint in hints.items():
        value = getattr(message, name)
        if "ndarray" in str(hint) or value is msgspec.UNSET:
            continue
        within = value if isinstance(value, list | tuple) else [value]
        parts = [one for one in within if isinstance(one, Message)]
        for one in parts:
            checked(one)
        if not parts:
            msgspec.convert(to_json(value), hint, strict=False)


def made(name: str, table: Any) -> View:
    kind: Callable[..., View] = VIEWS[name]
    if name == "DatabaseExplorer":
        return kind(open_database(table.uri))
    if name == "FrameTable":
        return kind(table.versions())
    return kind(table, state=ExplorerState(row_id=2))


SHOWN = [name for name, view in VIEWS.items() if view._module and name != "Unavailable"]


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOWN)
def test_every_answer_is_as_it_is_declared(name, photos):
    view = made(name, photos)
    for kind, known in reversed([*view._methods.items()]):  # its own first: they show rows
        names = known.arguments.__struct_fields__
        arguments = {key: value for key, value in ASKED.get(kind, {}).items() if key in names}
        answer = view.ask(kind, **arguments)
        view.rest()
        assert fits(answer, known.answer), (kind, answer)
        if answer is not None:
            checked(answer)
    view.close()
