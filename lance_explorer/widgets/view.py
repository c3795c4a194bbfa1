"""The base of all widgets: a view in the browser, and the methods that answer its questions.

A new view is a class and a plain ES module beside it::

    class Totals(View):                                   # lance_explorer/widgets/totals.py
        _module = "totals"

        def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
            super().__init__(state=state)
            self._table = table

        @answers("total", in_background=True)
        def _total(self, request: Request) -> dict[str, Any]:
            request.progress("counting rows")
            return {"rows": str(self._table.at(self.state.version).num_rows)}

    export function render({ model, el }: View) {         // frontend/src/totals.ts
      const link = connect(model, el);
      const text = node("output");
      link.root.append(text);
      const show = async () => {
        text.textContent = (await link.ask<{ rows: string }>("total")).rows;
      };
      link.onState(show);                                 // now, and whenever the state changes
      return link.close;
    }

``make frontend`` bundles the modules into the one script of all widgets, and the ``.css`` files
that they import into its style; both are committed, in ``static``. What a method raises is shown in
the view. Numbers that may pass 2^53 go as decimal strings, and text from files only ever becomes
text. A method that works in the background calls ``request.check()`` now and then, which ends it
when a newer question of its kind has come; so a slow answer never holds up the view.

A table of rows comes with :class:`~lance_explorer.widgets.rows_view.RowsView` and, in the browser,
``rowTable(link)`` of ``rows.ts``.

A view may be one of several of which one is in sight, as in the explorer. One that is out of sight
does nothing: in the browser ``link.onState`` tells it of changes when it is seen again, and in
Python a view that works when the state changes hears of it by ``self.on_state(listener, *names)``,
which waits until :attr:`View.is_shown`. Where another view tells more,
``link.open("row", {row_id})`` in the browser, or ``self.open_view("row", row_id=7)`` here, asks for
that view and changes the state, as one step; ``link.canOpen("row")`` tells whether there is such a
view, and ``link.leadTo("row", "Its values")`` makes a button, or null: a view that stands alone can
open none. A view has ``frame()``, the data that it shows, and ``code()``, the lines of Python
that give this frame, where ``table`` is the table and ``pl`` is Polars.
"""

import inspect
import re
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any, ClassVar, TypeVar

import anywidget
import polars as pl
import traitlets

from lance_explorer.errors import LanceExplorerError, StorageError
from lance_explorer.history.progress import telling
from lance_explorer.panics import is_panic
from lance_explorer.values.child import time_limit
from lance_explorer.widgets.parts import PartLine, line_of_part
from lance_explorer.widgets.state import ExplorerState, change, read_choices, state_of, to_browser
from lance_explorer.widgets.worker import Cancelled, Job, Worker

__all__ = ["FAILURES", "IN_STATIC_PICTURE", "Reply", "Request", "View", "answers", "failure_of"]

FAILURES = (Exception, pl.exceptions.PanicException)
"""What may fail in a view: anything, and all of it is shown there."""

IN_STATIC_PICTURE = 200
"""How many versions the picture has where no kernel runs; all of them may take long to read."""

_STATIC = files("lance_explorer.widgets") / "static"

