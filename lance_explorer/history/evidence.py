"""How well a statement about the past is known, and from what."""

from enum import IntEnum

__all__ = ["Evidence"]


class Evidence(IntEnum):
    """How a statement is known; smaller is better.

    A statement takes its best evidence, a path of statements that of its weakest.

    Examples
    --------
    >>> max(Evidence.RECORDED, Evidence.INFERRED).label
    'inferred'
    """

    RECORDED = 0
    """A kept manifest, transaction, fragment reuse index or stored lineage records it."""
    DERIVED = 1
    """Row IDs or key columns prove it."""
    INFERRED = 2
    """Counts and order fit."""
    LOST = 3
    """The versions that would show it are gone."""

    @property
    def label(self) -> str:
        """The name in frames."""
        return self.name.lower()
