"""Rows without stable row IDs, identified by the address at which each was first written.

A row is born in a fragment, whose ID and the offset identify it from then on. Fragments that a
compaction wrote have the rows of those that it read, and fragments that ``update()`` wrote have the
rows that it removed, in order (which is inferred). All others have rows of their own. If an ID was
given to a second fragment, the rows of that one have identities that are not addresses.

The versions that created and updated rows, which stable tables store, are replayed.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import zip_longest

from propcache.api import cached_property

from lance_explorer.format.column_operations import DataReplacement, Merge
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.row_operations import Update
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.file_changes import InPlace, homes_of, in_place
from lance_explorer.history.identity.inherited_origins import (
    born_rows,
    inherited_origins,
    overwritten,
    unknown_origins,
    whole_fragment,
)
from lance_explorer.history.identity.row_origins import (
    ANY_VERSION,
    NO_VERSION,
    RowOrigins,
    VersionsFrom,
    constant_versions,
)
from lance_explorer.history.identity.stored_rows import StoredRows
from lance_explorer.history.identity.ways import StateRows
from lance_explorer.history.rewrites.all_groups import RewriteGroup, rewrites
from lance_explorer.history.rewrites.group_rows import pair_rows, reading_deletions
from lance_explorer.history.rewrites.witnesses import is_made_anew
from lance_explorer.history.steps import Step, same_life
from lance_explorer.history.update_kinds import (
    has_new_rows,
    inserts_nothing,
    is_plain_update,
)
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.offsets import OffsetRanges, rows_at
from lance_explorer.rowids.runs import RunColumns
from lance_explorer.rowids.sequence import Ranges, RowIdSequence

__all__ = ["RowsByAddress"]

_LAST_NUMBER = (1 << 32) - 2


class RowsByAddress(StateRows):
    """The rows of a table without stable row IDs: all found in one pass over its versions."""

    def ids(self, state: int) -> RowIdSequence:
        """Return the identities of the rows of a state; states may share the sequence itself."""
        return self._whole.origins[state].ids

    def origins(self, state: int) -> RowOrigins:
        """Return identities and row versions of a state."""
        return self._whole.origins[state]

    def load(self, states: Collection[int], *, versions: bool = True) -> None:
        """Read nothing: no state stores the identities of its rows."""

    @property
    def doubtful_links(self) -> dict[int, list[RowIdSequence]]:
        """By position, the rows that only counts and order link to rows before lost versions."""
        return self._whole.doubtful_links

    @cached_property
    def _whole(self) -> "_Pass":
        stored, records = self.stored, self.history.records
        updates = [
            position
            for position in range(1, len(records))
            if records[position].operation == OperationName.UPDATE
            and self.history.follows_previous[position]
        ]
        stored.load_deleted(stored.changed_states(updates).tolist())
        pass_ = _Pass(stored)
        with (
            self.view.reading_transactions(records),
            reading_deletions(self.view, rewrites(self.view).groups),
        ):
            for position in range(len(records)):
                pass_.step(position)
        return pass_


class _Pass:
    """The path through the versions, oldest first."""

    def __init__(self, rows: StoredRows) -> None:
        self.origins: dict[int, RowOrigins] = {}
        self.doubtful_links: dict[int, list[RowIdSequence]] = {}
        self._rows = rows
        self._history = rows.history
        self._states = rows.history.states
        self._by_file: dict[tuple[int, str], int] = {}
        self._by_files: dict[tuple[object, ...], int] = {}
        self._goes_back = any(
            record.operation == OperationName.RESTORE or not follows
            for record, follows in zip(
                self._history.records[1:], self._history.follows_previous[1:], strict=True
            )
        )
        self._numbers = set[int]()
        self._next_number = _LAST_NUMBER

    def step(self, position: int) -> None:
        """Find the origins of the new states."""
        new = self._rows.new_states(position)
        if not new:
            return
        here = _Commit(self._rows.view, self._history, position)
        born = []
        for state in sorted(new, key=lambda state: self._states[state].id):
            fragment = self._states[state]
            earlier = self._earlier(here, fragment)
            if earlier is None:
                born.append(state)
            else:
                self.origins[state] = self._changed(here, earlier, fragment)
        if born:
            self._bear(here, born)
        for state in new:
            fragment = self._states[state]
            self._by_file.update(((fragment.id, file.path), state) for file in fragment.files)
            if self._goes_back:
                self._by_files.setdefault(homes_of(fragment), state)

    def _earlier(self, here: "_Commit", fragment: Fragment) -> int | None:
        """Return an earlier state of the same fragment, the nearest that can be found."""
        before = here.removed.get(fragment.id)
        goes_back = not here.follows or here.after.operation == OperationName.RESTORE
        files = homes_of(fragment)
        # A restore, or a lost one, brings back a state from before a write in place: the same data
        # files and overlays. The previous state is of the same fragment, but not the nearest.
        if goes_back and (before is None or homes_of(self._states[before]) != files):
            state = self._by_files.get(files)  # from before others were written in place
            if state is not None:
                return state
        if before is not None:
            operation = here.after.operation if here.follows else None
            if same_life(self._states[before], fragment, operation):
                return before
        # Up to 8.0.1 an Overwrite restarts fragment IDs, so an ID alone proves nothing over a
        # restore (docs/FORMAT.md 11); a data file is never written twice under one name.
        paths = [(fragment.id, file.path) for file in fragment.files]
        known = [self._by_file[path] for path in paths if path in self._by_file]
        return known[0] if known else None

    # ------------------------------------------------------------------- fragments that stay

    def _changed(self, here: "_Commit", earlier: int, fragment: Fragment) -> RowOrigins:
        before = self.origins[earlier]
        if not here.follows or here.after.operation == OperationName.RESTORE:
            return before  # lost versions may have written it
        if in_place(self._states[earlier], fragment, here.schemas) is InPlace.SAME:
            return before
        written = self._written(here, earlier, fragment)
        if written is None:
            return before
        assert before.updated is not None
        return replace(before, updated=overwritten(before.updated, written, here.version))

    def _written(self, here: "_Commit", earlier: int, fragment: Fragment) -> OffsetRanges | None:
        """Return which rows got other values in place; None if that is not recorded."""
        known = self._states[earlier].overlays
        new = [overlay for overlay in fragment.overlays if overlay not in known]
        if new and self._states[earlier].files == fragment.files:
            covered = new[0].covered_offsets()
            covered.update(*[overlay.covered_offsets() for overlay in new[1:]])
            return OffsetRanges.of(covered)
        match here.operation:
            case Merge() | DataReplacement():
                return whole_fragment(len(self.origins[earlier].ids))
            case Update() as update:
                offsets = update.offsets(fragment.id)
                return None if offsets is None else OffsetRanges.of(offsets)
            case _:
                return None

    # ------------------------------------------------------------------- fragments that are new

    def _bear(self, here: "_Commit", born: list[int]) -> None:
        """Find the origins of states of new fragments."""
        masked = RunColumns.concatenated(self._masked(here) if here.is_update else [])
        inherited = self._rewritten(here) or self._updated(here, born, masked)
        for state in born:
            fragment = self._states[state]
            origins = inherited.get(fragment.id)
            if origins is None or len(origins.ids) != (fragment.physical_rows or 0):
                origins = self._own(here, fragment, bool(masked.num_rows))
            self.origins[state] = origins

    def _own(self, here: "_Commit", fragment: Fragment, is_unpaired: bool) -> RowOrigins:
        number, rows = self._number(fragment.id), fragment.physical_rows or 0
        version = here.version_of_new(fragment)
        versions = constant_versions(version, rows)
        open_until = NO_VERSION
        if here.before is None and version == NO_VERSION:
            open_until = here.version  # a lost version may have made them from other rows
        elif here.before is not None and (is_unpaired or version == NO_VERSION):
            open_until = version or ANY_VERSION
        return RowOrigins(born_rows(number, rows), versions, versions, open_until=open_until)

    def _number(self, fragment_id: int) -> int:
        """Return the number under which rows of a fragment are born: its ID if that is unused."""
        number = fragment_id
        if number in self._numbers:
            number, self._next_number = self._next_number, self._next_number - 1
        self._numbers.add(number)
        return number

    def _rewritten(self, here: "_Commit") -> dict[int, RowOrigins]:
        """Return the origins of the fragments that compactions wrote, by ID."""
        origins: dict[int, RowOrigins] = {}
        for group in here.groups():
            rows = pair_rows(self._rows.view, group)
            if isinstance(rows, str) or here.denies(group):
                continue
            old = {
                digest.id: self._old_origins(here, digest.id, recorded, origins)
                for digest, recorded in zip_longest(group.old, group.recorded)
            }
            known = {key: value for key, value in old.items() if value is not None}
            counts = {digest.id: digest.physical_rows or 0 for digest in group.old}
            for key in old.keys() - known.keys():  # it was never kept
                known[key] = unknown_origins(key, counts[key])
            for key, origins_of_key in inherited_origins(rows, known, group):
                origins[key] = origins_of_key
                if group.evidence is Evidence.INFERRED:  # lost versions may have replaced them
                    origins[key] = replace(
                        origins_of_key,
                        open_until=max(origins_of_key.open_until, here.version),
                        links=origins_of_key.links | {here.position},
                    )
                    self.doubtful_links.setdefault(here.position, []).append(origins_of_key.ids)
        return origins

    def _old_origins(
        self,
        here: "_Commit",
        fragment_id: int,
        recorded: Fragment | None,
        origins: dict[int, RowOrigins],
    ) -> RowOrigins | None:
        if fragment_id in origins:
            return origins[fragment_id]
        state = here.removed.get(fragment_id)
        if state is not None and recorded is not None and not here.follows:
            own = [(fragment_id, file.path) for file in recorded.files]
            if {file.path for file in self._states[state].files}.isdisjoint(
                [path for _, path in own]
            ):  # lost versions may have given its ID to another fragment
                state = next((self._by_file[key] for key in own if key in self._by_file), None)
                if state is None:
                    number = self._number(fragment_id)
                    return unknown_origins(number, recorded.physical_rows or 0)
        return None if state is None else self.origins[state]

    def _updated(
        self, here: "_Commit", born: list[int], masked: RunColumns
    ) -> dict[int, RowOrigins]:
        """Return the origins of fragments with updated rows, if the order shows them."""
        update = here.operation
        if not isinstance(update, Update):
            return {}
        counts = {self._states[state].id: self._states[state].physical_rows or 0 for state in born}
        num_new = sum(counts.values())
        only_one = num_new == 1 and inserts_nothing(update.inserted_rows)
        is_plain = is_plain_update(update, here.after.schema) and not self._is_in_place(here)
        if masked.num_rows != num_new or not (only_one or is_plain):
            return {}
        ids = RowIdSequence((Ranges(masked.start, masked.stop),))
        old = [(key, self.origins[state].created) for key, state in here.removed.items()]
        created = VersionsFrom.of([(key, runs) for key, runs in old if runs is not None]).along(
            masked.address, masked.stop - masked.start
        )
        removed = [self.origins[state] for state in here.removed.values()]
        open_until = max(some.open_until for some in removed)
        links = frozenset[int]().union(*[some.links for some in removed])
        begin, origins = 0, {}
        for fragment_id, count in sorted(counts.items()):
            end = begin + count
            origins[fragment_id] = RowOrigins(
                ids.slice(begin, end),
                created.slice(begin, end),
                constant_versions(here.version, count),
                Evidence.INFERRED,
                open_until,
                links,
            )
            begin = end
        return origins

    def _is_in_place(self, here: "_Commit") -> bool:
        """Whether some fragment got other files, which ``update()`` never does."""
        return any(
            in_place(self._states[before], self._states[after], here.schemas) is not InPlace.SAME
            for before, after in here.changed.values()
        )

    def _masked(self, here: "_Commit") -> Iterator[RunColumns]:
        """Yield the rows that were live before and are not at their old address, in scan order."""
        for fragment_id, state in sorted(here.removed.items()):
            deleted = self._rows.deleted(state)
            new = here.added.get(fragment_id)
            if new is None or new not in self.origins:
                offsets = OffsetRanges.outside(deleted, self._rows.num_rows(state))
            else:
                offsets = OffsetRanges.of(self._rows.deleted(new) - deleted)
            yield rows_at(self.origins[state].ids, first_address(fragment_id), offsets)


class _Commit(Step):
    """The parts of a version on which the origins of rows depend."""

    @property
    def is_update(self) -> bool:
        """Whether the previous version is known, and an Update removed and added rows."""
        return self.follows and isinstance(self.operation, Update)

    def groups(self) -> list[RewriteGroup]:
        """Return what compactions wrote since the previous kept version."""
        return rewrites(self._view).in_effect(self.begin_version, self.version)

    def denies(self, group: RewriteGroup) -> bool:
        """Whether the fragments that a lost version is recorded to have written are others."""
        if self.before is None or group.version == self.version:
            return False
        states = self.history.states
        old, new = [
            [states[some[id_]] for id_ in ids if id_ in some]
            for ids, some in ((group.old_ids, self.removed), (group.new_ids, self.added))
        ]
        return is_made_anew(self.before, self.after, old, new)

    def version_of_new(self, fragment: Fragment) -> int:
        """Return the version that wrote the rows of a new fragment; NO_VERSION if unknown."""
        name = self.after.operation
        if name in (
            OperationName.CLONE,
            OperationName.RESTORE,
            OperationName.REWRITE,
            OperationName.UNKNOWN,
            None,
        ):
            return NO_VERSION
        if self.follows or name == OperationName.OVERWRITE:
            return self.version
        return self.version if has_new_rows(self.operation, fragment) else NO_VERSION
