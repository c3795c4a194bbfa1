"""Limits for an object store, which charges by request and by byte."""

from dataclasses import dataclass

from lance_explorer.errors import BudgetExceededError

__all__ = ["Budget"]


@dataclass(slots=True)
class Budget:
    """How much may be read in total, and how many requests were made so far.

    Attributes
    ----------
    max_bytes, max_requests : int or None
        The most, since the table was opened; None for any number.
    """

    max_bytes: int | None = None
    max_requests: int | None = None
    _claimed: int = 0

    def claim_request(self, uri: str) -> None:
        """Count a request that is about to be made.

        Raises
        ------
        BudgetExceededError
            If it exceeds the limit.
        """
        self.check_requests(uri, 1)
        self._claimed += 1

    def check_requests(self, uri: str, count: int) -> None:
        """Check that so many requests may still be made; raises like :meth:`claim_request`."""
        if self.max_requests is not None and self._claimed + count > self.max_requests:
            raise BudgetExceededError(
                f"{uri}: {self._claimed:,} requests were made and {count:,} more are needed: "
                f"max_requests is {self.max_requests:,}"
            )

    def check_bytes(self, uri: str, so_far: int, more: int) -> None:
        """Check that so many bytes may still be read.

        Raises
        ------
        BudgetExceededError
            If they would be too many.
        """
        if self.max_bytes is not None and so_far + more > self.max_bytes:
            raise BudgetExceededError(
                f"{uri}: {so_far:,} bytes were read and {more:,} more are needed: "
                f"max_bytes is {self.max_bytes:,}"
            )
