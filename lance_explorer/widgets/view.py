"""The base of all widgets: a view in the browser, and the methods that answer its questions.

A new view is a class and a plain ES module beside it::

    class Totals(View):                                   # lance_explorer/widgets/totals.py
        _module = "totals"

        def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
            super().__init__(state=state)
            self._table = table

        @answers("total", in_background=True)
        def _total(self, request: Request) -> Total:          # declared in widgets/messages
            request.progress("counting rows")
            return Total(str(self._table.at(self.state.version).num_rows))

    export function render({ model, el }: View) {         // frontend/src/totals.ts
      const link = connect<TotalsQuestions>(model, el);  // written from that method
      const text = node("output");
      link.root.append(text);
      const show = async () => {
        text.textContent = (await link.ask("total")).rows;
      };
      link.onState(show);                                 // now, and whenever the state changes
      return link.close;
    }

``make frontend`` writes ``messages.ts`` from the methods and what they return, bundles the modules
into the one script of all widgets, and the ``.css`` files that they import into its style; all are
committed. The arguments of a question are the keyword arguments of its method; what does not fit
them is refused. What a method raises is shown in the view. Numbers that may pass 2^53 go as decimal
strings, and text from files only ever becomes text. A method that works in the background calls
``request.check()`` now and then, which ends it when a newer question of its kind has come; so a
slow answer never delays the view.

A table of rows comes with :class:`~lance_explorer.widgets.rows_view.RowsView` and, in the browser,
``rowTable(link)`` of ``rows.ts``.

A view may be one of several, only one of which is visible, as in the explorer. One that is out of
sight does nothing: in the browser ``link.onState`` tells it of changes when it is seen again, and
in Python a view that works when the state changes hears of it by ``self.on_state(listener,
*names)``, which waits until :attr:`View.is_shown`. Where another view tells more,
``link.open("row", {row_id})`` in the browser, or ``self.open_view("row", row_id=7)`` here, asks for
that view and changes the state, as one step; ``link.canOpen("row")`` tells whether there is such a
view, and ``link.leadTo("row", "Its values")`` makes a button, or null: a view that stands alone can
open none. A view has ``frame()``, the data that it shows, and ``code()``, the lines of Python that
give this frame, where ``table`` is the table and ``pl`` is Polars.
"""

import inspect
import re
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from types import NoneType
from typing import Any, ClassVar, TypeVar, get_type_hints

import anywidget
import msgspec
import polars as pl
import traitlets

from lance_explorer.errors import InvalidArgumentError, LanceExplorerError, StorageError
from lance_explorer.history.progress import showing_progress
from lance_explorer.panics import is_panic
from lance_explorer.values.child import time_limit
from lance_explorer.widgets.messages.base import (
    Json,
    Message,
    Question,
    ViewMessage,
    What,
    pack,
    to_json,
)
from lance_explorer.widgets.messages.shared import (
    Changes,
    Failure,
    Progress,
    Revision,
    SharedState,
)
from lance_explorer.widgets.parts import PartLine, line_of_part
from lance_explorer.widgets.state import ExplorerState, change, read_choices, state_of, to_browser
from lance_explorer.widgets.worker import Cancelled, Job, Worker

__all__ = [
    "FAILURES",
    "IN_STATIC_PICTURE",
    "Answering",
    "Request",
    "View",
    "answers",
    "failure_of",
    "sent",
]

FAILURES = (Exception, pl.exceptions.PanicException)
"""The errors that may occur in a view: all of them are shown there."""

IN_STATIC_PICTURE = 200
"""The number of versions in the picture for a page without a kernel; reading all may take long."""

_STATIC = files("lance_explorer.widgets") / "static"

