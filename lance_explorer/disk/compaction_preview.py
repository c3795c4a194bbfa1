"""What a compaction would rewrite, what that takes, and why other fragments stay."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from lance_explorer.arguments import of_kind
from lance_explorer.disk.compaction import (
    REASONS,
    CompactionPlan,
    compaction_options,
    plan_compaction,
)
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.frames.columns import BYTES, COUNT, ID, TEXT, Column, FrameSchema
from lance_explorer.frames.counts import nullable
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import byte_size, counted
from lance_explorer.history.history import UNKNOWN_COUNT, History
from lance_explorer.history.source import TableSource
from lance_explorer.shown import described

__all__ = ["FRAGMENTS", "SUMMARY", "TASKS", "CompactionPreview", "compaction_preview"]

_READ = Column("read_bytes", BYTES, "size of their data files; null: not recorded", True, "bytes")
_WRITTEN = Column(
    "written_bytes",
    BYTES,
    "about how much is written: the part of `read_bytes` that its live rows are",
    True,
    "bytes",
)

TASKS = FrameSchema(
    "compaction_tasks",
    (
        Column("task", COUNT, "number of the task, from 0"),
        Column("fragment_ids", pl.List(pl.UInt64()), "fragments that are rewritten together"),
        Column("num_fragments", COUNT, "how many they are"),
        Column("num_rows", COUNT, "live rows in them"),
        Column("num_deleted_rows", COUNT, "deleted rows that are dropped"),
        Column("num_new_fragments", COUNT, "about how many fragments they become"),
        _READ,
        _WRITTEN,
    ),
)

FRAGMENTS = FrameSchema(
    "compaction_fragments",
    (
        Column("fragment_id", ID, "ID of the fragment"),
        Column("physical_rows", COUNT, "rows, deleted ones included", nullable=True),
        Column("num_deleted_rows", COUNT, "deleted rows", nullable=True),
        Column("data_bytes", BYTES, "size of its data files; null: not recorded", True, "bytes"),
        Column("is_rewritten", pl.Boolean(), "whether a task rewrites it"),
        Column("task", COUNT, "number of that task", nullable=True),
        Column(
            "reason",
            pl.Enum(REASONS),
            "`small`, `many_deleted_rows`: why it is rewritten; `large_enough`; "
            "`few_deleted_rows`: large enough, and not more of it is deleted than the threshold; "
            "`alone`: small, but no neighbour is to be rewritten; `walled_in_by_index`: small, but "
            "its neighbours are covered by other index segments; `excluded`; `over_budget`: a "
            "later run would rewrite it; `unknown_rows`: the manifest does not count them",
        ),
        Column("message", TEXT, "the same in words"),
    ),
)

SUMMARY = FrameSchema(
    "compaction_summary",
    (
        Column("num_tasks", COUNT, "how many tasks there are"),
        Column("num_fragments", COUNT, "fragments now"),
        Column("num_rewritten", COUNT, "fragments that are rewritten"),
        Column("num_fragments_after", COUNT, "about how many fragments there are then"),
        Column("num_rows", COUNT, "live rows that are rewritten"),
        Column("num_deleted_rows", COUNT, "deleted rows that are dropped"),
        _READ,
        _WRITTEN,
        Column(
            "indices_to_remap",
            pl.List(pl.String()),
            "indices whose entries are rewritten in the same commit; none with stable row IDs",
        ),
        Column("num_remapped_rows", COUNT, "row addresses that change in them, held in memory"),
    ),
)


class CompactionPreview:
    """What ``compact_files`` would do to a version; nothing is rewritten.

    Made by :meth:`Table.compaction_preview`. The old files stay until a cleanup removes them.

    Attributes
    ----------
    problem : str or None
        Why Lance would refuse, or what may be otherwise than told here.
    code : str
        The call that does it.

    Examples
    --------
    >>> table.compaction_preview()
    CompactionPreview(people.lance: 3 fragments become about 1, ...)
    """

    def __init__(
        self, source: TableSource, history: History, plan: CompactionPlan, given: Mapping[str, Any]
    ) -> None:
        self._plan = of_kind("plan", plan, CompactionPlan, "what plan_compaction() gives")
        self._source, self._history, self._given = source, history, given

    @described
    def __repr__(self) -> str:
        name = self._source.uri.rstrip("/").rpartition("/")[2]
        return f"CompactionPreview({name}: {self.sentence})"

    @property
    def sentence(self) -> str:
        """What it comes to, in one sentence."""
        found = self.summary().row(0, named=True)
        if not found["num_tasks"]:
            return self.problem or "nothing to rewrite"
        size = found["read_bytes"]
        reads = "" if size is None else f", {byte_size(size)} are read"
        rewritten = counted(found["num_rewritten"], "fragment")
        new = found["num_fragments_after"] - found["num_fragments"] + found["num_rewritten"]
        dropped = counted(found["num_deleted_rows"], "deleted row")
        return f"{rewritten} become about {new:,}, {dropped} are dropped{reads}"

    @property
    def problem(self) -> str | None:
        """Why Lance would refuse."""
        return self._plan.problem

    @property
    def code(self) -> str:
        """The call that does it."""
        given = ", ".join([f"{name}={value!r}" for name, value in self._given.items()])
        branch = self._source.branch
        at = f'.checkout_version(("{branch}", None))' if branch else ""
        return f"dataset{at}.optimize.compact_files({given})"

    @documented(TASKS)
    def tasks(self) -> pl.DataFrame:
        """Return what is rewritten together, one row for each task.

        Examples
        --------
        >>> table.compaction_preview().tasks()["num_deleted_rows"].to_list()
        [2]
        """
        tasks, ids = self._plan.tasks, self._history.states.ids
        rows = [int(self._live[task].sum()) for task in tasks]
        read = [self._bytes(task) for task in tasks]
        target = self._plan.options.target_rows_per_fragment
        return TASKS.build(
            {
                "task": range(len(tasks)),
                "fragment_ids": [ids[task].tolist() for task in tasks],
                "num_fragments": [len(task) for task in tasks],
                "num_rows": rows,
                "num_deleted_rows": [int(self._deleted[task].sum()) for task in tasks],
                "num_new_fragments": [-(-count // target) for count in rows],
                "read_bytes": read,
                "written_bytes": [self._written(task) for task in tasks],
            }
        )

    @documented(FRAGMENTS)
    def fragments(self) -> pl.DataFrame:
        """Return all fragments: which are rewritten, and why the others stay.

        Examples
        --------
        >>> table.compaction_preview().fragments()["is_rewritten"].all()
        True
        """
        states = self._history.states
        of_task = np.full(len(states), -1)
        for number, task in enumerate(self._plan.tasks):
            of_task[task] = number
        reasons = pl.Series(self._plan.reasons).replace_strict(
            range(len(REASONS)), REASONS, return_dtype=pl.String
        )
        words = self._words()
        return FRAGMENTS.build(
            {
                "fragment_id": states.ids,
                "physical_rows": nullable(states.physical_rows),
                "num_deleted_rows": nullable(self._history.num_deleted_rows),
                "data_bytes": nullable(states.data_bytes),
                "is_rewritten": of_task >= 0,
                "task": nullable(of_task),
                "reason": reasons.cast(pl.Enum(REASONS)),
                "message": reasons.replace_strict(words, return_dtype=pl.String),
            }
        )

    @documented(SUMMARY)
    def summary(self) -> pl.DataFrame:
        """Return what the compaction takes, in one row.

        Examples
        --------
        >>> table.compaction_preview().summary()["indices_to_remap"].to_list()
        [[]]
        """
        tasks = self.tasks()
        count, new = int(tasks["num_fragments"].sum()), int(tasks["num_new_fragments"].sum())
        read, written = [
            None if tasks[name].null_count() else int(tasks[name].sum())
            for name in ("read_bytes", "written_bytes")
        ]
        indices = self._indices_to_remap()
        physical = int((tasks["num_rows"] + tasks["num_deleted_rows"]).sum())
        return SUMMARY.build(
            {
                "num_tasks": [len(tasks)],
                "num_fragments": [len(self._history.states)],
                "num_rewritten": [count],
                "num_fragments_after": [len(self._history.states) - count + new],
                "num_rows": [int(tasks["num_rows"].sum())],
                "num_deleted_rows": [int(tasks["num_deleted_rows"].sum())],
                "read_bytes": [read],
                "written_bytes": [written],
                "indices_to_remap": [indices],
                "num_remapped_rows": [physical if indices else 0],
            }
        )

    def _words(self) -> dict[str, str]:
        """Return what each reason means for this table."""
        options = self._plan.options
        target = f"{options.target_rows_per_fragment:,} rows"
        share = f"{options.materialize_deletions_threshold:.0%}"
        return {
            "small": f"it has fewer than {target}, and so has a neighbour",
            "many_deleted_rows": f"more than {share} of it is deleted, or it has many overlays",
            "large_enough": f"it has {target} or more, and no deleted rows",
            "few_deleted_rows": f"it has {target} or more, and at most {share} of it is deleted",
            "alone": f"it has fewer than {target}, but neither neighbour is to be rewritten",
            "walled_in_by_index": f"it has fewer than {target}, but other index segments cover its "
            "neighbours: update the indices first, with dataset.optimize.optimize_indices()",
            "excluded": "it was excluded",
            "over_budget": "the budget of this run is used up: run it again",
            "unknown_rows": "the manifest does not count its rows; Lance reads its files for that",
        }

    def _indices_to_remap(self) -> list[str]:
        record = self._history.records[0]
        is_stable = bool(record.manifest.reader_feature_flags & STABLE_ROW_IDS)
        if is_stable or self._plan.options.defer_index_remap or not self._plan.tasks:
            return []
        ids = {int(each) for each in self._history.states.ids[np.concatenate(self._plan.tasks)]}
        covering = {
            segment.name
            for segment in self._plan.segments
            if (covered := segment.fragment_ids()) is None or not ids.isdisjoint(covered)
        }
        return sorted(covering)

    @cached_property
    def _live(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        return self._history.live_rows

    @cached_property
    def _deleted(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.maximum(self._history.num_deleted_rows, 0)

    def _bytes(self, task: np.ndarray[Any, np.dtype[np.int64]]) -> int | None:
        sizes = self._history.states.data_bytes[task]
        return None if (sizes == UNKNOWN_COUNT).any() else int(sizes.sum())

    def _written(self, task: np.ndarray[Any, np.dtype[np.int64]]) -> int | None:
        sizes = self._history.states.data_bytes[task]
        physical = np.maximum(self._history.states.physical_rows[task], 1)
        if (sizes == UNKNOWN_COUNT).any():
            return None
        return int((sizes * (self._live[task] / physical)).sum())


def compaction_preview(source: TableSource, given: Mapping[str, Any]) -> CompactionPreview:
    """Return what a compaction of the latest version would do."""
    history = source.version(source.latest_version)
    plan = plan_compaction(source, history, compaction_options(history, given))
    return CompactionPreview(source, history, plan, given)
