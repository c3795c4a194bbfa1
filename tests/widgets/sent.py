"""One message of each kind as Python sends it, and what it says, for the tests of both halves.

``python -m tests.widgets.sent`` writes it: real views of a stored table are asked over a real
session, and their texts and buffers are kept beside the same messages as TypeScript of the types
that ``messages.ts`` declares.
"""

import asyncio
import atexit
import base64
import json
import math
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from threading import RLock
from typing import Any

import msgspec
import numpy as np
import polars as pl

from lance_explorer.answers import Answer
from lance_explorer.database import open_database
from lance_explorer.errors import StorageError
from lance_explorer.findings import Finding
from lance_explorer.table import Table, open_table
from lance_explorer.widgets import recording
from lance_explorer.widgets.answer_view import answer_view
from lance_explorer.widgets.messages.answer import SearchAnswer
from lance_explorer.widgets.messages.base import (
    ARRAYS,
    Message,
    PageMessage,
    Question,
    ViewMessage,
    What,
    pack,
    to_json,
)
from lance_explorer.widgets.messages.recorded import NotAnswered
from lance_explorer.widgets.messages.shared import Failure
from lance_explorer.widgets.session import Session
from lance_explorer.widgets.shelves import Shelves
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import View
from tests.format.samples import DATA
from tools.write_messages import MODULES, VIEWS, declared

__all__ = ["ASKED", "WRITTEN", "Recorder", "kinds", "questions", "record"]

WRITTEN = Path(__file__).parents[2] / "frontend" / "tests" / "sent.ts"

_TABLE = "life_cycle"
_DATABASE = "database"
_MADE: Mapping[str, Any] = VIEWS
"""The same, whatever each is made with."""

_WITHOUT_TABLE = {"DatabaseExplorer", "FrameTable", "Unavailable"}
_ROW, _VERSION = 2, "9"

ASKED: Mapping[str, Mapping[str, Any]] = {
    "state": {"changes": {"version": "3", "filter": ""}},
    "go": {"view": "row", "changes": {"row_id": "2"}},
    "show_columns": {"places": [0, 1]},
    "page": {"first": 0, "count": 3},
    "select": {"row": 0, "anchor": 0, "how": "only", "node": None},
    "detail": {"row": 0, "column": 0},
    "sort": {"sorts": [[0, True]]},
    "words": {"first": "1", "last": "3"},
    "details": {"version": _VERSION},
    "show_version": {"version": _VERSION},
    "choose_row": {"row": 0},
    "same_content": {"begin": "1", "end": "2"},
    "narrow": {"change": None, "column": None},
    "key": {"key": []},
    "summary": {"version": None},
    "kind": {"of": "indices"},
    "lives": {"index": "id_idx"},
    "choose": {"index": "id_idx"},
    "picture": {"span": None},
    "look": {"span": None},
    "find": {"text": "2"},
    "step": {"direction": 1, "by": 0},
    "visit": {"address": ""},
    "log": {"filters": {"text": ""}},
    "show_log": {"filters": {"text": "append"}},
    "search": {"text": "v3"},
    "follow": {"on": True},
    "branch": {"branch": None},
    "advice": {"version": _VERSION},
    "version": {"version": _VERSION, "fragment": None, "mode": "row_id"},
    "show": {"view": "disk"},
    "open_table": {"name": _TABLE, "version": _VERSION},
    "cleanup": {"days": 0},
    "columns": {"everything": False},
}
"""What is asked; a question that has no arguments needs no line."""

_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
    "rkJggg=="
)
_WAV = (
    b"RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0"
    b"\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\x04\0\0\0\x80\x80\x80\x80"
)
_SECONDS = 60.0
_WAITED = re.compile(r'(\bwait\\*": ?)\d+')
"""How long a page waits until it looks again, which follows from how long looking took."""
_WRITTEN_AT = 1_767_600_000  # 2026-01-05


@cache
def _tables() -> Path:
    """Return a folder with the stored tables, whose files are as old as those of anybody else."""
    folder = Path(mkdtemp(prefix="tables-"))
    atexit.register(shutil.rmtree, folder)
    shutil.copytree(DATA / "14.0.2", folder, dirs_exist_ok=True)
    for name in (_TABLE, "cleaned"):
        shutil.copytree(folder / f"{name}.lance", folder / _DATABASE / f"{name}.lance")
    for path in folder.rglob("*"):
        os.utime(path, (_WRITTEN_AT, _WRITTEN_AT))
    return folder


