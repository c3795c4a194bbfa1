"""Connections of views that are parts of another view: they share its connection."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from comm.base_comm import BaseComm
from ipywidgets import Widget

__all__ = ["PartLine", "line_of_part", "parts_of"]

_Send = Callable[[Mapping[str, Any], list[bytes]], None]
_SEND: ContextVar[_Send | None] = ContextVar("_SEND", default=None)


class PartLine(BaseComm):
    """The connection of a part: its messages are passed to a function.

    Parameters
    ----------
    send : callable
        Takes a message of the widget protocol, as a dict, and its buffers.
    """

    def __init__(self, send: _Send) -> None:
        self._send = send
        super().__init__(primary=False)  # there is nobody to tell that it is open

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        buffers: list[bytes] | None = None,
        **keys: Any,
    ) -> None:
        """Hand on a message."""
        if data and not self._closed:
            self._send(data, buffers or [])

    def close(self, *arguments: Any, **options: Any) -> None:
        """Say nothing more."""
        self._closed = True


class _HookForWholes:
    """Runs a hook for each widget that is made, except parts: marimo opens connections."""

    def __init__(self, callback: Callable[[Widget], object]) -> None:
        self._told = callback

    def __call__(self, widget: Widget) -> None:
        if _SEND.get() is None:
            self._told(widget)


@contextmanager
def parts_of(send: _Send) -> Iterator[None]:
    """Turn views that are made in this context into parts: ``send`` sends their messages."""
    callback = Widget._widget_construction_callback
    if callback is not None and not isinstance(callback, _HookForWholes):
        Widget.on_widget_constructed(_HookForWholes(callback))
    token = _SEND.set(send)
    try:
        yield
    finally:
        _SEND.reset(token)


def line_of_part() -> PartLine | None:
    """Return the connection for a view that is made as a part; None for an independent view."""
    send = _SEND.get()
    return None if send is None else PartLine(send)
