"""Answers that are kept in a file: compressed, many together, as long as there is room."""

import base64
import gzip
import json

from lance_explorer.widgets.messages.base import Message, Packed, pack, to_json

__all__ = ["Shelves", "key_of"]

_SHELF = 256 << 10
"""Characters of JSON that are compressed together: a browser decompresses that at once."""

_AROUND = 100
"""Bytes that the page adds to a shelf, and at most to an entry of the index."""


def key_of(*parts: str | int | None) -> str:
    """Return the name of an answer, as the browser computes it from the same parts.

    Examples
    --------
    >>> key_of("compared", 1, 2)
    '["compared","1","2"]'
    """
    texts = [None if part is None else str(part) for part in parts]
    return json.dumps(texts, separators=(",", ":"), ensure_ascii=False)


class Shelves:
    """Stores answers until there is no room.

    Parameters
    ----------
    room : int
        How large the shelves with their index may get, in bytes.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.shelves: list[str] = []
        self.index: dict[str, tuple[int, int]] = {}
        self._waiting: dict[str, str] = {}
        self._names: dict[str, list[str]] = {}
        self._size = 0

    def put(self, key: str, answer: Message, *others: str) -> bool:
        """Store an answer; return False if there is no room, and the last ones are left out.

        ``others`` are more names of the same answer.
        """
        if key in self._waiting or key in self.index:
            return True
        packed = answer if isinstance(answer, Packed) else pack(answer)
        text = json.dumps(to_json(packed), separators=(",", ":"), allow_nan=False)
        self._waiting[key], self._names[key] = text, [key, *others]
        self._size += len(text)
        return self._size < _SHELF or self.close()

    def close(self) -> bool:
        """Compress the stored answers; return False if there was no room, and they are left out."""
        waiting, self._waiting, self._size = self._waiting, {}, 0
        names, self._names = self._names, {}
        if not waiting:
            return True
        packed = gzip.compress(f"[{','.join(waiting.values())}]".encode(), mtime=0)
        shelf = base64.b64encode(packed).decode()
        every = [(name, place) for place, key in enumerate(waiting) for name in names[key]]
        entries = sum(len(json.dumps(name)) + _AROUND // 2 for name, _ in every)
        needed = len(shelf) + entries + _AROUND
        if needed > self.room:
            return False
        self.room -= needed
        self.index |= {name: (len(self.shelves), place) for name, place in every}
        self.shelves.append(shelf)
        return True