def kinds() -> set[str]:
    """Return the names of all messages that are declared."""
    return {
        name
        for module in MODULES
        for name, kind in declared(module).items()
        if isinstance(kind, type)
    }


def questions() -> set[str]:
    """Return the names of the records that answers and news have."""
    asked = {
        f"{name} {method._answers.kind}"
        for name, view in VIEWS.items()
        for method in vars(view).values()
        if hasattr(method, "_answers")
    }
    return asked | {f"news {kind}" for view in VIEWS.values() for kind in view._news}


class Recorder:
    """Asks views, and keeps the first message of each kind."""

    def __init__(self) -> None:
        self.lines = dict[str, str]()
        self.seen = set[str]()

    def text(self) -> str:
        """Return all messages as a module of TypeScript."""
        names = sorted({*kinds(), *[f"{view}Questions" for view in VIEWS], "News", "ViewTraits"})
        used = [
            name
            for name in names
            if re.search(rf"satisfies (?:Partial<)?{name}\b", "".join(self.lines.values()))
        ]
        lines = [f"  {json.dumps(name)}: {line},\n" for name, line in sorted(self.lines.items())]
        head = (
            "// Written by python -m tests.widgets.sent: what Python says, and how it is sent.\n\n"
        )
        imports = f'import type {{ {", ".join(used)} }} from "../src/messages";\n\n'
        told = _WAITED.sub(r"\g<1>4000", "".join(lines)).replace(str(_tables()), "/tables")
        return f"{head}{imports}export const SENT = {{\n{told}}};\n"

    def keep(self, name: str, kind: str, said: Any, parts: Sequence[str | bytes]) -> None:
        """Keep a message: what it says, as its type in the browser, and what is sent."""
        before = len(self.seen)
        self.note(said)
        if name not in self.lines or len(self.seen) > before:
            number = sum([one.partition(" #")[0] == name for one in self.lines])
            name = f"{name} #{number}" if number else name
            sent = [
                one if isinstance(one, str) else base64.b64encode(one).decode() for one in parts
            ]
            says = f"said: {typescript({} if said is None else said)} satisfies {kind}"
            self.lines[name] = f"{{ {says}, sent: {json.dumps(sent)} }}"

    def note(self, said: Any) -> None:
        """Note the kinds of a message and of those within it."""
        if isinstance(said, Message):
            self.seen |= {kind.__name__ for kind in type(said).__mro__}
            said = [getattr(said, field) for field in said.__struct_fields__]
        if isinstance(said, Mapping):
            said = [*said.values()]
        if isinstance(said, list | tuple):
            for one in said:
                self.note(one)

    async def ask_all(
        self,
        make: Callable[[], View],
        questions: Sequence[tuple[str, Mapping[str, Any]]] = (),
        act: Callable[[Any], object] | None = None,
    ) -> None:
        """Ask a view questions as a page does, all that it answers if none is given; let it act."""
        told = list[tuple[str, str, Message | None]]()
        session, parts = Session(make), list[list[str | bytes]]()
        view = session.view
        traits = view.traits_to_share()
        self.note([getattr(view, name) for name in view.traits(sync=True)])
        says = view.send_message
        in_turn = RLock()  # a worker tells news while another thread replies

        def noted(what: What, kind: str, message: Message | None, *of: Any) -> None:
            with in_turn:
                told.append((what, kind, message))
                says(what, kind, message, *of)

        view.send_message = noted  # type: ignore[assignment, method-assign]

        async def get(part: str | bytes) -> None:
            if isinstance(part, str):
                parts.append([])
            parts[-1].append(part)

        page = asyncio.create_task(session.show(get))
        while not parts:
            await asyncio.sleep(0)
        self.keep("traits", "Partial<ViewTraits>", traits, parts[0])
        for seq, (kind, given) in enumerate(questions or _all_questions(view), 1):
            question = {"kind": kind, "seq": seq, "asker": "page", "arguments": given}
            self.note(msgspec.convert(question, Question))
            if known := view._methods.get(kind):
                self.note(msgspec.convert(given, known.arguments, strict=False))
            assert await session.hear(json.dumps(question))
            assert await asyncio.to_thread(view._worker.wait, _SECONDS)
        if act is not None:
            await asyncio.to_thread(act, view)
            assert await asyncio.to_thread(view._worker.wait, _SECONDS)
        async with asyncio.timeout(_SECONDS):
            while len(_whole(parts)) < len(told):
                await asyncio.sleep(0.01)
        page.cancel()
        await asyncio.to_thread(session.close)
        for (what, kind, message), sent in zip(told, _whole(parts), strict=True):
            self._keep_told(view, what, kind, message, sent)

    def _keep_told(
        self, view: View, what: str, kind: str, message: Message | None, sent: Any
    ) -> None:
        """Keep what was told under the view that declares it."""
        page = msgspec.json.decode(sent[0], type=PageMessage)
        self.note(page)
        self.note(msgspec.convert(page.content, ViewMessage))
        match what:
            case "reply":
                base = next(one for one in type(view).__mro__ if _declares(one, kind))
                name = f"{base.__name__} {kind}"
                self.keep(name, f'{base.__name__}Questions["{kind}"][1]', message, sent)
            case "news":
                self.keep(f"news {kind}", f'News["{kind}"]', message, sent)
            case "error" if kind == "nonsense":
                self.keep("error", "Failure", message, sent)
            case "progress" if kind == "search":
                self.keep("progress", "Progress", message, sent)
            case "taken":
                self.keep("taken", "object", message, sent)

    def keep_packed(self, answer: Message) -> None:
        """Keep an answer as a page without Python has it."""
        packed, kind = pack(answer), type(answer).__name__
        self.note(packed)
        self.keep(f"kept {kind}", kind, answer, [json.dumps(to_json(packed))])

    def record_page(self, table: Table) -> None:
        """Keep what a page without Python has."""
        recorder = self

        class Kept(Shelves):
            def put(self, key: str, answer: Message, *others: str) -> bool:
                recorder.keep_packed(answer)
                return super().put(key, answer, *others)

        recording.Shelves = Kept  # type: ignore[attr-defined]
        try:
            found = recording.record(table, 1 << 20)
        finally:
            recording.Shelves = Shelves  # type: ignore[attr-defined]
        assert found is not None
        self.note(found.page)
        self.keep("page", "RecordedPage", found.page, [json.dumps(to_json(found.page))])


