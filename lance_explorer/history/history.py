"""The history of a table as a value: its kept versions, and the states of its fragments."""

from dataclasses import dataclass, field, replace

import numpy as np
from msgspec import structs
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.errors import FormatError, VersionNotFoundError
from lance_explorer.findings import Finding
from lance_explorer.format.indices import IndexMetadata
from lance_explorer.format.manifest import Manifest
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.record import Record
from lance_explorer.format.schema import Field
from lance_explorer.format.transactions import TransactionHeader
from lance_explorer.history.graph.commits import CommitLine
from lance_explorer.history.graph.walks import CommitGraph
from lance_explorer.history.intervals import NO_INTERVALS, Intervals
from lance_explorer.history.listing import FIRST_DETACHED, VersionFile
from lance_explorer.history.states import UNKNOWN_COUNT, States

__all__ = [
    "EMPTY_HISTORY",
    "KEEPS_FRAGMENTS",
    "UNKNOWN_COUNT",
    "History",
    "StoredTransaction",
    "UnreadableVersion",
    "VersionRecord",
]


KEEPS_FRAGMENTS = frozenset(
    [
        OperationName.APPEND,
        OperationName.CREATE_INDEX,
        OperationName.RESERVE_FRAGMENTS,
        OperationName.UPDATE_BASES,
        OperationName.UPDATE_CONFIG,
        OperationName.UPDATE_MEM_WAL_STATE,
    ]
)
"""Operations that change no existing fragment."""


class StoredTransaction(Record, frozen=True):
    """The transaction of a version: its source, its place, and its bytes if they are few.

    ``source`` is ``manifest`` if it is inlined there, else ``file`` (of its own).
    """

    header: TransactionHeader
    source: str
    path: str
    offset: int
    num_bytes: int
    data: bytes | None


class VersionRecord(Record, frozen=True):
    """One kept version. Equal schemas and index lists of neighbours are the same objects.

    ``operation`` is as Lance names it, ``unknown``, or None where no transaction is left.
    ``num_new_row_ids`` counts, for an Update with stable row IDs, the rows of new fragments whose
    IDs the version before had not assigned; None for others, and where that cannot be told.
    ``is_derived`` tells that the manifest was not read whole: an append in a store, whose other
    fragments are those of the version before (:mod:`lance_explorer.history.manifest_reading`).
    """

    version: int
    operation: OperationName | None
    file: VersionFile
    manifest: Manifest
    schema: tuple[Field, ...]
    indices: tuple[IndexMetadata, ...]
    transaction: StoredTransaction | None
    schema_bytes: int
    fragment_bytes: int
    index_section_bytes: int
    num_new_row_ids: int | None
    is_derived: bool = False

    @property
    def restored_version(self) -> int | None:
        """The version that a Restore went back to; None for other commits, and if it is unknown."""
        return self.transaction.header.restored_version if self.transaction else None


@dataclass(frozen=True, slots=True)
class UnreadableVersion:
    """A version whose manifest is damaged, or uses an unknown feature."""

    file: VersionFile
    error: FormatError


