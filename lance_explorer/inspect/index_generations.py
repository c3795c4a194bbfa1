"""Whether an index still has the values from which it was built.

An index lists fragments by their IDs. The same ID may now belong to other rows, or to the same rows
with other values of the indexed column; if the writer left the fragment in the list, a search
trusts the index. The data file of the column shows it: files never change.
"""

from collections.abc import Iterator

import numpy as np
from pyroaring import BitMap

from lance_explorer.findings import Finding, Subject
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.frames.sizes import counted
from lance_explorer.history.history import History
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.field_names import field_names, names_of
from lance_explorer.inspect.index_health import rebuild
from lance_explorer.inspect.indices import covered_fragments

__all__ = ["indices_of_other_values"]


def indices_of_other_values(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find indices that cover fragments whose values of the column were written later."""
    record, whole = history.records[0], view.history
    names = field_names(history)[0]
    for segment in record.indices:
        covered = covered_fragments(segment)
        if segment.name in SYSTEM_INDICES or covered is None or len(segment.fields) != 1:
            continue
        [field], begin = segment.fields, _first_version(whole, segment)
        others = [
            (int(whole.states.ids[new]), new)
            for old, new in _changed_fragments(whole, begin, covered)
            if _has_other_values(whole.states[old], whole.states[new], field)
        ]
        if not others:
            continue
        rows = [int(whole.live_rows[state]) for _, state in others]
        since = min([_since(whole, begin, *other, field) for other in others])
        some = others[0][0]
        columns = tuple(filter(None, names_of(segment.fields, names)))
        yield Finding(
            "index_of_other_values",
            f"the index {segment.name!r} covers {counted(len(others), 'fragment')} whose values of "
            f"{', '.join(columns) or 'its column'} were written after it, since version {since}: "
            f"fragment {some}{', ...' if len(others) > 1 else ''}",
            subject=Subject("index", segment.name),
            versions=(since, record.version),
            since=since,
            rows=sum(rows) if min(rows) >= 0 else None,
            columns=columns,
            remedy=rebuild(view, record.version, segment.name),
        )


def _first_version(history: History, segment: IndexMetadata) -> int:
    """Return the position of the first kept version that has a segment."""
    known: object = None
    for position, record in enumerate(history.records):
        if record.indices is not known:
            known = record.indices
            if segment.uuid in {one.uuid for one in record.indices}:
                return position
    return len(history) - 1


def _changed_fragments(history: History, begin: int, covered: BitMap) -> Iterator[tuple[int, int]]:
    """Yield the old and the current states of covered fragments that changed since."""
    then, now = [
        np.array(history.states_at(at), dtype=np.int64) for at in (begin, len(history) - 1)
    ]
    before = dict(zip(history.states.ids[then].tolist(), then.tolist(), strict=True))
    for state in np.setdiff1d(now, then).tolist():
        fragment_id = int(history.states.ids[state])
        if fragment_id in covered and fragment_id in before:
            yield before[fragment_id], state


def _has_other_values(old: Fragment, new: Fragment, field: int) -> bool:
    path = _file_of(new, field)
    return path is not None and _file_of(old, field) not in (None, path)


def _file_of(fragment: Fragment, field: int) -> str | None:
    """Return the data file that contains a field of a fragment."""
    paths = [file.path for file in fragment.files if field in file.fields]
    return paths[-1] if paths else None


def _since(history: History, begin: int, fragment_id: int, state: int, field: int) -> int:
    """Return the first version after a position in which a fragment has its current file."""
    path = _file_of(history.states[state], field)
    spans = history.intervals
    same = [
        number
        for number in np.flatnonzero(history.states.ids == fragment_id).tolist()
        if _file_of(history.states[number], field) == path
    ]
    first = spans.first[np.isin(spans.keys, same)]
    return history.records[int(first[first > begin].min(initial=len(history) - 1))].version