def _whole(parts: list[list[str | bytes]]) -> list[list[str | bytes]]:
    """Return the messages of a view that have come whole; without those of parts within it."""
    pages = [(msgspec.json.decode(one[0], type=PageMessage), one) for one in parts]
    return [
        one
        for page, one in pages
        if page.method == "custom" and "part" not in page.content and len(one) > page.num_buffers
    ]


def typescript(value: Any) -> str:
    """Return a message as TypeScript that makes the same; what has its default is left out."""
    match value:
        case None:
            return "null"
        case np.ndarray() if value.dtype == np.uint64:
            return (
                f"new BigUint64Array([{', '.join([f'{one}n' for one in value.ravel().tolist()])}])"
            )
        case np.ndarray():
            numbers = [typescript(one) for one in value.ravel().tolist()]
            return f"new {ARRAYS[value.dtype]}([{', '.join(numbers)}])"
        case Message():
            return _object(_fields(value))
        case Mapping():
            return _object({str(name): one for name, one in value.items()})
        case list() | tuple():
            return f"[{', '.join(map(typescript, value))}]"
        case float() if math.isnan(value):
            return "Number.NaN"
        case bytes():
            return json.dumps(base64.b64encode(value).decode())
        case _:
            return json.dumps(value)


def _fields(message: Message) -> dict[str, Any]:
    made = message.__struct_config__
    fields: dict[str, Any] = {f"{made.tag_field}": made.tag} if made.tag is not None else {}
    for field in msgspec.structs.fields(message):
        value = getattr(message, field.name)
        if value is msgspec.UNSET or (made.omit_defaults and _is_default(value, field)):
            continue
        fields[field.name] = value
    return fields


def _is_default(value: Any, field: msgspec.structs.FieldInfo) -> bool:
    if field.default_factory is not msgspec.NODEFAULT:
        return not value
    return (
        not isinstance(value, np.ndarray)
        and field.default is not msgspec.NODEFAULT
        and value == field.default
    )


def _object(fields: Mapping[str, Any]) -> str:
    made = [f"{json.dumps(name)}: {typescript(one)}" for name, one in fields.items()]
    return f"{{ {', '.join(made)} }}"


