"""What a compaction would rewrite, its cost, and why other fragments stay."""

from collections.abc import Mapping
from json import dumps
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property
from pyroaring import BitMap

from lance_explorer.answers import Answer, Answering, Section, lines, said
from lance_explorer.arguments import of_kind
from lance_explorer.disk.compaction import (
    REASONS,
    CompactionPlan,
    compaction_options,
    plan_compaction,
)
from lance_explorer.disk.compaction_frames import FRAGMENTS, NEW_FRAGMENTS, SUMMARY, TASKS
from lance_explorer.disk.compaction_results import CompactedRows, NewRowIds, new_sizes
from lance_explorer.errors import FormatError, StorageError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.indices import IndexMetadata
from lance_explorer.frames.counts import nullable
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import byte_size, counted, percent
from lance_explorer.history.history import UNKNOWN_COUNT, History
from lance_explorer.history.rewrites.reuse_history import reuse_bytes, reuse_index
from lance_explorer.history.view import HistoryView

__all__ = ["CompactionPreview", "compaction_preview"]

_Places = NDArray[np.int64]

_IO_BUFFER_BYTES = 2 << 30
_DECODED_BYTES = 256 << 20
"""The most memory that was measured for decoded and written rows, with 14.0.2."""
_MOST_BYTES_OF_A_FILE = 90 << 30
_WORTH_TELLING_BYTES = 1_000_000
_MOST_DELETION_FILES = 2_000
"""The most rows that are read by default, as in views."""


