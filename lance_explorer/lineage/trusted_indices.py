"""Indices of which nothing since they were built can have made an answer wrong.

Most bugs of indices need rows that moved or were written again (docs/KNOWN_BUGS.md, docs/FORMAT.md
6). So an index is trusted if all commits since the version from which it was built are kept, and
left every row of its fragments in its data file.
"""

from collections.abc import Sequence

import numpy as np

from lance_explorer.errors import FormatError
from lance_explorer.format.index_details import index_type
from lance_explorer.format.indices import FRAGMENT_REUSE_INDEX, IndexMetadata
from lance_explorer.format.manifest import LEGACY_FORMAT
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT, Field
from lance_explorer.history.history import KEEPS_FRAGMENTS, History

__all__ = ["trusted_indices"]

_TYPES = ("BTREE", "BITMAP")

_COMMITS = {*KEEPS_FRAGMENTS, OperationName.DELETE}

_COMPARED = ("int", "uint", "string", "large_string", "bool", "date", "timestamp")
"""How the logical types begin of which an index and a scan compare values alike: not of floats."""


def trusted_indices(history: History) -> dict[str, frozenset[int]]:
    """Return the trusted indices of the last version of a history.

    Returns
    -------
    dict
        Of each index, by its name, the fragments that it covers.
    """
    record = history.records[-1]
    names = {segment.name for segment in record.indices}
    if FRAGMENT_REUSE_INDEX in names or record.manifest.data_format == LEGACY_FORMAT:
        return {}
    fields = {one.id: one for one in record.schema}
    found = dict[str, frozenset[int]]()
    for name in names:
        segments = [segment for segment in record.indices if segment.name == name]
        if all(_is_usual(segment, fields) for segment in segments):
            covered = _covered(segments)
            begin = _built_from(history, name, segments[0].fields)
            if covered is not None and begin is not None and _is_untouched(history, begin, covered):
                found[name] = covered
    return found


def _is_usual(segment: IndexMetadata, fields: dict[int, Field]) -> bool:
    """Return whether it is a plain index on one column that a scan compares in the same way."""
    if index_type(segment) not in _TYPES or len(segment.fields) != 1 or segment.base_id is not None:
        return False
    field = fields.get(segment.fields[0])
    if field is None or field.parent_id != NO_PARENT:
        return False
    return field.logical_type.startswith(_COMPARED)


def _covered(segments: Sequence[IndexMetadata]) -> frozenset[int] | None:
    """Return the fragments that some segments list; None if that is not known of one."""
    fragments = set[int]()
    for segment in segments:
        try:
            listed = segment.fragment_ids()
        except FormatError:
            return None
        if listed is None:
            return None
        fragments.update(listed)
    return frozenset(fragments)


def _built_from(history: History, name: str, fields: tuple[int, ...]) -> int | None:
    """Return the position of the version from which an index was first built; None if unknown."""
    oldest, known = history.records[-1].version, None
    for record in reversed(history.records):
        if record.indices is not known:
            known = record.indices
            segments = [one for one in known if (one.name, one.fields) == (name, fields)]
        if not segments:
            return history.position(oldest) if oldest in history else None
        oldest = min(oldest, *[segment.dataset_version for segment in segments])
    return None


def _is_untouched(history: History, begin: int, fragments: frozenset[int]) -> bool:
    """Return whether commits after a position left the data files of fragments as they were."""
    later = slice(begin + 1, None)
    is_known = history.follows_previous[later].all() and not history.is_uncertain[later].any()
    if not is_known or any(one.operation not in _COMMITS for one in history.records[later]):
        return False
    files = dict[int, object]()
    states = np.unique(history.intervals.keys[history.intervals.last >= begin])
    for state in states.tolist():
        fragment = history.states[state]
        if fragment.id not in fragments:
            continue
        if fragment.overlays or files.setdefault(fragment.id, fragment.files) != fragment.files:
            return False
    return True
