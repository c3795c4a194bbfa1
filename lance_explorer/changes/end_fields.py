"""The fields of two versions, and whether a commit on the way wrote one that both have anew.

A column that only one of both versions has was added or dropped, whatever else was done to it.
"""

from dataclasses import dataclass

from lance_explorer.format.schema import Field
from lance_explorer.history.rows.state_rows import StateRows

__all__ = ["EndFields"]


@dataclass(frozen=True, slots=True)
class EndFields:
    """The IDs of the fields of two versions.

    Attributes
    ----------
    before, after : frozenset of int
        Those of the first version, and of the second.
    """

    before: frozenset[int]
    after: frozenset[int]

    @classmethod
    def of(cls, before: tuple[Field, ...], after: tuple[Field, ...]) -> "EndFields":
        """Return the fields of two schemas."""
        return cls(*[frozenset([field.id for field in schema]) for schema in (before, after)])

    def are_rewritten(self, rows: StateRows, position: int) -> bool:
        """Whether a commit may have written one of them anew, of which it is known that it did one.

        A cast gives a field another ID: the one that goes is that of the column. Other commits name
        the fields that they write.

        Raises
        ------
        FormatError
            If its transaction cannot be understood.
        StorageError
            If it cannot be read.
        """
        history = rows.history
        if not history.follows_previous[position]:
            return True
        record = history.records[position]
        if record.operation == "Merge":
            old, new = history.records[position - 1].schema, record.schema
            gone = {field.id for field in old} - {field.id for field in new}
            return not gone.isdisjoint(self.before | self.after)
        transaction = rows.source.transaction(record)
        written = transaction.operation.writes().fields if transaction else frozenset[int]()
        return not written or not written.isdisjoint(self.before & self.after)
