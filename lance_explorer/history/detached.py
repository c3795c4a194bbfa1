"""What detached versions were built on.

Their transactions do not say so: a detached commit builds on the version that its writer had open,
which may be any, while ``read_version`` is what the writer was told. So it is found by what the
version has: the fragments of that version and those that the operation wrote, and the row IDs that
were given out by then, and those that it gave out.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.column_operations import DataOverlay, DataReplacement, Project
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.layout_operations import CreateIndex, ReserveFragments, Rewrite
from lance_explorer.format.operations import Operation
from lance_explorer.format.row_operations import Append, Delete, Overwrite, Update
from lance_explorer.format.table_operations import UpdateConfig
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.update_kinds import writes_rows
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.arrays import Uint64Array

__all__ = [
    "DetachedRows",
    "LostBase",
    "built_on",
    "lost_base",
    "maybe_restored",
    "num_given",
    "with_rows",
]


def built_on(
    view: HistoryView,
    detached: int,
    before: int | None = None,
    stamps: Collection[int] = (),
) -> int | None:
    """Return the version that a detached one was built on, which may be detached, too.

    Parameters
    ----------
    view : HistoryView
        The branch.
    detached : int
        The detached version.
    before : int, optional
        The version that restored it; by default all kept ones come into question.
    stamps : collection of int
        Version numbers that rows of it carry: its own rows are numbered after the version that it
        was built on.

    Returns
    -------
    int or None
        The version; None if none that is kept can be it.
    """
    here = _detached(view, detached)
    if here is None or here.record.transaction is None:
        return None
    try:
        transaction = view.transaction(here.record)
    except FormatError:
        return None
    operation = None if transaction is None else transaction.operation
    said = here.record.transaction.header.read_version
    others = [*_others(view, detached, before)]
    highest = max(stamps, default=0)
    least = max([stamp for stamp in stamps if stamp < FIRST_DETACHED], default=0) - 1
    candidates = [
        (
            other.version + 1 < highest,
            other.version + 1 not in stamps,
            differing,
            other.version != said,
            is_detached,
            -place,
        )
        for place, (other, is_detached) in enumerate(others)
        if other.version >= least  # no row of it can have been written after it
        and (differing := _difference(here, other, operation)) is not None
    ]
    return others[-min(candidates)[-1]][0].version if candidates else None


@dataclass(frozen=True, slots=True)
class DetachedRows:
    """A detached version that wrote rows.

    Attributes
    ----------
    version, read_version : int
        Its number, and the one that its writer said it read.
    files : frozenset of str
        All its data files.
    written : frozenset of str
        Those with rows that it wrote itself.
    """

    version: int
    read_version: int
    files: frozenset[str]
    written: frozenset[str]


def with_rows(view: HistoryView) -> tuple[DetachedRows, ...]:
    """Return the detached versions that wrote rows, as far as they can be read; it is kept."""
    listed = view.listing.detached
    known: tuple[object, tuple[DetachedRows, ...]] | None = view.kept.get(__name__)
    if known is None or known[0] != listed:
        known = view.kept[__name__] = listed, tuple(_with_rows(view))
    return known[1]


def _with_rows(view: HistoryView) -> Iterator[DetachedRows]:
    for file in view.listing.detached:
        with suppress(FormatError, NotFoundError):
            history = view.version(file.version)
            transaction = view.transaction(history.records[0])
            if transaction is None:
                continue
            own = [f for f in history.states if writes_rows(transaction.operation, f)]
            if own:
                yield DetachedRows(
                    file.version, transaction.read_version, _paths(history.states), _paths(own)
                )


def maybe_restored(view: HistoryView, history: History, position: int) -> list[DetachedRows]:
    """Return the detached versions that lost ones before a version may have restored, unseen.

    They wrote rows, and nothing that they wrote is in a file of its own any more. A fragment that
    stayed over the gap, and that the detached version has not, tells that it was not restored, or
    left again.
    """
    if not view.listing.detached or position == 0:
        return []
    before, after = [
        _paths([history.states[state] for state in history.states_at(place)])
        for place in (position - 1, position)
    ]
    stayed, version = before & after, history.records[position].version
    return [
        one
        for one in with_rows(view)
        if stayed <= one.files
        and after.isdisjoint(one.written)
        and (one.read_version < version or one.read_version >= FIRST_DETACHED)
    ]


def _paths(fragments: Iterable[Fragment]) -> frozenset[str]:
    return frozenset([file.path for fragment in fragments for file in fragment.files])


@dataclass(frozen=True, slots=True)
class LostBase:
    """What a detached version tells of the ordinary one that it was built on.

    Attributes
    ----------
    version : int
        Its number.
    least_row_id, most_row_id : int
        Its next row ID lies between these, both included.
    """

    version: int
    least_row_id: int
    most_row_id: int


def lost_base(
    view: HistoryView,
    record: VersionRecord,
    stamps: Collection[int],
    written: tuple[Uint64Array, Uint64Array],
) -> LostBase | None:
    """Return what a detached version tells of the one that it was built on, where that is lost.

    Parameters
    ----------
    view : HistoryView
        The branch.
    record : VersionRecord
        The detached version.
    stamps : collection of int
        Version numbers that its rows carry: those that it wrote have the number after the version
        that it was built on.
    written : tuple of ndarray
        The row IDs that it may have given out, as ranges: the last ones may be new.

    Returns
    -------
    LostBase or None
        None if the operation does not tell it, or it was built on a detached version.
    """
    try:
        transaction = view.transaction(record)
    except FormatError:
        return None
    if transaction is None or transaction.read_version >= FIRST_DETACHED:
        return None
    operation, after = transaction.operation, record.manifest.next_row_id
    least = most = num_given(record, operation)
    writes = isinstance(operation, (Append, Overwrite))
    if isinstance(operation, Update):
        writes = bool(operation.new_fragments or operation.updated_offsets)
        if most is None:
            least, most = 0, _num_last(written, after)
    if least is None or most is None:
        return None
    own = [stamp for stamp in stamps if 0 < stamp < FIRST_DETACHED]
    version = max(own) - 1 if writes and own else transaction.read_version
    return LostBase(version, max(after - most, 0), after - least)


def _num_last(row_ids: tuple[Uint64Array, Uint64Array], stop: int) -> int:
    """Return how many row IDs before one are among some, without a break."""
    count = 0
    for start, end in sorted(zip(*[ids.tolist() for ids in row_ids], strict=True), reverse=True):
        if end != stop - count:
            break
        count = stop - start
    return count


def num_given(record: VersionRecord, operation: Operation | None) -> int | None:
    """Return how many row IDs a commit gave out; None if its operation does not tell."""
    if not record.manifest.reader_feature_flags & STABLE_ROW_IDS:
        return 0
    match operation:
        case Append() | Overwrite():
            rows = [fragment.physical_rows for fragment in operation.fragments]
            known = [count for count in rows if count is not None]
            return sum(known) if len(known) == len(rows) else None
        case Delete() | Update(new_fragments=()) | DataReplacement() | DataOverlay() | Project():
            return 0
        case Rewrite() | CreateIndex() | ReserveFragments() | UpdateConfig():
            return 0
    return None


@dataclass(frozen=True, slots=True)
class _Version:
    record: VersionRecord
    fragments: frozenset[Fragment]

    @property
    def version(self) -> int:
        """Its number."""
        return self.record.version


def _detached(view: HistoryView, version: int) -> _Version | None:
    try:
        history = view.version(version)
    except (FormatError, NotFoundError):
        return None
    return _Version(history.records[0], frozenset(history.states))


def _others(
    view: HistoryView, detached: int, before: int | None
) -> Iterator[tuple[_Version, bool]]:
    """Yield all versions that it may be, and whether they are detached."""
    history = view.history
    for position, record in enumerate(history.records):
        if before is not None and record.version >= before:
            break
        states = [history.states[state] for state in history.intervals.at(position).tolist()]
        yield _Version(record, frozenset(states)), False
    for file in view.listing.detached:
        if file.version != detached and (other := _detached(view, file.version)) is not None:
            yield other, True


def _difference(
    here: _Version, base: _Version, operation: Operation | None
) -> tuple[bool, int, int, int] | None:
    """Return how far a version is from one that it may have been built on.

    First comes whether that has not all fragments that the operation changed or took out, or has
    all of them as they are now, as one that was built on this version has; then in how many
    fragments only one has, in how many data files, which a commit may replace in every fragment,
    and in how many states. None if the operation cannot have made it of that one.
    """
    if isinstance(operation, Overwrite):
        here = _Version(here.record, frozenset())
        base = _Version(base.record, frozenset())
    new, removed = here.fragments - base.fragments, base.fragments - here.fragments
    touched, num_new = _touched(operation), _num_new(operation)
    known = {fragment.id for fragment in base.fragments}
    if touched is not None and not {fragment.id for fragment in removed} <= touched:
        return None
    if num_new is not None and len({fragment.id for fragment in new} - known) != num_new:
        return None
    given = num_given(here.record, operation)
    if given is not None:
        before, after = base.record.manifest.next_row_id, here.record.manifest.next_row_id
        if before + given != after:
            return None
    elif base.record.manifest.next_row_id > here.record.manifest.next_row_id:
        return None
    own_ids = {fragment.id for fragment in here.fragments}
    return (
        touched is not None and (not touched <= known or (bool(touched) and not removed)),
        len(own_ids ^ known),
        len(_files(here) ^ _files(base)),
        len(new) + len(removed),
    )


def _files(version: _Version) -> set[str]:
    return {file.path for fragment in version.fragments for file in fragment.files}


def _touched(operation: Operation | None) -> set[int] | None:
    """Return the fragments that an operation changed or took out; None if that is not known."""
    match operation:
        case Append() | Overwrite() | CreateIndex() | ReserveFragments() | UpdateConfig():
            return set()
        case DataReplacement():
            return {group.fragment_id for group in operation.replacements}
        case DataOverlay():
            return {group.fragment_id for group in operation.groups}
        case Delete():
            return {fragment.id for fragment in operation.updated_fragments} | {
                *operation.deleted_fragment_ids
            }
        case Update():
            return {fragment.id for fragment in operation.updated_fragments} | {
                *operation.removed_fragment_ids
            }
    return None


def _num_new(operation: Operation | None) -> int | None:
    match operation:
        case Append():
            return len(operation.fragments)
        case Delete() | Overwrite() | DataReplacement() | DataOverlay():
            return 0
        case CreateIndex() | ReserveFragments() | UpdateConfig():
            return 0
        case Update():
            return len(operation.new_fragments)
    return None