_Method = TypeVar("_Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer that carries bytes, which go to the browser as they are."""

    content: Mapping[str, Any]
    buffers: tuple[bytes, ...] = ()


class Request:
    """A question of the browser: its kind, and its arguments by name."""

    def __init__(self, view: "View", message: Mapping[str, Any], job: Job | None = None) -> None:
        self._view = view
        self._message = message
        self._job = job

    @property
    def kind(self) -> str:
        """What is asked."""
        return str(self._message["kind"])

    def __getitem__(self, name: str) -> Any:
        return self._message[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return an argument that may be missing."""
        return self._message.get(name, default)

    def check(self) -> None:
        """End the work here if a newer question has taken the place of this one."""
        if self._job:
            self._job.check()

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Show how far the work is: in words, and as a part of 1 where that is known."""
        self.check()
        self.answer("progress", {"text": text, "fraction": fraction})

    def answer(
        self, what: str, content: Mapping[str, Any], buffers: tuple[bytes, ...] = ()
    ) -> None:
        """Send a message about this question."""
        if self._job and self._job.is_cancelled:
            return
        about = {key: self._message.get(key) for key in ("kind", "seq", "asker")}
        if "part" in self._message:
            about["part"] = self._message["part"]
        self._view.send({"what": what, **about, "content": dict(content)}, list(buffers))


def answers(kind: str, *, in_background: bool = False) -> Callable[[_Method], _Method]:
    """Mark the method that answers questions of a kind.

    The method takes a :class:`Request` and returns a dict, or a :class:`Reply`. In the background,
    the newest question of a kind cancels older ones.
    """

    def mark(method: _Method) -> _Method:
        method.__dict__["_answers"] = kind, in_background
        return method

    return mark


class View(anywidget.AnyWidget):
    """A widget that shows one thing about a table.

    Parameters
    ----------
    state : ExplorerState, optional
        The choices it shares with other views; its own by default.

    Raises
    ------
    TypeError
        If there is an option that the view does not have.
    """

    _esm = (_STATIC / "explorer.js").read_text(encoding="utf-8")
    _css = (_STATIC / "explorer.css").read_text(encoding="utf-8")

    _module: ClassVar[str] = ""
    """The module of ``frontend/src`` that draws it."""

    takes_new_versions: ClassVar[bool] = False
    """Whether it can take in new versions while somebody looks at it, and nothing moves."""

    _methods: ClassVar[Mapping[str, tuple[str, bool]]] = {
        "state": ("_change_state", False),
        "go": ("_go", False),
    }
    __signature__: ClassVar[inspect.Signature]

    comm: Any
    """The line to the browser."""

    shows = traitlets.Unicode("").tag(sync=True)
    """The module that draws it."""

    shared = traitlets.Dict().tag(sync=True)
    """The state as the browser gets it, and how often it has changed."""

    label = traitlets.Unicode("").tag(sync=True)
    """What it is called among other views."""

    opens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    """The names of the views that can be opened from this one."""

    def __new__(cls, *arguments: Any, **options: Any) -> "View":
        """Refuse options that the view does not have: traitlets would swallow them."""
        known = list(cls.__signature__.parameters)
        if unknown := sorted(options.keys() - set(known)):
            raise TypeError(
                f"{cls.__name__} has no option {', '.join(unknown)}; it has {', '.join(known)}"
            )
        made: View = super().__new__(cls, *arguments, **options)
        return made

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "_module" not in vars(cls):
            return  # anywidget derives a class for each widget
        options_of = list(inspect.signature(cls.__init__).parameters.values())[1:]
        cls.__signature__ = inspect.Signature(options_of)
        own = {
            method._answers[0]: (name, method._answers[1])
            for name, method in vars(cls).items()
            if hasattr(method, "_answers")
        }
        inherited = {
            kind: method
            for base in reversed(cls.__mro__[1:])
            for kind, method in vars(base).get("_methods", {}).items()
        }
        cls._methods = {**inherited, **own}

    def __init__(self, *, state: ExplorerState | None = None) -> None:
        self.state = state_of(state)
        self._worker = Worker()
        self._sending = threading.Lock()
        self._sharing = threading.RLock()
        self._gate = threading.Lock()
        self._is_shown = True
        self._missed: dict[Callable[[], None], None] = {}
        self._hearing: list[tuple[Callable[[object], None], Any]] = []
        self._opener: Callable[[str, Mapping[str, Any]], None] | None = None
        super().__init__(shows=self._module, shared=_shared(self.state))
        self.on_state(self._share)
        self.on_msg(self._receive)

    def open(self) -> None:
        """Open the line to the browser: its own, or that of the widget that it is a part of."""
        line: Any = line_of_part()
        if line is not None:
            self.comm = line
        super().open()

    @property
    def is_shown(self) -> bool:
        """Whether the view is in sight; while it is not, it does nothing when the state changes."""
        return self._is_shown

    @is_shown.setter
    def is_shown(self, is_shown: bool) -> None:
        with self._gate:
            self._is_shown = is_shown
            missed = [*self._missed] if is_shown else []
            if is_shown:
                self._missed.clear()
        for listener in missed:
            listener()

    def on_state(self, listener: Callable[[], None], *names: str) -> None:
        """Call a listener when one of these choices has changed, or any; but once it is shown.

        Changes that come while the view is not shown become one call when it is shown again.
        """

        def hear(_: object) -> None:
            with self._gate:
                is_shown = self._is_shown
                if not is_shown:
                    self._missed[listener] = None
            if is_shown:
                listener()

        self.state.observe(hear, names or traitlets.All)
        self._hearing.append((hear, names or traitlets.All))

    def close(self) -> None:
        """Take the view away: it hears of no change any more, and what it works at ends."""
        if self.comm is None:  # closed before, or never whole
            return
        for hear, names in self._hearing:
            self.state.unobserve(hear, names)
        self._worker.cancel()
        is_part = isinstance(self.comm, PartLine)  # then it has no layout
        layout = None if is_part else self.layout
        super().close()
        if layout is not None:
            layout.close()

    def traits_to_share(self) -> dict[str, Any]:
        """Return what the browser knows of the view beside its state, by name."""
        names = [name for name in self.keys if name not in anywidget.AnyWidget.class_traits()]
        state: dict[str, Any] = self.get_state([name for name in names if name[0] != "_"])
        return state

    def on_open(
        self, names: Sequence[str], opener: Callable[[str, Mapping[str, Any]], None]
    ) -> None:
        """Say which views can be opened from this one, and what opens one: name, and changes."""
        self._opener = opener
        self.opens = [*names]

    def open_view(self, name: str, **changes: int | str | None) -> None:
        """Open another view, and change the state; only the state if there is no such view."""
        if self._opener and name in self.opens:
            self._opener(name, changes)
        else:
            change(self.state, changes)

    def begin(self) -> None:
        """Begin with what the browser is going to ask for: the view is put on a page just now."""

    def static_html(self) -> str:
        """Return what a page without a kernel shows, as HTML; subclasses escape what they add."""
        return (
            f"<p><em>{escape(type(self).__name__)}: run this notebook to see the widget.</em></p>"
        )

    def send(self, content: Any, buffers: list[bytes] | None = None) -> None:
        """Send a message to the browser; any thread may."""
        with self._sending:
            super().send(content, buffers)

    def tell(self, kind: str, content: Mapping[str, Any]) -> None:
        """Tell all that show this view what has happened, unasked."""
        self.send({"what": "news", "kind": kind, "content": dict(content)})

    def ask(self, kind: str, **arguments: Any) -> Reply:
        """Return the answer to a question of the browser, asked from Python and answered now."""
        method = getattr(self, self._methods[kind][0])
        reply = method(Request(self, {"kind": kind, **arguments}))
        return reply if isinstance(reply, Reply) else Reply(reply)

    def rest(self) -> None:
        """Wait until nothing is done in the background."""
        self._worker.wait()

    def take_new_versions(self) -> None:
        """Take in that the table was refreshed; the browser asks for what it shows of it."""
        self.tell("versions", {})

    def _change_state(self, request: Request) -> dict[str, Any]:
        change(self.state, read_choices(request["changes"]))
        return {"revision": self.state.revision}

    def _go(self, request: Request) -> dict[str, Any]:
        self.open_view(request["view"], **read_choices(request["changes"]))
        return {}

    def _share(self) -> None:
        with self._sharing:  # the state may change in several threads; what comes last is newest
            self.shared = _shared(self.state)

    def _receive(self, _: object, message: Mapping[str, Any], buffers: object) -> None:
        """Answer a message of the browser, now or in the background."""
        kind = str(message.get("kind"))
        if kind not in self._methods:
            unknown = LookupError(f"{type(self).__name__} does not answer {kind!r}")
            Request(self, message).answer("error", failure_of(unknown))
            return
        name, in_background = self._methods[kind]
        if in_background:
            Request(self, message).answer("taken", {})
            self._worker.submit(
                (kind, message.get("asker")),
                lambda job: self._answer(name, Request(self, message, job)),
                self.state.time_limit,
                lambda: self.answer_late(message),
            )
        else:
            self._answer(name, Request(self, message))

    def answer_late(self, message: Mapping[str, Any]) -> None:
        """Answer a question that takes longer than the time limit of the state."""
        Request(self, message).answer("error", failure_of(self.took_too_long()))

    def took_too_long(self) -> StorageError:
        """Return what is said of work that takes longer than the time limit of the state."""
        return StorageError(
            f"this took longer than {self.state.time_limit or 0:,.0f} seconds and was given up: "
            "ask for fewer rows, versions or columns, or ask in Python, where there is no limit"
        )

    def _answer(self, name: str, request: Request) -> None:
        try:
            request.check()
            with (
                telling(request.progress),
                time_limit(self.state.time_limit),
            ):
                reply = getattr(self, name)(request)
        except Cancelled:
            return
        except BaseException as error:
            if not isinstance(error, FAILURES) and not is_panic(error):
                raise
            request.answer("error", failure_of(error))
            return
        if not isinstance(reply, Reply):
            reply = Reply(reply)
        request.answer("reply", reply.content, reply.buffers)

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Add a static picture for where no kernel runs, such as nbconvert and GitHub."""
        bundle: tuple[dict[str, Any], dict[str, Any]] | None = super()._repr_mimebundle_(**options)
        if bundle:
            bundle[0]["text/html"] = self.static_html()
            self.begin()
        return bundle


def failure_of(error: BaseException) -> dict[str, str]:
    """Return what the browser shows of an error; details only where it is none of ours."""
    if isinstance(error, LanceExplorerError):
        return {"title": _in_words(type(error).__name__), "message": str(error), "details": ""}
    details = "".join(traceback.format_exception(error))
    return {"title": type(error).__name__, "message": str(error), "details": details}


def _shared(state: ExplorerState) -> dict[str, Any]:
    """Return what is chosen, and of which revision it is at least."""
    return {"revision": state.revision, **to_browser(state)}


def _in_words(class_name: str) -> str:
    """Return the name of an error class as words: ``VersionNotFoundError``, "Version not found"."""
    words = re.findall(r"[A-Z][a-z]*", class_name.removesuffix("Error"))
    return " ".join(words if len(words) > 1 else [*words, "error"]).capitalize()
