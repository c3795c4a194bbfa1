"""Another process that reads values: a crash of pylance there does not end this one.

pylance may end its process on a damaged data file. So values of untrusted tables are read in a
child process, which is started at the first question, answers one question at a time, and is kept
for the next. A child that died, or took too long, is replaced by a new one. It ends with its
parent.
"""

import atexit
import inspect
import io
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import IO, Any

import pyarrow as pa

from lance_explorer.errors import LanceExplorerError, StorageError
from lance_explorer.panics import panics_as_errors
from lance_explorer.storage.secrets import Options

__all__ = [
    "Child",
    "called_apart",
    "is_child",
    "serve",
    "streamed_apart",
    "time_left",
    "time_limit",
]

_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from lance_explorer.values.child import serve; serve()"
)
"""What a child runs: neither the parent's ``__main__`` nor its arguments."""

_SIZE = struct.Struct("<Q")

_MOST_IDLE = 2
"""Children that are kept for the next question."""

_LAST = ("value", "error", "end")
"""What a child sends when a question is answered."""

_DEADLINE: ContextVar[float | None] = ContextVar("_DEADLINE", default=None)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Return a context manager that limits the time for values read in children, in this thread.

    An outer limit stays in force if it ends earlier. None is no limit.
    """
    outer, mine = _DEADLINE.get(), None if seconds is None else time.monotonic() + seconds
    ends = [end for end in (outer, mine) if end is not None]
    token = _DEADLINE.set(min(ends, default=None))
    try:
        yield
    finally:
        _DEADLINE.reset(token)


def time_left() -> float | None:
    """Return the seconds that are left of the time limit; None if there is none."""
    end = _DEADLINE.get()
    return None if end is None else max(end - time.monotonic(), 0.0)


class Child:
    """A process that runs functions of this package."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._back = self._process.stdin, self._process.stdout
        self._is_late = False
        self.is_busy = False
        with suppress(OSError):  # then it died, which the first question notices
            pickle.dump(sys.path, self._to)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def send(self, what: Any) -> None:
        """Send an object; a dead child is noticed when it does not answer."""
        with suppress(OSError):
            _write(self._to, what)

    def receive(self) -> Any:
        """Return what the child sends next.

        Raises
        ------
        StorageError
            If it died, or the time limit is over.
        """
        left = time_left()
        timer = None if left is None else threading.Timer(left, self._end_late)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            answer = _read(self._back)
        except (EOFError, OSError, pickle.UnpicklingError):
            answer = None
        finally:
            if timer is not None:
                timer.cancel()
        if answer is None:
            raise self._death()
        self.is_busy = answer[0] not in _LAST or self._is_late  # then it is being ended
        return answer

    def run(
        self, function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
    ) -> "_Running":
        """Start a function of this package in the child; it may call callbacks in its arguments."""
        callbacks = list[Callable[..., Any]]()

        def sendable(value: Any) -> Any:
            if isinstance(value, Options):  # which are not pickled for any other reader
                return _SentOptions({name: f"{text}" for name, text in value.items()})
            if callable(value):
                callbacks.append(value)
                return _Callback(len(callbacks) - 1)
            return value

        given = [sendable(value) for value in arguments]
        options = {name: sendable(value) for name, value in named.items()}
        self.is_busy = True
        self.send(((function.__module__, function.__qualname__), given, options))
        return _Running(self, callbacks)

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        for pipe in (self._to, self._back):
            with suppress(OSError):
                pipe.close()
        self._process.wait()

    def _end_late(self) -> None:
        self._is_late = True
        self._process.kill()

    def _death(self) -> StorageError:
        self._process.kill()
        code = self._process.wait()
        if self._is_late:
            return StorageError(
                "this took longer than the time limit and was ended: ask for fewer rows, versions "
                "or columns"
            )
        try:
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        except ValueError:
            how = f"signal {-code}"
        return StorageError(
            f"the process that reads values died ({how}): a damaged data file can make pylance do "
            'that, a long filter, or too little memory. table.check(depth="values") looks for the '
            "damage; metadata, other columns and other versions can still be read"
        )


@dataclass(frozen=True, slots=True)
class _Running:
    """A function that a child runs, and callbacks that it may call here."""

    child: Child
    callbacks: Sequence[Callable[..., Any]]

    def next(self) -> tuple[str, Any]:
        """Return the child's next answer, after answering its own calls."""
        while True:
            kind, content = self.child.receive()
            if kind == "error":
                raise content
            if kind != "ask":
                return kind, content
            number, given = content
            try:
                self.child.send(("answered", self.callbacks[number](*given)))
            except LanceExplorerError as error:
                self.child.send(("refused", error))


