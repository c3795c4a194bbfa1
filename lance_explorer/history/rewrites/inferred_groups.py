"""Rewrite groups that nothing recorded: where versions, or the transaction of one, are lost.

With stable row IDs, the rows themselves prove the groups. Without them, row counts and order must
do, and only where nothing else fits.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from lance_explorer.errors import FormatError, NotFoundError, StorageError
from lance_explorer.findings import Finding
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.row_operations import Append, Overwrite, Update
from lance_explorer.history.detached import maybe_restored
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.history import UNKNOWN_COUNT, History, VersionRecord
from lance_explorer.history.reading.row_reader import FragmentReader
from lance_explorer.history.rewrites.groups import RewriteGroup, num_live
from lance_explorer.history.rewrites.groups_by_row_ids import moved_rows
from lance_explorer.history.rewrites.witnesses import is_made_anew, speaks_against_rewrite
from lance_explorer.history.steps import Step
from lance_explorer.history.view import HistoryView

__all__ = ["unrecorded_groups"]

_UNKNOWN = frozenset({OperationName.UNKNOWN, None})
"""The operation of a version whose transaction is lost, or unknown."""

_CHANGES_NONE = _UNKNOWN | {
    OperationName.APPEND,
    OperationName.CREATE_INDEX,
    OperationName.PROJECT,
    OperationName.RESERVE_FRAGMENTS,
    OperationName.UPDATE_CONFIG,
}
"""Operations that keep fragments, and those of which that is unknown."""


def unrecorded_groups(
    view: HistoryView,
    history: History,
    recorded: Iterable[RewriteGroup],
    findings: list[Finding],
) -> Iterator[RewriteGroup]:
    """Yield groups that are consistent with kept versions, and that ``recorded`` lacks.

    A fragment of an earlier version was not created by a rewrite, nor was one that the transaction
    of the later version wrote.
    """
    for step in _steps(view, history, recorded):
        before, after = step.before.manifest, step.after.manifest
        if is_made_anew(step.before, step.after, step.old, step.new):
            continue
        if before.reader_feature_flags & after.reader_feature_flags & STABLE_ROW_IDS:
            try:
                yield from _derived(view, step)
            except (FormatError, StorageError, NotFoundError) as error:
                findings.append(_unreadable(step, error))
        else:
            yield from _inferred(view, step, findings)


@dataclass(frozen=True, slots=True)
class _UnknownCommit:
    """The fragments removed and added between two kept versions, without recorded ones.

    ``old`` and ``new`` are their states, ``changed`` both states of others, and ``is_back`` tells
    whether a fragment is there again that was gone.
    """

    before: VersionRecord
    after: VersionRecord
    removed: tuple[FragDigest, ...]
    added: tuple[FragDigest, ...]
    old: tuple[Fragment, ...]
    new: tuple[Fragment, ...]
    changed: tuple[tuple[Fragment, Fragment], ...]
    is_back: bool

    @property
    def num_lost(self) -> int:
        """How many versions between the two are not kept."""
        return self.after.version - self.before.version - 1

    @property
    def commit(self) -> int:
        """The version in which a rewrite was committed, as far as it is known."""
        return self.after.version - bool(self.num_lost and self.after.operation not in _UNKNOWN)

    @property
    def doubt(self) -> str | None:
        """What is uncertain about that version."""
        first = self.before.version + 1
        if first == self.commit:
            return None
        return f"it is one of the versions {first} to {self.commit}"


def _steps(
    view: HistoryView,
    history: History,
    recorded: Iterable[RewriteGroup],
) -> Iterator[_UnknownCommit]:
    """Yield the steps that may hide a rewrite."""
    positions = [
        position
        for position in range(1, len(history))
        if not history.follows_previous[position] or history.records[position].operation in _UNKNOWN
    ]
    if not positions:
        return
    known = sorted(recorded, key=lambda group: group.version)
    first_seen = _first_positions(history)
    for position in positions:
        before, after = history.records[position - 1], history.records[position]
        groups = _between(known, before.version, after.version)
        old = {id_ for group in groups for id_ in group.old_ids}
        new = {id_ for group in groups for id_ in group.new_ids}
        step = Step(view, history, position)
        left = [step.removed[id_] for id_ in step.gone_fragments if id_ not in old]
        arrived = [
            step.added[id_]
            for id_ in step.new_fragments
            if id_ not in new and first_seen[id_] == position
        ]
        if left and arrived:
            written = _paths_written(step)
            arrived = [key for key in arrived if _first_path(history.states[key]) not in written]
        if history.is_uncertain[position] or (
            step.num_lost and maybe_restored(view, history, position)
        ):
            continue  # the rewritten fragments may be those of a detached version
        if left and arrived:
            digests = _digests(history, left), _digests(history, arrived)
            states = history.states
            ends = [tuple([states[key] for key in keys]) for keys in (left, arrived)]
            changed = tuple([(states[old], states[new]) for old, new in step.changed.values()])
            is_back = any(first_seen[id_] < position for id_ in step.new_fragments)
            yield _UnknownCommit(before, after, *digests, ends[0], ends[1], changed, is_back)


def _paths_written(step: Step) -> set[str]:
    """Return the data files of the fragments that a version itself added, except by a rewrite."""
    try:
        operation = step.operation
    except FormatError:
        return set()  # which is reported where transactions are read
    match operation:
        case Append(fragments) | Overwrite(fragments):
            new = fragments
        case Update() as update:
            new = update.new_fragments
        case _:
            new = ()
    return {_first_path(fragment) for fragment in new}


def _first_path(fragment: Fragment) -> str:
    return fragment.files[0].path if fragment.files else ""


def _first_positions(history: History) -> dict[int, int]:
    """Return the first position of each fragment ID; intervals begin in order."""
    seen: dict[int, int] = {}
    intervals = history.intervals
    ids = history.states.ids[intervals.keys].tolist()
    for fragment_id, first in zip(ids, intervals.first.tolist(), strict=True):
        seen.setdefault(fragment_id, first)
    return seen


def _between(groups: list[RewriteGroup], begin: int, end: int) -> list[RewriteGroup]:
    first = bisect_right(groups, begin, key=lambda group: group.version)
    return groups[first : bisect_right(groups, end, key=lambda group: group.version)]


def _digests(history: History, keys: list[int]) -> tuple[FragDigest, ...]:
    """Return states as digests, in the order of their fragment IDs."""
    digests = []
    for key in sorted(keys, key=lambda key: history.states[key].id):
        state, deleted = history.states[key], int(history.num_deleted_rows[key])
        known = None if deleted == UNKNOWN_COUNT else deleted
        digests.append(FragDigest(state.id, state.physical_rows, known))
    return tuple(digests)


def _derived(view: HistoryView, step: _UnknownCommit) -> Iterator[RewriteGroup]:
    """Yield the groups that row IDs prove."""
    removed = {digest.id: digest for digest in step.removed}
    added = {digest.id: digest for digest in step.added}
    for number, moved in enumerate(
        moved_rows(view, step.before.version, removed, step.after.version, added)
    ):
        yield RewriteGroup(
            version=step.commit,
            group=number,
            old=tuple([_as_rewritten(removed[id_], count) for id_, count in moved.old.items()]),
            new=tuple([FragDigest(id_, added[id_].physical_rows, 0) for id_ in moved.new]),
            evidence=Evidence.DERIVED,
            source=f"row IDs of versions {step.before.version} and {step.after.version}",
            surviving=moved.surviving,
            note=step.doubt,
        )


def _as_rewritten(digest: FragDigest, num_moved: int) -> FragDigest:
    rows = digest.physical_rows
    return FragDigest(digest.id, rows, None if rows is None else rows - num_moved)


def _inferred(
    view: HistoryView, step: _UnknownCommit, findings: list[Finding]
) -> Iterator[RewriteGroup]:
    """Yield the groups that counts and order allow, if they explain all removed and added ones.

    A group ends where the sums of removed and added rows are equal.
    """
    before = [num_live(digest) for digest in step.removed]
    after = [digest.physical_rows for digest in step.added]
    old_ends = list(accumulate([count for count in before if count is not None]))
    new_ends = list(accumulate([count for count in after if count is not None]))
    if None in before or None in after or old_ends[-1] != new_ends[-1] or not _plausible(step):
        return
    try:
        if step.num_lost and _goes_back(view, step):
            return
    except (FormatError, StorageError, NotFoundError) as error:
        findings.append(_unreadable(step, error))
        return
    old_begin, new_begin = 0, 0
    for number, total in enumerate(sorted({*old_ends} & {*new_ends})):
        old_end, new_end = bisect_right(old_ends, total), bisect_right(new_ends, total)
        added = step.added[new_begin:new_end]
        yield RewriteGroup(
            version=step.commit,
            group=number,
            old=step.removed[old_begin:old_end],
            new=tuple([FragDigest(digest.id, digest.physical_rows, 0) for digest in added]),
            evidence=Evidence.INFERRED,
            source=f"counts and order of versions {step.before.version} and {step.after.version}",
            note=step.doubt,
        )
        old_begin, new_begin = old_end, new_end


def _plausible(step: _UnknownCommit) -> bool:
    """Whether the added fragments may be rewritten, and not written by an overwrite or update.

    Even then they may be others: counts and order prove nothing. A rewrite uses the IDs that the
    commit before it reserved, and has a reason: fewer fragments, or rows to be dropped. If one of
    several fragments may come from a lost update, the order of rows is unknown.
    """
    if speaks_against_rewrite(step.before, step.after, step.old, step.new):
        return False
    ids, highest = [digest.id for digest in step.added], step.before.manifest.max_fragment_id
    if highest is None or ids[0] <= step.removed[-1].id:
        return False
    if not step.num_lost:
        return not step.changed and ids[-1] <= highest
    is_reserved = step.before.operation == OperationName.RESERVE_FRAGMENTS
    first = highest + 1 - (len(ids) if is_reserved else 0)
    commits = step.commit - step.before.version
    if step.changed and commits == 2 - is_reserved and step.after.operation in _CHANGES_NONE:
        return False
    has_time = is_reserved or commits == 2 or (commits > 2 and len(ids) == 1)
    has_reason = len(step.added) < len(step.removed) or any(
        digest.num_deleted_rows for digest in step.removed
    )
    return has_time and has_reason and ids == list(range(first, first + len(ids)))


def _goes_back(view: HistoryView, step: _UnknownCommit) -> bool:
    """Whether fragments or deleted rows came back: then a lost version was a restore."""
    before, after = [FragmentReader(view, record) for record in (step.before, step.after)]
    return step.is_back or any(
        old.deletion_file is not None
        and old.deletion_file != new.deletion_file
        and not before.deleted(old) <= after.deleted(new)
        for old, new in step.changed
    )


def _unreadable(step: _UnknownCommit, error: Exception) -> Finding:
    return Finding(
        "compactions_unreadable",
        f"compactions since version {step.before.version} are unknown: {error}",
        versions=(step.before.version, step.after.version),
    )