class CompactionPreview(Answering):
    """What ``compact_files`` would do to a version; nothing is rewritten.

    Made by :meth:`Table.compaction_preview`. The old files stay until a cleanup removes them.

    Attributes
    ----------
    problem : str or None
        Why Lance would refuse, or what may differ from this preview.
    answer : Answer
        What it does and takes, with the call.
    code : str
        The call that does it.

    Examples
    --------
    >>> table.compaction_preview()
    CompactionPreview(people.lance: 3 fragments become 1, ...)
    """

    def __init__(
        self, view: HistoryView, history: History, plan: CompactionPlan, given: Mapping[str, Any]
    ) -> None:
        self._plan = of_kind("plan", plan, CompactionPlan, "what plan_compaction() gives")
        self._view, self._history, self._given = view, history, given

    @property
    def answer(self) -> Answer:
        """What is rewritten, its cost, and why other fragments stay."""
        tasks = self.tasks()
        return Answer(
            said(self.sentence),
            (
                Section("summary", None, self.summary(), schema=SUMMARY),
                *self._words,
                Section("tasks", "Tasks", tasks, shown=tasks.drop("fragment_ids"), schema=TASKS),
                Section("new_fragments", "Written", self.new_fragments(), schema=NEW_FRAGMENTS),
                Section("fragments", None, self.fragments(), schema=FRAGMENTS),
            ),
            self.code,
            is_call=True,
        )

    def in_words(self) -> Answer:
        """Return the answer without its frames, which may read many row IDs.

        Examples
        --------
        >>> table.compaction_preview().in_words().code
        'dataset.optimize.compact_files()'
        """
        return Answer(said(self.sentence), self._words, self.code, is_call=True)

    @property
    def _words(self) -> tuple[Section, ...]:
        """Its cost, and why fragments stay, the most frequent reason first."""
        stay = self.fragments().filter(~pl.col("is_rewritten"))
        counts = stay.group_by("message").len().sort("len", "message", descending=[True, False])
        reasons = [f"{counted(n, 'fragment')}: {message}" for message, n in counts.iter_rows()]
        return (
            Section("problem", None, self.problem or ""),
            Section("costs", "", lines(self.costs)),
            Section("stays", "Fragments that stay as they are", lines(reasons)),
        )

    @property
    def _subject(self) -> str:
        return self._view.name

    @property
    def sentence(self) -> str:
        """What it comes to, in one sentence."""
        tasks = self._plan.tasks
        if not tasks:
            return self.problem or "nothing to rewrite"
        sizes = [self._bytes(task) for task in tasks]
        known = [size for size in sizes if size is not None]
        reads = f", {byte_size(sum(known))} are read" if len(known) == len(sizes) else ""
        before = sum(map(len, tasks))
        rewritten = counted(before, "fragment")
        dropped = counted(sum([int(self._deleted[task].sum()) for task in tasks]), "deleted row")
        if before == self._num_new:
            return f"{rewritten} written again without {dropped}{reads}"
        return f"{rewritten} become {self._num_new:,}, {dropped} are dropped{reads}"

    @property
    def costs(self) -> list[str]:
        """The cost besides reading and writing, and the effect on metadata, in sentences.

        Reads the row-ID sequences and deletions of rewritten fragments, if they are needed and few.
        """
        sentences = list[str]()
        memory = max([self._memory(task) or 0 for task in self._plan.tasks], default=0)
        if memory >= _WORTH_TELLING_BYTES:
            sentences.append(f"A task takes up to about {byte_size(memory, '%.0f')} of memory.")
        indices = self._indices_to_remap()
        if indices:
            sentences.append(
                f"Entries of {', '.join(indices)} are rewritten in the same commit: "
                f"{self._num_physical:,} row addresses change."
            )
        files = self._num_deletion_files
        if files > _MOST_DELETION_FILES:
            sentences.append(
                f"The effect on row IDs is not shown here, because {files:,} deletion files have "
                "to be read: summary() shows it."
            )
            return sentences
        after = self._row_ids_after
        if after is not None:
            before = sum([self._row_id_bytes(task) or 0 for task in self._plan.tasks])
            size = sum([new.size_bytes for of_task in after for new in of_task])
            sentences.append(
                f"Row IDs of these fragments take {byte_size(before)} in the manifest, "
                f"{byte_size(size)} then."
            )
        reuse = self._reuse_bytes_after
        if reuse is not None and reuse != self._reuse_bytes:
            sizes = byte_size(self._reuse_bytes), byte_size(reuse)
            sentences.append(f"The fragment reuse history takes {sizes[0]}, {sizes[1]} then.")
        return sentences

    @property
    def problem(self) -> str | None:
        """Why Lance would refuse."""
        return self._plan.problem

    @property
    def code(self) -> str:
        """The call that does it."""
        given = ", ".join([f"{name}={value!r}" for name, value in self._given.items()])
        branch = self._view.branch
        at = f".checkout_version(({dumps(branch)}, None))" if branch else ""
        return f"dataset{at}.optimize.compact_files({given})"

    @documented(TASKS)
    def tasks(self) -> pl.DataFrame:
        """Return the fragments that are rewritten together, one row for each task.

        Examples
        --------
        >>> table.compaction_preview().tasks()["num_deleted_rows"].to_list()
        [2]
        """
        tasks, ids = self._plan.tasks, self._history.states.ids
        target = self._plan.options.target_rows_per_fragment
        row_ids = self._row_ids_after
        after = (
            [None] * len(tasks)
            if row_ids is None
            else [sum([each.size_bytes for each in new]) for new in row_ids]
        )
        return TASKS.build(
            {
                "task": range(len(tasks)),
                "fragment_ids": [ids[task].tolist() for task in tasks],
                "num_fragments": [len(task) for task in tasks],
                "num_rows": self._rows,
                "num_deleted_rows": [int(self._deleted[task].sum()) for task in tasks],
                "num_new_fragments": [len(new_sizes(count, target)) for count in self._rows],
                "read_bytes": [self._bytes(task) for task in tasks],
                "written_bytes": [self._written(task) for task in tasks],
                "memory_bytes": [self._memory(task) for task in tasks],
                "row_id_bytes": [self._row_id_bytes(task) for task in tasks],
                "row_id_bytes_after": after,
            }
        )

    @documented(NEW_FRAGMENTS)
    def new_fragments(self) -> pl.DataFrame:
        """Return the new fragments, one row each, with their row-ID sequences.

        The sequences are those that Lance will write: they follow from the old ones and the
        deletions, which are read.

        Examples
        --------
        >>> table.compaction_preview().new_fragments().select("num_rows", "row_id_encodings").rows()
        [(9, '1 range, 2 range_with_bitmap')]
        """
        target = self._plan.options.target_rows_per_fragment
        rows = list[tuple[int, int, int | None, int | None, str | None]]()
        row_ids = self._row_ids_after
        for task, count in enumerate(self._rows):
            if row_ids is None:
                rows += [(task, size, None, None, None) for size in new_sizes(count, target)]
            else:
                rows += [
                    (task, new.num_rows, new.num_segments, new.size_bytes, new.encodings)
                    for new in row_ids[task]
                ]
        columns = zip(*rows, strict=True) if rows else [[]] * len(NEW_FRAGMENTS.names)
        return NEW_FRAGMENTS.build(dict(zip(NEW_FRAGMENTS.names, map(list, columns), strict=True)))

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
        words = self._reason_words()
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
        """Return the cost of the compaction, in one row.

        Examples
        --------
        >>> table.compaction_preview().summary()["indices_to_remap"].to_list()
        [[]]
        """
        tasks = self.tasks()
        count, new = int(tasks["num_fragments"].sum()), self._num_new
        sums = {
            name: [None if tasks[name].null_count() else int(tasks[name].sum())]
            for name in ("read_bytes", "written_bytes", "row_id_bytes", "row_id_bytes_after")
        }
        indices = self._indices_to_remap()
        most = max(tasks["memory_bytes"].drop_nulls(), default=0)
        return SUMMARY.build(
            {
                "num_tasks": [len(tasks)],
                "num_fragments": [len(self._history.states)],
                "num_rewritten": [count],
                "num_fragments_after": [len(self._history.states) - count + new],
                "num_rows": [int(tasks["num_rows"].sum())],
                "num_deleted_rows": [int(tasks["num_deleted_rows"].sum())],
                "read_bytes": sums["read_bytes"],
                "written_bytes": sums["written_bytes"],
                "memory_bytes": [None if tasks["memory_bytes"].null_count() else most],
                "row_id_bytes": sums["row_id_bytes"],
                "row_id_bytes_after": sums["row_id_bytes_after"],
                "indices_to_remap": [indices],
                "num_remapped_rows": [self._num_physical if indices else 0],
                "reuse_bytes": [self._reuse_bytes],
                "reuse_bytes_after": [self._reuse_bytes_after],
            }
        )

    def _reason_words(self) -> dict[str, str]:
        """Return the meaning of each reason for this table."""
        options = self._plan.options
        target = f"{options.target_rows_per_fragment:,} rows"
        share = percent(options.materialize_deletions_threshold)
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
        if self._is_stable or self._plan.options.defer_index_remap:
            return []
        return self._covering

    @cached_property
    def _covering(self) -> list[str]:
        """The indices that cover what is rewritten."""
        return sorted({one.name for one in self._plan.segments if self._is_rewritten(one)})

    @property
    def _notes_reuse(self) -> bool:
        """Whether the fragment reuse history gets an entry (docs/FORMAT.md 5)."""
        if not self._plan.options.defer_index_remap:
            return False
        reuse = reuse_index(self._history.records[0])
        return bool(self._covering) or (reuse is not None and self._is_rewritten(reuse))

    def _is_rewritten(self, segment: IndexMetadata) -> bool:
        """Tell whether a segment covers any of the fragments that are rewritten."""
        if not self._plan.tasks:
            return False
        covered = segment.fragment_ids()
        ids = self._history.states.ids[np.concatenate(self._plan.tasks)].tolist()
        return covered is None or not BitMap(ids).isdisjoint(covered)

    @property
    def _is_stable(self) -> bool:
        return bool(self._history.records[0].manifest.reader_feature_flags & STABLE_ROW_IDS)

    @property
    def _num_new(self) -> int:
        target = self._plan.options.target_rows_per_fragment
        return sum([len(new_sizes(count, target)) for count in self._rows])

    @cached_property
    def _rows(self) -> list[int]:
        """The live rows of each task."""
        return [int(self._live[task].sum()) for task in self._plan.tasks]

    @property
    def _num_physical(self) -> int:
        """The rows that are rewritten, deleted ones included."""
        return sum(self._rows) + sum([int(self._deleted[task].sum()) for task in self._plan.tasks])

    @property
    def _num_deletion_files(self) -> int:
        """How many rows must be read to know the effect on metadata."""
        if not self._is_stable and not self._notes_reuse:
            return 0
        types = self._history.states.deletion_types
        return sum([int((types[task] >= 0).sum()) for task in self._plan.tasks])

    @cached_property
    def _compacted(self) -> CompactedRows | None:
        """The rows that are rewritten; None if their deletions cannot be read."""
        target = self._plan.options.target_rows_per_fragment
        try:
            return CompactedRows(self._view, self._history, self._plan.tasks, target)
        except (FormatError, StorageError):
            return None

    @cached_property
    def _row_ids_after(self) -> list[list[NewRowIds]] | None:
        """The row-ID sequences of each task; None if there are none, or they are unknown."""
        if not self._is_stable or not self._plan.tasks:
            return None
        most = self._plan.options.max_bytes_per_file or _MOST_BYTES_OF_A_FILE
        sizes = [self._bytes(task) for task in self._plan.tasks]
        if any(size is None or size > most for size in sizes) or self._compacted is None:
            return None
        return list(self._compacted.row_ids())

    def _row_id_bytes(self, task: _Places) -> int | None:
        return int(self._history.states.row_id_bytes[task].sum()) if self._is_stable else None

    @property
    def _reuse_bytes(self) -> int:
        index = reuse_index(self._history.records[0])
        return 0 if index is None else reuse_bytes(index)[1]

    @cached_property
    def _reuse_bytes_after(self) -> int | None:
        if not self._notes_reuse:
            return self._reuse_bytes
        return None if self._compacted is None else self._compacted.reuse_bytes()

    def _memory(self, task: _Places) -> int | None:
        """Return the estimated memory of a task."""
        size = self._bytes(task)
        if size is None:
            return None
        waiting = self._plan.options.io_buffer_size or _IO_BUFFER_BYTES
        return min(size, waiting) + min(size, _DECODED_BYTES)

    @cached_property
    def _live(self) -> NDArray[np.int64]:
        return self._history.live_rows

    @cached_property
    def _deleted(self) -> NDArray[np.int64]:
        return np.maximum(self._history.num_deleted_rows, 0)

    def _bytes(self, task: _Places) -> int | None:
        sizes = self._history.states.data_bytes[task]
        return None if (sizes == UNKNOWN_COUNT).any() else int(sizes.sum())

    def _written(self, task: _Places) -> int | None:
        sizes = self._history.states.data_bytes[task]
        physical = np.maximum(self._history.states.physical_rows[task], 1)
        if (sizes == UNKNOWN_COUNT).any():
            return None
        return int((sizes * (self._live[task] / physical)).sum())


def compaction_preview(view: HistoryView, given: Mapping[str, Any]) -> CompactionPreview:
    """Return what a compaction of the latest version would do."""
    history = view.version(view.latest_version)
    plan = plan_compaction(view, history, compaction_options(history, given))
    return CompactionPreview(view, history, plan, given)
