"""The origin of the rows of fragments: the edges between lives, found kind by kind."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from propcache.api import cached_property

from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.rewrites.all_groups import RewriteGroup, rewrites
from lance_explorer.history.steps import same_life
from lance_explorer.lineage.nodes import Edge, FragmentNode, UnseenFragment
from lance_explorer.lineage.updates import update_flows
from lance_explorer.lineage.version_line import LinePart, Origin

__all__ = ["StretchEdges"]

_Ids = tuple[tuple[int, ...], tuple[int, ...]]


class StretchEdges:
    """The nodes and edges of one range of versions.

    Fragments that only a record mentions, since their versions are gone, become nodes too: they are
    in ``unseen`` once the edges are found.
    """

    def __init__(self, stretch: LinePart, parent: "StretchEdges | None" = None) -> None:
        self.stretch = stretch
        self.unseen: dict[FragmentNode, UnseenFragment] = {}
        self._parent = parent
        self._made_unseen: dict[int, FragmentNode] = {}
        self._live = stretch.history.live_rows.tolist()

    @cached_property
    def nodes(self) -> list[FragmentNode]:
        """The node of each life."""
        lives, versions = self.stretch.lives, self.stretch.history.versions
        table, branch = self.stretch.table, self.stretch.view.branch
        return [
            FragmentNode(table, branch, fragment_id, first)
            for fragment_id, first in zip(
                lives.fragment_ids.tolist(), versions[lives.first].tolist(), strict=True
            )
        ]

    def find(self) -> Iterator[Edge]:
        """Yield all edges that end in this range."""
        yield from self._clones()
        yield from self._restores()
        yield from self._column_rewrites()
        yield from self._rewrites()
        yield from self._updates()

    # ------------------------------------------------------------------ compactions

    def _rewrites(self) -> Iterator[Edge]:
        versions = self.stretch.history.versions[: self.stretch.num_versions]
        if not len(versions):
            return
        known = self._parent.rewritten if self._parent else frozenset()
        for group in rewrites(self.stretch.view).between(0, int(versions[-1])):
            if _ids(group) in known:  # a branch inherits the fragment reuse index
                continue
            position = int(np.searchsorted(versions, np.uint64(group.version)))
            old = {digest.id: self._before(position, group, digest) for digest in group.old}
            new = {digest.id: self._after(position, group, digest) for digest in group.new}
            for old_id, new_id, rows in group.rows_moved():
                yield Edge(
                    start=old[old_id],
                    end=new[new_id],
                    kind="rewrite",
                    version=group.version,
                    rows=rows,
                    evidence=group.evidence,
                    source=group.source,
                    group=group.group,
                    group_rows=_total([digest.physical_rows for digest in group.new]),
                )

    @cached_property
    def rewritten(self) -> frozenset[_Ids]:
        """The old and new fragments of each rewrite that led to the end of this range."""
        versions = self.stretch.history.versions[: self.stretch.num_versions]
        last = int(versions[-1]) if len(versions) else 0
        own = {_ids(group) for group in rewrites(self.stretch.view).between(0, last)}
        return frozenset(own) | (self._parent.rewritten if self._parent else frozenset())

    def _before(self, position: int, group: RewriteGroup, digest: FragDigest) -> FragmentNode:
        life = self.stretch.lives.find(digest.id, position - 1) if position else None
        if life is not None:
            return self.nodes[life]
        made = self._made_unseen.get(digest.id)
        if made is not None and made.first_version < group.version:
            return made
        lost = int(self.stretch.history.versions[position - 1]) + 1 if position else 1
        return self._unseen(digest, lost)

    def _after(self, position: int, group: RewriteGroup, digest: FragDigest) -> FragmentNode:
        life = self.stretch.lives.find(digest.id, position)
        if life is not None and self.stretch.lives.first[life] == position:
            return self.nodes[life]
        return self._unseen(digest, group.version, OperationName.REWRITE)

    def _unseen(
        self, digest: FragDigest, first_version: int, operation: str | None = None
    ) -> FragmentNode:
        stretch = self.stretch
        node = FragmentNode(stretch.table, stretch.view.branch, digest.id, first_version)
        deleted = 0 if operation else digest.num_deleted_rows
        self._made_unseen[digest.id] = node
        self.unseen[node] = UnseenFragment(
            node, digest.physical_rows, deleted, operation, is_exact=operation is not None
        )
        return node

    # ------------------------------------------------------------------ updates

    def _updates(self) -> Iterator[Edge]:
        stretch, history = self.stretch, self.stretch.history
        if not stretch.num_versions:
            return
        written = self._rows_written()
        last_version = int(history.versions[stretch.num_versions - 1])
        for flow in update_flows(stretch.view, last_version):
            position = history.position(flow.seen_in)
            old = stretch.lives.find(flow.old, position - 1)
            new = stretch.lives.find(flow.new, position)
            if old is None or new is None:
                continue
            yield Edge(
                start=self.nodes[old],
                end=self.nodes[new],
                kind="update",
                version=flow.version,
                rows=flow.rows,
                evidence=flow.evidence,
                source=flow.source,
                group_rows=written.get(position) if flow.version == flow.seen_in else None,
            )

    def _rows_written(self) -> dict[int, int]:
        """Return the rows of all fragments created at each position, where known."""
        lives = self.stretch.lives
        rows: dict[int, list[int]] = defaultdict(list)
        for position, state in zip(lives.first.tolist(), lives.first_states.tolist(), strict=True):
            rows[position].append(self._live[state])
        return {position: sum(some) for position, some in rows.items() if min(some) >= 0}

    # ------------------------------------------------------------------ columns rewritten

    def _column_rewrites(self) -> Iterator[Edge]:
        lives, history = self.stretch.lives, self.stretch.history
        intervals, states = lives.intervals, history.states
        before: dict[int, int] = {}
        some = np.bincount(lives.of_interval, minlength=len(lives))[lives.of_interval] > 1
        for life, state, position in zip(
            lives.of_interval[some].tolist(),
            intervals.keys[some].tolist(),
            intervals.first[some].tolist(),
            strict=True,
        ):
            old, new = states[before.get(life, state)], states[state]
            before[life] = state
            record = history.records[position]
            if record.operation == OperationName.RESTORE or not _has_new_values(old, new):
                continue
            rows = _known(self._live[state])
            yield Edge(
                start=self.nodes[life],
                end=self.nodes[life],
                kind="column_rewrite",
                version=record.version,
                rows=rows,
                evidence=Evidence.RECORDED,
                source=record.file.path,
                group=new.id,
                group_rows=rows,
            )

    # ------------------------------------------------------------------ what came back

    def _restores(self) -> Iterator[Edge]:
        lives, history = self.stretch.lives, self.stretch.history
        for life, fragment_id in enumerate(lives.fragment_ids.tolist()):
            earlier = lives.of_fragment(fragment_id)
            if earlier[0] == life:
                continue
            state = int(lives.first_states[life])
            back = history.states[state]
            for old in reversed(earlier[: earlier.index(life)]):
                # Not only the last state: a cast may have replaced every file since.
                if any(same_life(history.states[key], back) for key in lives.states(old)):
                    position = int(lives.first[life])
                    yield self._came_back(old, life, state, history.records[position])
                    break

    def _came_back(self, old: int, life: int, state: int, record: VersionRecord) -> Edge:
        rows = _known(self._live[state])
        is_recorded = record.operation == OperationName.RESTORE
        return Edge(
            start=self.nodes[old],
            end=self.nodes[life],
            kind="restore",
            version=record.version,
            rows=rows,
            evidence=Evidence.RECORDED if is_recorded else Evidence.DERIVED,
            source=record.file.path,
            group=int(self.stretch.lives.fragment_ids[life]),
            group_rows=rows,
        )

    # ------------------------------------------------------------------ branches and clones

    def _clones(self) -> Iterator[Edge]:
        fork = self.stretch.fork
        if fork is None:
            return
        lives, history = self.stretch.lives, self.stretch.history
        for life in np.flatnonzero(lives.first == 0).tolist():
            state = int(lives.first_states[life])
            start = self._cloned_from(fork, history.states[state], self._live[state])
            if start is None:
                continue
            rows = _known(self._live[state])
            record = history.records[0]
            yield Edge(
                start=start,
                end=self.nodes[life],
                kind="clone",
                version=record.version,
                rows=rows,
                evidence=Evidence.RECORDED if fork.is_recorded else Evidence.DERIVED,
                source=record.file.path,
                group=int(lives.fragment_ids[life]),
                group_rows=rows,
            )

    def _cloned_from(self, fork: Origin, fragment: Fragment, live: int) -> FragmentNode | None:
        if self._parent is not None:
            node = self._parent.at_end(fragment)
            if node is not None:
                return node
        if not fork.is_recorded and all(file.base_id is None for file in fragment.files):
            return None
        node = FragmentNode(fork.table, fork.branch, fragment.id, fork.version)
        physical = fragment.physical_rows
        deleted = None if physical is None or live < 0 else physical - live
        self.unseen[node] = UnseenFragment(node, physical, deleted)
        return node

    def at_end(self, fragment: Fragment) -> FragmentNode | None:
        """Return the life at the end of this range that a fragment of a branch continues."""
        lives, history = self.stretch.lives, self.stretch.history
        life = lives.find(fragment.id, self.stretch.num_versions - 1)
        if life is None or not same_life(history.states[lives.last_states[life]], fragment):
            return None
        return self.nodes[life]


def _ids(group: RewriteGroup) -> _Ids:
    return group.old_ids, group.new_ids


def _has_new_values(before: Fragment, after: Fragment) -> bool:
    """Whether a state has a file or an overlay that the previous one lacks."""
    if before.files == after.files and before.overlays == after.overlays:
        return False
    return bool(
        {file.path for file in after.files} - {file.path for file in before.files}
        or set(after.overlays) - set(before.overlays)
    )


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _known(count: int) -> int | None:
    return None if count < 0 else count
