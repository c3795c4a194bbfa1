"""What bytes are decoded to: records that cannot change, and are made fast."""

import msgspec

__all__ = ["Record"]


class Record(msgspec.Struct, frozen=True, gc=False):
    """A frozen record.

    A history makes a dozen for each version, and a frozen dataclass takes two to ten times as long
    to make. No record is part of a cycle, so the collector need not visit them. ``replace`` and
    ``asdict`` come from ``msgspec.structs``: those of ``dataclasses`` fail, and mypy accepts them.
    """
