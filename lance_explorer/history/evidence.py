"""How well a claim about the past is known, and by what."""

from enum import IntEnum

__all__ = ["Evidence"]


class Evidence(IntEnum):
    """How a claim is known; the smaller, the better.

    A claim takes its best evidence, a path of claims that of its weakest.

    Examples
    --------
    >>> max(Evidence.RECORDED, Evidence.INFERRED).label
    'inferred'
    """

    RECORDED = 0
    """A kept manifest, transaction, fragment reuse index or stored lineage says so."""
    DERIVED = 1
    """Row IDs or key columns prove it."""
    INFERRED = 2
    """Counts and order fit."""
    LOST = 3
    """The versions that would tell are gone."""

    @property
    def label(self) -> str:
        """The name in frames."""
        return self.name.lower()
