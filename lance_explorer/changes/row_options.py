"""Options for changed rows: values, columns, a key, and what is left out."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from lance_explorer.arguments import check_choice, names, not_negative
from lance_explorer.history.events.event_runs import RowEvent

__all__ = ["ImageChoice", "RowOptions"]

ImageChoice = Literal["known", "after", "both"]

_OPTIONAL = (RowEvent.MOVED, RowEvent.COLUMN_ADDED)


@dataclass(frozen=True, slots=True)
class RowOptions:
    """What is asked of changed rows; the fields are the arguments of ``Table.changes``."""

    images: ImageChoice | None
    columns: tuple[str, ...] | None
    key: tuple[str, ...]
    include: tuple[str, ...]
    tolerance: float

    @classmethod
    def of(
        cls,
        images: ImageChoice | None,
        columns: str | Sequence[str] | None,
        key: str | Sequence[str] | None,
        include: str | Collection[str],
        tolerance: float,
    ) -> "RowOptions":
        """Return the options for given arguments; a single name is accepted."""
        check_choice("images", images, (None, "known", "after", "both"))
        left_in = names("include", include)
        for name in left_in:
            check_choice("include", name, tuple([change.label for change in _OPTIONAL]))
        chosen = None if columns is None else names("columns", columns)
        keys = () if key is None else names("key", key)
        return cls(images, chosen, keys, left_in, not_negative("tolerance", tolerance))

    @property
    def has_both_images(self) -> bool:
        """Whether the values before the change are wanted, too."""
        return self.images == "both"

    @property
    def has_values_before(self) -> bool:
        """Whether values of deleted rows are wanted."""
        return self.images in ("known", "both")

    @property
    def may_lack_values(self) -> bool:
        """Whether lost values are null, instead of an error."""
        return self.images == "known"

    @property
    def left_out(self) -> list[RowEvent]:
        """What is left out."""
        return [change for change in _OPTIONAL if change.label not in self.include]