def _all_questions(view: View) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for kind, known in reversed([*view._methods.items()]):  # its own first: they show rows
        names = known.arguments.__struct_fields__
        yield kind, {name: value for name, value in ASKED.get(kind, {}).items() if name in names}


def _declares(view: type, kind: str) -> bool:
    made = [getattr(method, "_answers", None) for method in vars(view).values()]
    return any(one is not None and one.kind == kind for one in made)


def _view(name: str, table: str = _TABLE, **chosen: Any) -> Callable[[], View]:
    """Return what makes a view of a stored table."""
    state = ExplorerState(**chosen)
    return lambda: _MADE[name](open_table(_tables() / f"{table}.lance"), state=state)


def _database() -> View:
    """Return the explorer of two stored tables."""
    made: View = _MADE["DatabaseExplorer"](open_database(_tables() / _DATABASE))
    return made


def _sides(recorder: Recorder) -> Iterator[Any]:
    """Yield the asking of what life cycles do not have, or what views tell unasked."""
    ask = recorder.ask_all
    cells = pl.DataFrame(
        {
            "image": [_PNG],
            "sound": [_WAV],
            "line": pl.Series([[0.0, 1.0] * 8], dtype=pl.Array(pl.Float32, 16)),
        }
    )
    yield ask(partial(_MADE["FrameTable"], cells))
    yield ask(_view("Explorer"), [("nonsense", {}), ("search", {"text": "who deleted id = 1"})])
    yield ask(_view("Explorer", "cleaned"), [("search", {"text": "who deleted id = 2"})])
    yield ask(_view("Explorer"), [("search", {"text": "show refs"})])
    yield ask(_view("Explorer", "rewritten_indices"), [("search", {"text": "what should be done"})])
    yield ask(_database)
    yield ask(_database, [("search", {"text": "2100-01-01"}), ("search", {"text": "id = 1"})])
    failed = StorageError("the table is gone")
    unavailable = partial(_MADE["Unavailable"], failed, lambda: None, state=ExplorerState())
    yield ask(unavailable, 2 * [("make", {})])
    yield ask(_view("LineageGraph", row_id=_ROW), act=lambda view: setattr(view, "between", (1, 3)))
    yield ask(_view("LineageGraph", fragment_id=0), [("picture", {"span": None})])
    branch = _tables() / "branches.lance"
    yield ask(lambda: _MADE["LineageGraph"](open_table(branch, branch="dev")), [("open", {})])
    yield ask(_view("Indices"), act=lambda view: setattr(view, "index", "id_idx"))
    yield ask(_view("Log"), act=lambda view: view.show_only(text="append"))
    yield ask(_view("Log"), act=lambda view: view.take_new_versions())
    yield ask(_view("Log", "cleaned"), [("log", {"filters": {}})])
    yield ask(_view("Log"), [("log", {"filters": {"since": "nonsense"}})])
    yield ask(_view("Indices", "deferred_remap"), [("version", {"version": "12"})])
    yield ask(
        _view("TimeTravel", "schema_changes"),
        [("details", {"version": str(one)}) for one in range(2, 15)],
    )
    yield ask(_view("TimeTravel", "cleaned"), [("history", {})])
    yield ask(
        _view("SegmentEncodings", "stable_row_ids"),
        [("version", {"version": "24", "fragment": None, "mode": "row_id"})],
    )
    yield ask(_view("Overview", "v1_names"), [("advice", {})])


def record() -> Recorder:
    """Return one message of each kind."""
    recorder = Recorder()
    for name, view in VIEWS.items():
        if view._module and name not in _WITHOUT_TABLE:
            asyncio.run(recorder.ask_all(_view(name, row_id=_ROW)))
    for asking in _sides(recorder):
        asyncio.run(asking)
    recorder.record_page(open_table(_tables() / f"{_TABLE}.lance"))
    recorder.keep_packed(NotAnswered(Failure("StorageError", "the table is gone")))
    finding = Finding("not_opened", "pylance cannot open version 3", versions=(3, 3))
    found = Answer("It is so.", findings=(finding,))
    recorder.keep_packed(answer_view(found, SearchAnswer, can_go_on=False))
    return recorder


if __name__ == "__main__":
    WRITTEN.write_text(record().text(), encoding="utf-8")
