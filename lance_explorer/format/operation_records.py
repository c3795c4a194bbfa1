"""What all operations have in common: the questions that they answer, and their display."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lance_explorer.format.fragments import Fragment
from lance_explorer.format.schema import Field

__all__ = [
    "ANYTHING",
    "Effects",
    "OperationRecord",
    "field_ids",
    "fragment_ids",
    "listed",
    "num_rows",
    "schema_ids",
    "shortened",
]

_MAX_LISTED = 20
_MAX_TEXT = 200


@dataclass(frozen=True, slots=True)
class Effects:
    """What an operation depends on, or what it changes, as far as the transaction records it.

    Fragments without an ID are left out. If a transaction holds only the state afterwards (the
    schema of a Merge, say), everything that it sets counts as changed; removed parts are not
    listed. ``config_keys`` are of the table's config, ``metadata_keys`` of table and schema
    metadata. ``whole_table`` says that anything else may be concerned too.
    """

    fragments: frozenset[int] = frozenset()
    fields: frozenset[int] = frozenset()
    config_keys: frozenset[str] = frozenset()
    metadata_keys: frozenset[str] = frozenset()
    indices: frozenset[str] = frozenset()
    whole_table: bool = False


_NOTHING = Effects()

ANYTHING = Effects(whole_table=True)
"""Unknown; it may be anything."""


class OperationRecord(ABC):
    """An operation without dependencies or changes that :class:`Effects` lists."""

    __slots__ = ()

    def reads(self) -> Effects:
        """Return what the operation depends upon."""
        return _NOTHING

    def writes(self) -> Effects:
        """Return what the operation changes."""
        return _NOTHING

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return the essence as a short dict of JSON values."""


def fragment_ids(fragments: Iterable[Fragment]) -> frozenset[int]:
    """Return the IDs of fragments."""
    return frozenset([fragment.id for fragment in fragments])


def schema_ids(schema: Iterable[Field]) -> frozenset[int]:
    """Return the IDs of all columns."""
    return field_ids([field.id for field in schema])


def field_ids(ids: Iterable[int]) -> frozenset[int]:
    """Return the IDs of columns; negative ones mark something else."""
    return frozenset([field_id for field_id in ids if field_id >= 0])


def num_rows(fragments: Iterable[Fragment]) -> int | None:
    """Return how many rows were written, None if a fragment does not record it."""
    counts = [fragment.physical_rows for fragment in fragments]
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def listed(values: Iterable[str] | Iterable[int]) -> list[str | int]:
    """Return the first values, and the number of the others as the last."""
    shown = [shortened(value) if isinstance(value, str) else value for value in values]
    more = len(shown) - _MAX_LISTED
    return shown if more <= 0 else [*shown[:_MAX_LISTED], f"and {more} more"]


def shortened(text: str) -> str:
    """Return a text, cut if it is long."""
    return text if len(text) <= _MAX_TEXT else f"{text[: _MAX_TEXT - 3]}..."
