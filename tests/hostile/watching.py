"""Who opened a file below a folder, and who asked for something over a connection."""

import ctypes
import os
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["Connections", "Openings"]

_IN_ACCESS, _IN_OPEN = 0x01, 0x20
_REFUSAL = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class Connections:
    """A server on this machine to which everything is led; it counts, and lets nobody in."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self._socket.listen(50)
        self.port: int = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            self.requests.append(connection.recv(2000))
            connection.sendall(_REFUSAL)
            connection.close()


class Openings:
    """Tells whether a file or a folder below some folders was opened, by whatever code.

    Python's own openings are seen by an audit hook; those of libraries by the kernel, where it
    tells them (Linux).
    """

    def __init__(self, folders: list[Path]) -> None:
        self._roots = [str(folder) for folder in folders]
        self._seen: list[str] = []
        self._libc = ctypes.CDLL(None) if sys.platform == "linux" else None
        if self._libc is not None:
            self._queue = self._libc.inotify_init1(os.O_NONBLOCK)
            for folder in folders:
                for place in (folder, *[each for each in folder.rglob("*") if each.is_dir()]):
                    self._libc.inotify_add_watch(
                        self._queue, os.fsencode(place), _IN_OPEN | _IN_ACCESS
                    )
        sys.addaudithook(self._audit)

    def take(self) -> list[str]:
        """Return what was opened since the last time."""
        seen, self._seen = self._seen, []
        if self._libc is not None:
            with suppress(BlockingIOError):
                seen.append(f"{len(os.read(self._queue, 1 << 16))} bytes of events of the kernel")
        return seen

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in ("open", "os.listdir", "os.scandir") or not isinstance(args[0], str):
            return
        follows = event != "open" or not args[2] & os.O_NOFOLLOW
        place = os.path.realpath(args[0] if follows else Path(args[0]).parent)
        if any(f"{place}/".startswith(f"{root}/") for root in self._roots):
            self._seen.append(f"{event} {args[0]}")