class _Idle:
    """Idle children; after a fork, those of the parent are not used."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._children: list[Child] = []
        self._pid = os.getpid()

    @contextmanager
    def child(self) -> Iterator[Child]:
        """Return a context manager with a child, which is kept afterwards if it is idle."""
        with self._lock:
            if self._pid != os.getpid():
                self._children, self._pid = [], os.getpid()
            while self._children and not self._children[-1].is_alive:
                self._children.pop().end()
            child = self._children.pop() if self._children else None
        child = child or Child()
        try:
            yield child
        finally:
            with self._lock:
                is_kept = not child.is_busy and len(self._children) < _MOST_IDLE
                if is_kept:
                    self._children.append(child)
            if not is_kept:  # it works on an abandoned question, or is dead
                child.end()

    def end(self) -> None:
        """End all of them."""
        while self._children:
            self._children.pop().end()


_IDLE = _Idle()
atexit.register(_IDLE.end)


def called_apart(
    function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
) -> Any:
    """Return what a function of this package returns when it runs in a child."""
    with _IDLE.child() as child:
        return child.run(function, arguments, named).next()[1]


def streamed_apart(
    function: Callable[..., Any], arguments: Sequence[Any], named: Mapping[str, Any]
) -> Iterator[Any]:
    """Yield what a generator of this package yields when it runs in a child, one item ahead."""
    with _IDLE.child() as child:
        running = child.run(function, arguments, named)
        child.send(_NEXT)
        kind, item = running.next()
        while kind == "item":
            child.send(_NEXT)
            try:
                yield item
            except GeneratorExit:
                child.send(_STOP)
                while kind == "item":
                    kind, _ = running.next()
                return
            kind, item = running.next()


_IS_CHILD = threading.Event()


def is_child() -> bool:
    """Tell whether this process is a child that reads values."""
    return _IS_CHILD.is_set()


# What runs in the child.

_NEXT, _STOP = "next", "stop"
_ANSWERS = ("answered", "refused")
_Queue = queue.SimpleQueue[Any]


@dataclass(frozen=True, slots=True)
class _Callback:
    number: int


@dataclass(frozen=True, slots=True)
class _SentOptions:
    options: dict[str, str]


def serve() -> None:
    """Answer the questions of the parent process until it ends."""
    _IS_CHILD.set()
    back = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a library is not an answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the parent, which ends us
    heard, answers = _Queue(), _Queue()
    threading.Thread(target=_listen, args=(sys.stdin.buffer, heard, answers), daemon=True).start()
    while True:
        question = heard.get()
        if question in (_NEXT, _STOP):
            continue  # left over from a stream that had ended
        (module, name), given, options = question

        def restored(value: Any) -> Any:
            match value:
                case _SentOptions(options=some):
                    return Options(some)
                case _Callback(number=number):
                    return partial(_ask, back, answers, number)
            return value

        function = getattr(import_module(module), name)
        try:
            with panics_as_errors():
                result = function(
                    *[restored(value) for value in given],
                    **{key: restored(value) for key, value in options.items()},
                )
                if not inspect.isgenerator(result):
                    _write(back, ("value", result))
                    continue
                for item in result:
                    if heard.get() == _STOP:
                        result.close()
                        break
                    _write(back, ("item", item))
            _write(back, ("end", None))
        except Exception as error:  # noqa: BLE001 - the caller raises it
            _write(back, ("error", _sendable(error)))


def _listen(pipe: IO[bytes], heard: _Queue, answers: _Queue) -> None:
    """Pass on what the parent sends; exit when the parent ends, whatever runs here."""
    try:
        while True:
            what = _read(pipe)
            (answers if what[0] in _ANSWERS else heard).put(what)
    except BaseException:  # noqa: BLE001 - whatever it was, nobody waits for it
        os._exit(0)


def _ask(back: IO[bytes], answers: _Queue, number: int, *given: Any) -> Any:
    _write(back, ("ask", (number, given)))
    kind, content = answers.get()
    if kind == "refused":
        raise content
    return content


def _sendable(error: Exception) -> Exception:
    """Return an error in a form that can be sent."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - anything may fail there
        return LanceExplorerError(f"{type(error).__name__}: {error}")
    return error


class _Pickler(pickle.Pickler):
    """Sends batches in Arrow's format; of a slice, only the slice."""

    def reducer_override(self, what: Any) -> Any:
        """Return how an object is pickled."""
        if isinstance(what, pa.RecordBatch):
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, what.schema) as writer:
                writer.write_batch(what)
            return _batch, (pickle.PickleBuffer(sink.getvalue()),)
        return NotImplemented


def _batch(data: Any) -> pa.RecordBatch:
    return pa.ipc.open_stream(data).read_next_batch()


def _write(pipe: IO[bytes], what: Any) -> None:
    data = io.BytesIO()
    _Pickler(data, protocol=5).dump(what)
    pipe.write(_SIZE.pack(data.tell()))
    pipe.write(data.getbuffer())
    pipe.flush()


def _read(pipe: IO[bytes]) -> Any:
    [size] = _SIZE.unpack(_exactly(pipe, _SIZE.size))
    return pickle.loads(_exactly(pipe, size))


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data
