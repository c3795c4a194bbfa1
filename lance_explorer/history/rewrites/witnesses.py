"""Evidence besides counts and order that lost versions rewrote fragments into others.

A rewrite moves rows and changes nothing else. An overwrite may give as many rows, but assigns new
field IDs, chooses the storage format, and takes indices along.
"""

from collections.abc import Iterable

from pyroaring import BitMap

from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.indices import FRAGMENT_REUSE_INDEX
from lance_explorer.format.schema import NO_PARENT, Field, column_fields
from lance_explorer.history.history import VersionRecord

__all__ = ["is_made_anew", "speaks_against_rewrite"]


def speaks_against_rewrite(
    before: VersionRecord, after: VersionRecord, old: Iterable[Fragment], new: Iterable[Fragment]
) -> bool:
    """Whether anything shows that fragments were not rewritten into those of a later version.

    Parameters
    ----------
    before, after : VersionRecord
        Kept versions; those between them are lost.
    old, new : iterable of Fragment
        Fragments that only the one has, and that only the other has.
    """
    old, new = [*old], [*new]
    return (
        is_made_anew(before, after, old, new)
        or _file_formats(old) != _file_formats(new)
        or before.manifest.schema_metadata != after.manifest.schema_metadata
        or any(_lacks_columns(before, after, fragment) for fragment in new)
        or _indices_differ(before, after, {fragment.id for fragment in old})
    )


def is_made_anew(
    before: VersionRecord, after: VersionRecord, old: Iterable[Fragment], new: Iterable[Fragment]
) -> bool:
    """Whether the later version comes from an overwrite: its fields or files are of another kind.

    The parameters are those of :func:`speaks_against_rewrite`.
    """
    was, is_now = before.manifest, after.manifest
    if (was.reader_feature_flags ^ is_now.reader_feature_flags) & STABLE_ROW_IDS:
        return True
    if was.data_format != is_now.data_format:
        return True
    ids = {field.id for field in before.schema}
    allocated = was.max_allocated_field_id or 0
    highest = max([allocated, *ids, *_written(old)])
    if (is_now.max_allocated_field_id or allocated) < allocated:
        return True
    return any(0 <= id_ <= highest and id_ not in ids for id_ in _written(new)) or not all(
        field.id > highest or _is_among(field, before.schema) for field in after.schema
    )


def _file_formats(fragments: Iterable[Fragment]) -> set[tuple[int, int]]:
    return {(f.major_version, f.minor_version) for one in fragments for f in one.files}


def _written(fragments: Iterable[Fragment]) -> set[int]:
    """Return the IDs of the fields in data files."""
    return {id_ for fragment in fragments for file in fragment.files for id_ in file.fields}


def _is_among(field: Field, earlier: Iterable[Field]) -> bool:
    """Whether a field is one of an earlier schema, perhaps with a new name that no other had."""
    same = {one.id: one for one in earlier}.get(field.id)
    if same is None or (same.parent_id, same.logical_type) != (field.parent_id, field.logical_type):
        return False
    return same.name == field.name or all(
        (one.parent_id, one.name) != (field.parent_id, field.name) for one in earlier
    )


def _lacks_columns(before: VersionRecord, after: VersionRecord, fragment: Fragment) -> bool:
    """Whether a fragment has no file for a column of both versions: a rewrite writes them all."""
    written = _written([fragment])
    kept = {field.id for field in before.schema if field.parent_id == NO_PARENT}
    return any(
        fields[0].id in kept and written.isdisjoint([field.id for field in fields])
        for fields in column_fields(after.schema).values()
    )


def _indices_differ(before: VersionRecord, after: VersionRecord, old_ids: set[int]) -> bool:
    """Whether indices are gone, or still name rewritten fragments that no reuse history explains.

    A rewrite keeps indices, and rewrites those that name its fragments.
    """
    names = {index.name for index in after.indices}
    if not {index.name for index in before.indices} <= names:
        return True
    if FRAGMENT_REUSE_INDEX in names:
        return False
    covered = [index.fragment_ids() or BitMap() for index in after.indices]
    return not BitMap.union(BitMap(), *covered).isdisjoint(BitMap(old_ids))