_Method = TypeVar("_Method", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Answering:
    """How questions of a kind are answered.

    Attributes
    ----------
    kind : str
        What is asked.
    method : str
        The name of the method.
    in_background : bool
        Whether it works beside other questions.
    arguments : type
        What is asked, as a message.
    answer : object
        What it returns.
    """

    kind: str
    method: str
    in_background: bool
    arguments: type[msgspec.Struct]
    answer: Any


class Request:
    """A question that is being answered."""

    def __init__(self, view: "View", question: Question, job: Job | None = None) -> None:
        self._view = view
        self._question = question
        self._job = job

    def check(self) -> None:
        """Stop here if a newer question has replaced this one."""
        if self._job:
            self._job.check()

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Show progress: in words, and as a fraction if it is known."""
        self.check()
        self.answer("progress", Progress(text, fraction))

    def answer(self, what: What, content: Message | None) -> None:
        """Send a message about this question."""
        if not (self._job and self._job.is_cancelled):
            asked = self._question
            self._view.send_message(what, asked.kind, content, asked.seq, asked.asker)


def answers(kind: str, *, in_background: bool = False) -> Callable[[_Method], _Method]:
    """Mark the method that answers questions of a kind.

    The method takes a :class:`Request`, and by keyword what is asked; it returns a message or
    nothing. In the background, the newest question of a kind cancels older ones.
    """

    def mark(method: _Method) -> _Method:
        hints = get_type_hints(method, include_extras=True)
        asked = [*inspect.signature(method).parameters.values()][2:]
        arguments = msgspec.defstruct(
            kind,
            [
                (one.name, hints[one.name])
                if one.default is one.empty
                else (one.name, hints[one.name], one.default)
                for one in asked
            ],
            bases=(Message,),
            frozen=True,
            kw_only=True,
            forbid_unknown_fields=True,
        )
        made = Answering(kind, method.__name__, in_background, arguments, hints["return"])
        method.__dict__["_answers"] = made
        return method

    return mark


def sent(kind: Any, default: Any = None) -> Any:
    """Return a trait that is sent as a message, or as a dict of messages."""
    return traitlets.Any(default).tag(
        sync=True, message=kind, to_json=lambda value, _: to_json(value)
    )


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
    """Whether it can take in new versions while somebody looks at it, without moving anything."""

    _news: ClassVar[Mapping[str, Any]] = {"versions": None}
    """The messages that it sends unasked, by kind."""

    _methods: ClassVar[Mapping[str, Answering]] = {}
    __signature__: ClassVar[inspect.Signature]

    comm: Any
    """The connection to the browser."""

    shows = traitlets.Unicode("").tag(sync=True)
    """The module that draws it."""

    shared = sent(SharedState)
    """The state for the browser, and how often it has changed."""

    label = traitlets.Unicode("").tag(sync=True)
    """Its name among other views."""

    opens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    """The names of the views that can be opened from this one."""

    def __new__(cls, *arguments: Any, **options: Any) -> "View":
        """Refuse options that the view does not have: traitlets would ignore them."""
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
        cls._methods = {
            method._answers.kind: method._answers
            for base in reversed(cls.__mro__)
            for method in vars(base).values()
            if hasattr(method, "_answers")
        }
        cls._news = {
            k: v for base in reversed(cls.__mro__) for k, v in vars(base).get("_news", {}).items()
        }

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
        super().__init__(shows=self._module, shared=to_browser(self.state))
        self.on_state(self._share)
        self.on_msg(lambda _, said, __: self.receive(said))

    def open(self) -> None:
        """Open the connection to the browser: its own, or that of the widget that contains it."""
        line: Any = line_of_part()
        if line is not None:
            self.comm = line
        super().open()

    @property
    def is_shown(self) -> bool:
        """Whether the view is visible; while it is not, it does nothing when the state changes."""
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
        """Call a listener when one of these choices, or any, changes while it is shown.

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
        """Close the view: it receives no more changes, and its work ends."""
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

    def traits_to_share(self) -> dict[str, Json]:
        """Return the traits of the view for the browser, by name."""
        names = [name for name in self.keys if name not in anywidget.AnyWidget.class_traits()]
        state: dict[str, Json] = self.get_state([name for name in names if name[0] != "_"])
        return state

    def on_open(
        self, names: Sequence[str], opener: Callable[[str, Mapping[str, Any]], None]
    ) -> None:
        """Set the views that can be opened from this one, and what opens one."""
        self._opener = opener
        self.opens = [*names]

    def open_view(self, name: str, **changes: int | str | None) -> None:
        """Open another view, and change the state; only the state if there is no such view."""
        if self._opener and name in self.opens:
            self._opener(name, changes)
        else:
            change(self.state, changes)

    def begin(self) -> None:
        """Prepare what the browser is going to ask for: the view was just displayed."""

    def static_html(self) -> str:
        """Return what a page without a kernel shows, as HTML; subclasses escape what they add."""
        return (
            f"<p><em>{escape(type(self).__name__)}: run this notebook to see the widget.</em></p>"
        )

    def send(self, content: Any, buffers: list[bytes] | None = None) -> None:
        """Send a message to the browser; any thread may call this."""
        with self._sending:
            super().send(content, buffers)

    def send_message(
        self,
        what: What,
        kind: str,
        message: Message | None,
        seq: int | None = None,
        asker: str | None = None,
    ) -> None:
        """Send a packed message; any thread may call this."""
        packed = pack(message)
        sent = ViewMessage(what, kind, packed.content, seq, asker, arrays=packed.arrays)
        self.send(to_json(sent), [*packed.buffers])

    def tell(self, kind: str, news: Message | None = None) -> None:
        """Send all pages that show this view a message, unasked."""
        assert isinstance(news, self._news[kind] or NoneType), kind
        self.send_message("news", kind, news)

    def ask(self, kind: str, **arguments: Any) -> Any:
        """Return the answer to a question of the browser, asked from Python."""
        return self._reply(Request(self, Question(kind)), arguments)

    def _reply(self, request: Request, arguments: Mapping[str, Any]) -> Any:
        """Return the answer of a method, which gets only the arguments that it declares."""
        kind = request._question.kind
        if (known := self._methods.get(kind)) is None:
            raise InvalidArgumentError(f"{type(self).__name__} does not answer {kind!r}")
        try:
            asked = msgspec.convert(arguments, known.arguments, strict=False)
        except msgspec.ValidationError as error:
            raise InvalidArgumentError(
                f"the question {kind!r} is not understood: {error}"
            ) from None
        return getattr(self, known.method)(request, **msgspec.structs.asdict(asked))

    def rest(self) -> None:
        """Wait until nothing is done in the background."""
        self._worker.wait()

    def take_new_versions(self) -> None:
        """Take in a refresh of the table; the browser then requests what it shows."""
        self.tell("versions")

    @answers("state")
    def _change_state(self, _: Request, *, changes: Changes) -> Revision:
        change(self.state, read_choices(changes))
        return Revision(self.state.revision)

    @answers("go")
    def _go(self, _: Request, *, view: str, changes: Changes) -> None:
        self.open_view(view, **read_choices(changes))

    def _share(self) -> None:
        with self._sharing:  # the state may change in several threads; what comes last is newest
            self.shared = to_browser(self.state)

    def receive(self, said: object) -> None:
        """Answer a message of the browser; no message ends a view."""
        question = self.understood(said)
        if question is not None:
            self.answer_question(question)

    def understood(self, said: object) -> Question | None:
        """Return the question of the browser; an error if it is not one."""
        try:
            return msgspec.convert(said, Question)
        except msgspec.ValidationError as error:
            words = f"a message is not understood: {error}"
            self.send_message("error", "", failure_of(InvalidArgumentError(words)))
            return None

    def answer_question(self, question: Question) -> None:
        """Answer a question of the browser, now or in the background."""
        known = self._methods.get(question.kind)
        if known is not None and known.in_background:
            Request(self, question).answer("taken", None)
            self._worker.submit(
                (question.kind, question.asker),
                lambda job: self._answer(Request(self, question, job)),
                self.state.time_limit,
                lambda: self.answer_late(question),
            )
        else:
            self._answer(Request(self, question))

    def answer_late(self, question: Question) -> None:
        """Answer a question that takes longer than the time limit of the state."""
        Request(self, question).answer("error", failure_of(self.took_too_long()))

    def took_too_long(self) -> StorageError:
        """Return the message for work that takes longer than the time limit of the state."""
        return StorageError(
            f"this took longer than {self.state.time_limit or 0:,.0f} seconds and was given up: "
            "ask for fewer rows, versions or columns, or ask in Python, where there is no limit"
        )

    def _answer(self, request: Request) -> None:
        try:
            request.check()
            with (
                showing_progress(request.progress),
                time_limit(self.state.time_limit),
            ):
                request.answer("reply", self._reply(request, request._question.arguments))
        except Cancelled:
            return
        except BaseException as error:
            if not isinstance(error, FAILURES) and not is_panic(error):
                raise
            request.answer("error", failure_of(error))

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Add a static picture for where no kernel runs, such as nbconvert and GitHub."""
        bundle: tuple[dict[str, Any], dict[str, Any]] | None = super()._repr_mimebundle_(**options)
        if bundle:
            bundle[0]["text/html"] = self.static_html()
            self.begin()
        return bundle


def failure_of(error: BaseException) -> Failure:
    """Return what the browser shows of an error; details only if it is not one of ours."""
    if isinstance(error, LanceExplorerError):
        return Failure(_in_words(type(error).__name__), str(error))
    details = "".join(traceback.format_exception(error))
    return Failure(type(error).__name__, str(error), details)


def _in_words(class_name: str) -> str:
    """Return the name of an error class as words: ``VersionNotFoundError``, "Version not found"."""
    words = re.findall(r"[A-Z][a-z]*", class_name.removesuffix("Error"))
    return " ".join(words if len(words) > 1 else [*words, "error"]).capitalize()
