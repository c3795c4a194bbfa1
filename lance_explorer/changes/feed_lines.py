"""The lines of a change feed, made step by step and read in pieces."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain

import numpy as np
import polars as pl
from propcache.api import cached_property

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.feed_columns import check_key, feed_columns
from lance_explorer.changes.feed_parts import ChangePart
from lance_explorer.changes.frame import Block, blocks
from lance_explorer.changes.images import Images, empty_feed
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.changes.needed_versions import commit_times
from lance_explorer.changes.net import traces_between
from lance_explorer.changes.pairing import pair_by_key
from lance_explorer.changes.row_options import RowOptions
from lance_explorer.changes.shared_reads import SharedReads, SharedVersions, Take
from lance_explorer.changes.steps import (
    ChangeStep,
    VersionRange,
    commit_step,
    commit_steps,
    net_step,
)
from lance_explorer.changes.writes_in_place import Traces
from lance_explorer.history.columns.value_columns import ValueColumns, blob_columns
from lance_explorer.history.paths import EMPTY, Stop
from lance_explorer.storage import done_in_order

__all__ = ["FeedLines"]

_READS_AT_ONCE = 8
"""The number of batches that are read at a time if requests take long."""

_ROWS_AT_ONCE = 65_536
_BYTES_AT_ONCE = 64 << 20
"""The most rows of commits whose values are read together."""

_Piece = tuple[Images | None, Block, ChangeRuns]
"""Lines of a batch, and the reader of their values."""


class FeedLines:
    """What changed between two versions, as frames.

    Parameters
    ----------
    versions : VersionRange
        Between which versions.
    options : RowOptions
        What is asked of the rows.
    lost : LostValues
        Where values are noted that are lost.
    is_net : bool
        Whether only both versions are compared, not each commit.
    """

    def __init__(
        self, versions: VersionRange, options: RowOptions, lost: LostValues, *, is_net: bool
    ) -> None:
        self._versions = versions
        self._options = options
        self._lost = lost
        self._is_net = is_net
        self._times: dict[int, datetime | None] = {}
        self._kept: tuple[tuple[int, int], list[tuple[ChangeStep, list[Block]]]] | None = None

    @cached_property
    def empty(self) -> pl.DataFrame:
        """No lines, with all columns."""
        values = self._value_columns if self._options.images else None
        return empty_feed(values, both_images=self._options.has_both_images)

    def steps(self, part: ChangePart | None = None) -> Iterator[ChangeStep]:
        """Yield the changes of rows, commit by commit or all at once."""
        share = None if part is None else part.share
        if self._is_net:
            yield net_step(self._versions, share, self._traces) if share else self._net_step
            return
        versions = self._versions
        if part is not None:
            versions = replace(versions, begin=part.begin, end=part.end)
        if share is not None:
            yield commit_step(versions, share)
            return
        for step in commit_steps(versions):
            yield self._paired(step)

    def batches(
        self, batch_size: int | None, part: ChangePart | None = None
    ) -> Iterator[pl.DataFrame]:
        """Yield the lines, in pieces of limited size; values are read for one batch at a time.

        If requests take long, small following commits are read at the same time.
        """
        most = min(self._versions.rows.view.storage.in_flight, _READS_AT_ONCE)
        return done_in_order(self._tasks(batch_size, part), most, batch_size or _ROWS_AT_ONCE)

    def _tasks(
        self, batch_size: int | None, part: ChangePart | None
    ) -> Iterator[tuple[int, Callable[[], pl.DataFrame]]]:
        """Yield the makers of batches, each with its number of lines."""
        for pieces in self._read_together(self._pieces(batch_size, part), batch_size):
            take = None
            if self._shared is not None and len(pieces) > 1:
                wanted = [images.wanted(block, piece) for images, block, piece in pieces if images]
                take = SharedReads(self._shared, chain(*wanted)).take
            for images, block, piece in pieces:
                yield len(piece), partial(self._frame, images, block, piece, take)

    def _read_together(
        self, pieces: Iterator[_Piece], batch_size: int | None
    ) -> Iterator[list[_Piece]]:
        """Yield pieces whose values are read together.

        The first pieces are small, so that the first batches come soon; later ones have at most the
        rows of a batch, or of a memory limit.
        """
        most = self._rows_together(batch_size)
        together, num_rows, most_pieces = list[_Piece](), 0, 1
        for piece in pieces:
            if len(together) >= most_pieces or num_rows + len(piece[2]) > most:
                if together:
                    yield together
                together, num_rows, most_pieces = [], 0, most_pieces * 2
            together.append(piece)
            num_rows += len(piece[2])
        if together:
            yield together

    def _rows_together(self, batch_size: int | None) -> int:
        """Return how many rows of several pieces are read together; 0 if each is read alone."""
        if self._shared is None:
            return 0
        history = self._versions.rows.history
        states = history.intervals.at(self._versions.end)
        num_rows = int(np.maximum(history.states.physical_rows[states], 0).sum())
        row_bytes = 1 + int(history.states.data_bytes[states].sum()) // max(num_rows, 1)
        return min(batch_size or _ROWS_AT_ONCE, _BYTES_AT_ONCE // max(row_bytes, 1))

    @cached_property
    def _shared(self) -> SharedVersions | None:
        """The versions that share values with others; None if each piece is read alone."""
        rows, end = self._versions.rows, self._versions.end
        if self._is_net or self._options.images is None or end == EMPTY or rows.namesakes:
            return None
        if blob_columns(rows.history.records[end].schema):
            return None
        columns, records = self._value_columns, rows.history.records
        return SharedVersions(
            rows, end, lambda place: columns.own_names(rows.view, records[place].version)
        )

    def _pieces(self, batch_size: int | None, part: ChangePart | None) -> Iterator[_Piece]:
        """Yield the lines of each step; lines that several parts need are kept."""
        lines = self._lines(part)
        num_lines = None
        if part is not None and part.count > 1:  # its commits are split together, not one by one
            lines = iter(pieces := [*lines])
            num_lines = sum([block.num_rows for _, some in pieces for block in some])
        start, stop = part.lines(num_lines) if part and num_lines is not None else (0, None)
        for step, some in lines:
            images = self._images(step)
            for block in some:
                last = block.num_rows if stop is None else min(stop, block.num_rows)
                for piece in block.pieces(batch_size or block.num_rows, max(start, 0), last):
                    yield images, block, piece
                start -= block.num_rows
                stop = None if stop is None else stop - block.num_rows

    def _lines(self, part: ChangePart | None) -> Iterator[tuple[ChangeStep, list[Block]]]:
        """Yield the lines of each step; those that several parts have are kept for the next."""
        if part is None or part.count == 1:
            yield from self._all_lines(part)
            return
        asked = part.begin, part.end
        if self._kept is None or self._kept[0] != asked:
            self._kept = asked, [*self._all_lines(part)]
        yield from self._kept[1]

    def _all_lines(self, part: ChangePart | None) -> Iterator[tuple[ChangeStep, list[Block]]]:
        for step in self.steps(part):
            runs = step.runs.where(~np.isin(step.runs.change, self._options.left_out))
            yield step, blocks(runs, both_images=self._options.has_both_images)

    def _frame(
        self, images: Images | None, block: Block, piece: ChangeRuns, take: Take | None
    ) -> pl.DataFrame:
        head = block.frame(piece, self._timestamps(piece), self._versions.ids_of)
        return images.beside(head, block, piece, take) if images else head

    @cached_property
    def _traces(self) -> Traces | None:
        """The common part of all shares of a net comparison."""
        versions = self._versions
        if not versions.begin_is_kept:
            return None
        return traces_between(versions.rows, versions.begin, versions.end)

    @cached_property
    def _net_step(self) -> ChangeStep:
        return self._paired(net_step(self._versions))

    def _paired(self, step: ChangeStep) -> ChangeStep:
        if not self._options.key or step.before is None or step.before == EMPTY:
            return step
        rows, columns = self._versions.rows, self._key_columns
        ends = [Stop(rows, position) for position in (step.before, step.after)]
        check_key(columns, self._options.key, ends, must_have=self._is_net)
        images = Images(rows, columns, step)
        return replace(step, runs=pair_by_key(step.runs, images.before, images.after))

    def _images(self, step: ChangeStep) -> Images | None:
        if self._options.images is None:
            return None
        tolerance = self._options.tolerance if self._options.has_both_images else None
        lost = self._lost if self._options.may_lack_values else None
        return Images(self._versions.rows, self._value_columns, step, tolerance, lost=lost)

    def _timestamps(self, piece: ChangeRuns) -> dict[int, datetime | None]:
        unknown = {*np.unique(piece.version).tolist()}.difference(self._times)
        if unknown:
            self._times |= dict.fromkeys(unknown) | commit_times(self._versions.rows, unknown)
        return self._times

    @cached_property
    def _value_columns(self) -> ValueColumns:
        options = self._options
        lost = self._lost if options.may_lack_values else None
        columns = self._columns_named(options.columns, lost, has_before=options.has_values_before)
        for doubt in columns.doubts:
            branch = self._versions.rows.view.branch
            self._lost.column_in_doubt(doubt, branch, branch)
        return columns

    @cached_property
    def _key_columns(self) -> ValueColumns:
        return self._columns_named(self._options.key, None, has_before=True)

    def _columns_named(
        self, names: Sequence[str] | None, lost: LostValues | None, *, has_before: bool
    ) -> ValueColumns:
        """Return the columns of the images that are read."""
        begin, end = self._versions.begin, self._versions.end
        if self._is_net:
            is_read = has_before and begin != EMPTY and self._versions.begin_is_kept
            positions = range(begin, begin + is_read)
        else:
            positions = range(max(begin, 0) if has_before else begin + 1, end)
        return feed_columns(self._versions.rows, positions, end, names, lost)
