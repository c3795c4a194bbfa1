"""Number fragments while reading: a fragment that was seen before keeps its number.

Each fragment of a manifest that the manifest before lacks is an *entry*. Entries are decoded
thousands at once, as columns; only then are those found that are the same state.
"""

from collections.abc import Callable, Sequence
from itertools import chain, groupby

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.fragments import shortened
from lance_explorer.history.states import ColumnsPart, States, columns_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["StateBuilder"]

_MOST_WAITING = 1 << 16
"""So many entries are decoded at once: undecoded ones take memory, one may be there often, and each
part costs time."""

_MOST_BYTES = 32 << 20

_SMALL_PART = 1_000
"""So few last states are decoded again with later ones; else each refresh would add a part."""


class StateBuilder:
    """The states that were found so far.

    Parameters
    ----------
    known : States
        Those of the versions that were read earlier. Each is an entry, under its number.
    """

    def __init__(self, known: States) -> None:
        self.ids: list[int] = known.ids.tolist()
        self._parts = [*known.parts]
        self._waiting: list[Sequence[bytes]] = []
        self._num_waiting = self._num_bytes = 0
        if self._parts and len(self._parts[-1]) < _SMALL_PART:
            last = self._parts.pop()
            self._waiting = [[last.message(number) for number in range(len(last))]]
            self._num_waiting = len(last)
        self._state_of = [np.arange(len(known) - self._num_waiting)]

    def add(self, messages: Sequence[bytes], ids: Sequence[int]) -> range:
        """Return the entries of some fragments, given as undecoded messages and their IDs."""
        begin = len(self.ids)
        self.ids += ids
        if len(messages) < _MOST_WAITING:
            messages = list(map(shortened, messages))
            self._num_bytes += sum(map(len, messages))
        self._waiting.append(messages)
        self._num_waiting += len(messages)
        return range(begin, len(self.ids))

    def decode_if_many(self) -> None:
        """Decode the entries if many wait for it.

        Raises
        ------
        CorruptFileError
            If one is damaged, or has another ID. In which file is not told.
        """
        if self._num_waiting >= _MOST_WAITING or self._num_bytes >= _MOST_BYTES:
            self._decode_all()

    def finish(self) -> tuple[States, NDArray[np.int64]]:
        """Return all states, and the state of each entry; errors are those of decoding."""
        self._decode_all()
        return States(self._parts), np.concatenate(self._state_of)

    def _decode_all(self) -> None:
        """Decode what waits: very many fragments of one manifest apart, so that none is copied."""
        waiting, self._waiting, self._num_bytes = self._waiting, [], 0
        for are_many, some in groupby(waiting, lambda one: len(one) >= _MOST_WAITING):
            for messages in some if are_many else [list(chain.from_iterable(some))]:
                self._decode(messages)

    def _decode(self, messages: Sequence[bytes]) -> None:
        known, begin = States(self._parts), len(self.ids) - self._num_waiting
        self._num_waiting -= len(messages)
        ids = np.array(self.ids[begin : begin + len(messages)], dtype=np.uint64)
        new, by_bytes = _numbered(known, ids, known.message, lambda n: shortened(messages[n]))
        are_all = len(new) == len(messages)
        columns = columns_of(messages if are_all else [messages[n] for n in new.tolist()])
        if not np.array_equal(columns.id, ids[new]):
            raise CorruptFileError("a fragment whose ID is not where writers put it")
        chosen = np.arange(len(new))
        state_of = chosen + len(known)
        if columns.unusual or known.has_unusual:  # others with another spelling may be equal
            chosen, state_of = _numbered(
                known, columns.id, known.key, lambda n: shortened(columns.key(n))
            )
        self._state_of.append(np.append(np.arange(len(known)), state_of)[by_bytes])
        if len(chosen):
            self._parts.append(ColumnsPart(columns, chosen))


def _numbered(
    known: States,
    ids: Uint64Array,
    known_key: Callable[[int], bytes],
    key: Callable[[int], bytes],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which fragments are new, and the number of each: new ones go on behind the known.

    Two are the same if their IDs and keys are. Keys are asked for, and kept, only where several
    have one ID.
    """
    count = len(known)
    first = np.arange(count, count + len(ids))
    old = np.flatnonzero(np.isin(known.ids, ids))
    all_ids, numbers = np.concatenate([known.ids[old], ids]), np.concatenate([old, first])
    order = np.argsort(all_ids, kind="stable")
    all_ids, numbers = all_ids[order], numbers[order]
    is_next = np.append(False, all_ids[1:] == all_ids[:-1])[: len(all_ids)]
    is_several = is_next | np.append(is_next[1:], False)[: len(all_ids)]
    same = dict[bytes, int]()
    pairs = zip(numbers[is_several].tolist(), is_next[is_several].tolist(), strict=True)
    for number, goes_on in pairs:
        if not goes_on:
            same = {}
        if number < count:
            same[known_key(number)] = number
        else:
            first[number - count] = same.setdefault(key(number - count), number)
    is_new = first == np.arange(count, count + len(ids))
    behind = count + np.cumsum(is_new) - 1
    return np.flatnonzero(is_new), np.append(np.arange(count), behind)[first]
