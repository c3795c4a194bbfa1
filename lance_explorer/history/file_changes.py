"""What other data files of a fragment mean for the values of its rows.

A commit may write some fragments in place and keep or add others, whatever its operation. So each
fragment is checked on its own: which fields have their values from another file than before. A
field of both versions that no file of the fragment listed was null there, and may get values once a
file lists it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from propcache.api import cached_property

from lance_explorer.format.fragments import Fragment
from lance_explorer.format.schema import Field, field_paths

__all__ = [
    "InPlace",
    "SchemaPair",
    "WrittenFields",
    "homes_of",
    "in_place",
    "loses_overlays",
    "written_fields",
    "written_since_birth",
]


class InPlace(IntEnum):
    """What the files of a fragment mean for values of rows that did not move."""

    SAME = 0
    """All remaining columns have their values from the same files."""
    COLUMNS_ADDED = 1
    """So do those of both versions, and others were added."""
    VALUES_DIFFER = 2
    """A column of both versions has its values from other files, or other overlays."""


@dataclass(frozen=True, slots=True)
class WrittenFields:
    """The fields of two versions that have other files in a fragment.

    Attributes
    ----------
    kept : frozenset of int
        Those that have the same ID in both.
    cast : frozenset of int
        The earlier IDs of those that were cast, which gave them another one.
    """

    kept: frozenset[int]
    cast: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.kept or self.cast)


class SchemaPair:
    """The fields of two versions, with their identity.

    Parameters
    ----------
    before, after : tuple of Field
        Both schemas; that of the empty table has no field.
    shared : mapping of int to int, optional
        The IDs in the second of fields that both have, by their IDs in the first; by default an ID
        is of one field, as from one commit to the next.
    """

    def __init__(
        self,
        before: tuple[Field, ...],
        after: tuple[Field, ...],
        shared: Mapping[int, int] | None = None,
    ) -> None:
        self._before = before
        self._after = after
        self._told = shared

    @cached_property
    def _shared(self) -> Mapping[int, int]:
        if self._told is not None:
            return self._told
        later = frozenset([field.id for field in self._after])
        return {field.id: field.id for field in self._before if field.id in later}

    @cached_property
    def common(self) -> frozenset[int]:
        """The IDs that belong to one field in both versions."""
        return frozenset([id_ for id_, other in self._shared.items() if id_ == other])

    @cached_property
    def casts(self) -> tuple[tuple[int, int], ...]:
        """The IDs, before and after, of fields whose ID changed, or may have by their path."""
        if len(self.common) == len(self._before):
            return ()
        known, taken = self._shared, {*self._shared.values()}
        pairs = [(id_, other) for id_, other in known.items() if id_ != other]
        old = {path: id_ for id_, path in field_paths(self._before).items() if id_ not in known}
        new = {path: id_ for id_, path in field_paths(self._after).items() if id_ not in taken}
        return (*pairs, *[(old[path], new[path]) for path in old.keys() & new.keys()])


def homes_of(fragment: Fragment) -> tuple[object, ...]:
    """Return the files of a fragment's values: values from the same files are unchanged."""
    return fragment.id, tuple([file.path for file in fragment.files]), fragment.overlays


def in_place(before: Fragment, after: Fragment, schemas: SchemaPair) -> InPlace:
    """Tell what changed in the files of a fragment, ignoring its deletion file.

    Parameters
    ----------
    before, after : Fragment
        Two states of the fragment.
    schemas : SchemaPair
        The schemas of both versions.
    """
    is_same = before.files == after.files and before.overlays == after.overlays
    if is_same and not schemas.casts:  # a field with another ID is in none of them, and so null
        return InPlace.SAME
    if written_fields(before, after, schemas):
        return InPlace.VALUES_DIFFER
    old, new = _homes(before), _homes(after)
    is_new = any(old.get(field) != path for field, path in new.items())
    return InPlace.COLUMNS_ADDED if is_new else InPlace.SAME


def written_fields(before: Fragment, after: Fragment, schemas: SchemaPair) -> WrittenFields:
    """Return the fields of both versions that have other files, or overlays, in a fragment."""
    old, new = _homes(before), _homes(after)
    other = {field for field in old.keys() | new.keys() if old.get(field) != new.get(field)}
    if before.overlays != after.overlays:
        overlays = {*before.overlays} ^ {*after.overlays} or {*after.overlays}
        other.update([field for overlay in overlays for field in overlay.data_file.fields])
    return WrittenFields(
        schemas.common & other,
        frozenset([was for was, is_ in schemas.casts if old.get(was) != new.get(is_)]),
    )


def loses_overlays(before: Fragment, after: Fragment) -> bool:
    """Whether values of overlays are gone while those below them stayed.

    An Update removes the overlays of all fields that it names from all fragments that it lists,
    also from those in which it wrote only other fields (docs/FORMAT.md 2.7).
    """
    if before.overlays == after.overlays:
        return False
    old, new = _homes(before), _homes(after)
    gone = {
        field for one in {*before.overlays} - {*after.overlays} for field in one.data_file.fields
    }
    return any(old.get(field) == new.get(field) for field in gone)


def written_since_birth(fragment: Fragment, schemas: SchemaPair) -> WrittenFields:
    """Return the fields of both versions that have later files, or overlays, in a fragment.

    The first of its files is the original one, unless all columns were rewritten.
    """
    later = {field for file in fragment.files[1:] for field in file.fields if field >= 0}
    later.update([field for one in fragment.overlays for field in one.data_file.fields])
    return WrittenFields(
        schemas.common & later,
        frozenset([was for was, is_ in schemas.casts if is_ in later]),
    )


def _homes(fragment: Fragment) -> dict[int, str]:
    """Return the file that holds each field."""
    return {field: file.path for file in fragment.files for field in file.fields if field >= 0}