@dataclass(frozen=True)
class History:
    """The content of all kept manifests of one branch.

    Attributes
    ----------
    records : tuple of VersionRecord
        The kept and readable versions, ascending.
    states : States
        The distinct states of fragments; the number of a state is its position here.
    num_deleted_rows : NDArray[np.int64]
        For each state, its deleted rows; UNKNOWN_COUNT if they are unknown.
    intervals : Intervals
        In which of ``records`` each state was there.
    detached : tuple of VersionFile
        Versions that are in no line of history.
    unreadable : tuple of UnreadableVersion
        Versions whose manifests could not be understood; they count as not kept.
    findings : tuple of Finding
        What was wrong with files that could not be used.
    duplicated : frozenset of int
        Versions in which two fragments have one ID. A state has one count.
    """

    records: tuple[VersionRecord, ...]
    states: States
    num_deleted_rows: NDArray[np.int64]
    intervals: Intervals
    detached: tuple[VersionFile, ...] = ()
    unreadable: tuple[UnreadableVersion, ...] = ()
    findings: tuple[Finding, ...] = ()
    duplicated: frozenset[int] = frozenset()
    _positions: dict[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        positions = {record.version: position for position, record in enumerate(self.records)}
        object.__setattr__(self, "_positions", positions)

    def __len__(self) -> int:
        return len(self.records)

    def __contains__(self, version: int) -> bool:
        return version in self._positions

    @cached_property
    def versions(self) -> NDArray[np.uint64]:
        """The kept version numbers, ascending."""
        return np.array([record.version for record in self.records], dtype=np.uint64)

    @cached_property
    def follows_previous(self) -> NDArray[np.bool_]:
        """For each record, whether the previous version is kept; before 1 is the empty table.

        The first version of a branch or clone follows none, although it may have number 1. Nor does
        an uncertain commit: unknown versions may lie before it.
        """
        previous = np.concatenate([np.zeros(1, np.uint64), self.versions])[:-1]
        follows: NDArray[np.bool_] = self.versions == previous + np.uint64(1)
        return follows & ~self._are_clones & ~self.is_uncertain

    @cached_property
    def is_uncertain(self) -> NDArray[np.bool_]:
        """For each record, whether nothing is derived from its commit (docs/EVIDENCE.md).

        That is the case for the first Restore of each detached version, and for commits on another
        table.
        """
        restored = self.restored
        of_detached = [restored.get(one.version, 0) >= FIRST_DETACHED for one in self.records]
        return np.array(of_detached, dtype=np.bool_) | self.is_of_another_table

    @cached_property
    def is_of_another_table(self) -> NDArray[np.bool_]:
        """For each record, whether its commit was made on another table than its predecessor.

        A process that holds a table which is dropped and created again may still commit. Its
        version has other data files under the same fragment IDs, and its operation changes none.
        """
        result = np.zeros(len(self), dtype=np.bool_)
        keeps = np.array([one.operation in KEEPS_FRAGMENTS for one in self.records], np.bool_)
        positions = np.unique(self.intervals.last + 1)
        for position in positions[positions < len(self)].tolist():
            if keeps[position] and not self.num_lost_before[position]:
                gone = self.by_id(self.states_removed(position))
                new = self.by_id(self.states_added(position))
                pairs = [(gone[key], new[key]) for key in gone.keys() & new.keys()]
                result[position] = bool(pairs) and not any(map(self._share_a_file, pairs))
        return result

    def _share_a_file(self, states: tuple[int, int]) -> bool:
        before, after = [{file.path for file in self.states[one].files} for one in states]
        return not before.isdisjoint(after)

    @cached_property
    def restored(self) -> dict[int, int]:
        """For each Restore the version that it went back to; 0 if it is not recorded.

        A detached version that was restored before counts as the first restore of it.
        """
        restored, first = dict[int, int](), dict[int, int]()
        for record in self.records:
            if record.operation == OperationName.RESTORE:
                target = record.restored_version or 0
                restored[record.version] = first.get(target, target)
                if target >= FIRST_DETACHED:
                    first.setdefault(target, record.version)
        return restored

    @cached_property
    def num_lost_before(self) -> NDArray[np.int64]:
        """For each record, how many versions directly before it are not kept."""
        previous = np.concatenate([np.zeros(1, np.uint64), self.versions])[:-1]
        lost = (self.versions - previous).astype(np.int64) - 1
        return np.where(self._are_clones, 0, lost)

    @cached_property
    def begins_exactly(self) -> NDArray[np.bool_]:
        """For each record, whether what is new in it cannot have existed before.

        That is the case if the previous version is kept, and at the first version of a branch or
        clone.
        """
        return self.follows_previous | self._are_clones

    @cached_property
    def graph(self) -> CommitGraph:
        """The commits of this branch, without the branch's identity."""
        return CommitGraph([self.line])

    @cached_property
    def line(self) -> CommitLine:
        """What is known of the commits of this branch."""
        versions = self.versions.tolist()
        # A detached version does not record its base: any commits may lie between.
        detached = {
            target: version - 1
            for version, target in self.restored.items()
            if target >= FIRST_DETACHED
        }
        begin = versions[0] if versions and self._are_clones[0] else 1
        recorded = frozenset([one.version for one in self.records if one.file.is_recorded])
        return CommitLine("", versions, self.restored, detached, begin, recorded=recorded)

    @property
    def _are_clones(self) -> NDArray[np.bool_]:
        return np.array(
            [record.operation == OperationName.CLONE for record in self.records], dtype=np.bool_
        )

    @cached_property
    def versions_read(self) -> tuple[int, ...]:
        """The versions whose files were read, including unreadable ones, ascending."""
        unreadable = [version.file.version for version in self.unreadable]
        return tuple(sorted([*self._positions, *unreadable]))

    def position(self, version: int) -> int:
        """Return the position of a version in ``records``."""
        try:
            return self._positions[version]
        except KeyError:
            raise VersionNotFoundError(f"version {version} is not kept") from None

    def states_added(self, position: int) -> NDArray[np.int64]:
        """Return the states of a version that its kept predecessor lacks.

        Both states of a changed fragment count: the later one is added, the earlier one removed.
        """
        keys, begins = self._added
        return keys[begins[position] : begins[position + 1]]

    def states_removed(self, position: int) -> NDArray[np.int64]:
        """Return the states of the kept predecessor that a version lacks."""
        keys, begins = self._removed
        return keys[begins[position] : begins[position + 1]]

    def alone(self, version: int) -> "History":
        """Return the history of one version, as if no other were kept."""
        position = self.position(version)
        numbers = np.array(self.states_at(position), dtype=np.int64)
        nowhere = np.zeros(len(numbers), dtype=np.int64)
        return History(
            records=(structs.replace(self.records[position], num_new_row_ids=None),),
            states=self.states.only(numbers),
            num_deleted_rows=self.num_deleted_rows[numbers],
            intervals=Intervals(np.arange(len(numbers)), nowhere, nowhere),
            findings=tuple([f for f in self.findings if f.versions == (version, version)]),
            duplicated=self.duplicated & {version},
        )

    def of_fragments(self, fragments: range) -> "History":
        """Return the same with only some fragments; states keep their numbers.

        Parameters
        ----------
        fragments : range
            Their IDs.
        """
        intervals = self.intervals
        ids = self.states.ids[intervals.keys]
        chosen = (ids >= np.uint64(fragments.start)) & (ids < np.uint64(fragments.stop))
        some = Intervals(intervals.keys[chosen], intervals.first[chosen], intervals.last[chosen])
        return replace(self, intervals=some)

    def by_id(self, states: NDArray[np.int64]) -> dict[int, int]:
        """Return states by their fragment IDs."""
        return dict(zip(self.states.ids[states].tolist(), states.tolist(), strict=True))

    @cached_property
    def changed_positions(self) -> NDArray[np.int64]:
        """The positions at which any state was added or removed, ascending."""
        positions = np.union1d(self.intervals.first, self.intervals.last + 1)
        return positions[positions < len(self)]

    @cached_property
    def _added(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _grouped(self.intervals.keys, self.intervals.first, len(self))

    @cached_property
    def _removed(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        return _grouped(self.intervals.keys, self.intervals.last + 1, len(self))

    def states_at(self, position: int) -> list[int]:
        """Return the states of one version, in the order of their fragment IDs."""
        states = self.intervals.at(position)
        numbers: list[int] = states[np.argsort(self.states.ids[states], kind="stable")].tolist()
        return numbers

    @cached_property
    def live_rows(self) -> NDArray[np.int64]:
        """For each state, its rows that are not deleted.

        UNKNOWN_COUNT if a number is unknown, or numbers contradict.
        """
        physical, deleted = self.states.physical_rows, self.num_deleted_rows
        is_known = (deleted >= 0) & (physical >= deleted)
        return np.where(is_known, physical - deleted, UNKNOWN_COUNT)


def _grouped(
    keys: NDArray[np.int64], positions: NDArray[np.int64], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return keys in the order of their positions, and where those of each position begin."""
    order = np.argsort(positions, kind="stable")
    return keys[order], np.searchsorted(positions[order], np.arange(count + 1))


EMPTY_HISTORY = History((), States(), np.empty(0, dtype=np.int64), NO_INTERVALS)
"""The history of a table before its first version."""
