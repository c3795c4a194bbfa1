"""Keep the values that commits ended: of rows that were written or removed, of dropped columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.columns.value_columns import blob_columns
from lance_explorer.history.events.row_comparison import live_rows
from lance_explorer.history.events.row_events import row_events
from lance_explorer.history.events.row_runs import NO_ADDRESS, PlacedRuns
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.progress import with_progress
from lance_explorer.history.values.later_values import ENDS, ended_columns, known_at
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.kept_values import KeptCommit, KeptValues, ValuesFile, as_parquet
from lance_explorer.lineage.shown_columns import ShownColumns
from lance_explorer.lineage.stored_rows import bytes_of
from lance_explorer.lineage.where import fields_of
from lance_explorer.rowids.addresses import FRAGMENT_BITS
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["ValuesKept", "record_values"]

_ROWS_AT_ONCE = 65_536
_BYTES_AT_ONCE = 64 << 20
"""The most bytes that are held in memory, and written as one file."""


@dataclass
class ValuesKept:
    """What was kept, and what was not, in rows and bytes."""

    num_rows: int = 0
    num_bytes: int = 0
    num_left_out: int = 0
    num_lost: int = 0


@dataclass(frozen=True)
class _Ended:
    """Rows whose values a commit ended, and which columns."""

    addresses: Uint64Array
    identities: Uint64Array
    columns: list[str]


def record_values(
    view: HistoryView,
    kept: KeptValues,
    digests: Mapping[int, str],
    columns: Sequence[str] | None,
    max_bytes: int,
) -> ValuesKept:
    """Keep what the commits of a branch ended and was not kept yet.

    Parameters
    ----------
    view : HistoryView
        The branch, with its recordings.
    kept : KeptValues
        Where it is kept.
    digests : mapping of int to str
        The digest of the manifest of each recorded version.
    columns : sequence of str or None
        Which columns, by any name that they had; all but blobs by default.
    max_bytes : int
        How much is kept. A commit that ended more than the remaining limit is left out.

    Raises
    ------
    InvalidArgumentError
        If no version has one of the columns.
    """
    recorder = _ValueRecorder(state_rows(view), kept, digests, columns, max_bytes)
    try:
        for position in with_progress(recorder.positions(), "Keeping values", "commits"):
            recorder.add(position)
    finally:
        recorder.write()
    kept.delete(kept.unnamed(datetime.now(UTC)))
    return recorder.done


@dataclass
class _ValueRecorder:
    rows: StateRows
    kept: KeptValues
    digests: Mapping[int, str]
    columns: Sequence[str] | None
    max_bytes: int
    done: ValuesKept = field(default_factory=ValuesKept)
    _waiting: dict[tuple[object, ...], list[ValuesFile]] = field(default_factory=dict)
    _commits: list[tuple[KeptCommit, tuple[object, ...] | None]] = field(default_factory=list)
    _num_waiting: int = 0

    def __post_init__(self) -> None:
        history = self.rows.history
        every = {
            f.name for record in history.records for f in record.schema if f.parent_id == NO_PARENT
        }
        for name in self.columns or ():
            if name not in every:
                raise InvalidArgumentError(
                    f"values names {name!r}, and no version has such a column; there are: "
                    f"{', '.join(sorted(every))}"
                )
        self._shown = ShownColumns(self.rows, range(len(history)), self.columns)

    def positions(self) -> list[int]:
        """Return the commits whose ended values may have to be kept."""
        history = self.rows.history
        result = list[int]()
        for position in range(1, len(history)):
            version = history.records[position].version
            if self.digests.get(version) is not None and self._to_ask(position):
                result.append(position)
        return result

    def add(self, position: int) -> None:
        """Keep what a commit ended."""
        version = self._version(position)
        before = self._version(position - 1)
        about = KeptCommit(version, self.digests[version], before, self._to_ask(position))
        ended = [*self._ended(position, about.asked)]
        size = sum([self._estimate(position - 1, one) for one in ended])
        if self.done.num_bytes + self._num_waiting + size > self.max_bytes:
            self.done.num_left_out += sum([len(one.addresses) for one in ended])
            return
        num_lost = 0
        for one in ended:
            for begin in range(0, len(one.addresses), _ROWS_AT_ONCE):
                num_lost += self._read(position, one, slice(begin, begin + _ROWS_AT_ONCE), about)
                if self._num_waiting >= _BYTES_AT_ONCE:
                    self.write()
        self.done.num_lost += num_lost
        self._commits.append((about._replace(num_lost=num_lost), None))

    def write(self) -> None:
        """Write what waits."""
        names = dict[tuple[object, ...], str]()
        for key, parts in self._waiting.items():
            versions, addresses, values = zip(*parts, strict=True)
            whole = ValuesFile(
                np.concatenate(versions), np.concatenate(addresses), pl.concat(values)
            )
            names[key] = self.kept.write_values(whole)
        commits = [
            one._replace(file=names[key]) if key is not None else one for one, key in self._commits
        ]
        if commits:
            self.kept.write_kept(commits)
        sizes = {info.name: info.size_bytes for info in self.kept.infos()} if names else {}
        self.done.num_bytes += sum([sizes.get(name, 0) for name in {*names.values()}])
        self._waiting.clear()
        self._commits.clear()
        self._num_waiting = 0

    def _to_ask(self, position: int) -> list[str]:
        """Return the wanted columns of the previous version that were not kept yet."""
        record, version = self.rows.history.records[position - 1], self._version(position)
        names = self._shown.names_at(position - 1)
        if self.columns is None:
            blobs = blob_columns(record.schema)
            names = [name for name in names if name not in blobs]
        known = [
            name
            for kept in self.kept.commits.get(version, ())
            if kept.sha256 == self.digests[version]
            for name in kept.asked
        ]
        return [name for name in names if name not in known]

    def _version(self, position: int) -> int:
        return self.rows.history.records[position].version

    def _ended(self, position: int, names: list[str]) -> Iterator[_Ended]:
        """Yield rows whose values a commit ended; those of dropped columns last."""
        events = row_events(self.rows.view, position)
        is_end = np.isin(events.event, ENDS) & (events.before != NO_ADDRESS)
        whole = _rows_of(events.where(is_end))
        whole = self._not_forgotten(position, *whole)
        if len(whole[0]):
            yield _Ended(*whole, names)
        dropped = [name for name in ended_columns(self.rows, position) if name in names]
        if dropped:
            every = live_rows(self.rows, position - 1).rows()
            left = ~np.isin(every.after, whole[0])
            rest = self._not_forgotten(position, every.after[left], every.identity[left])
            if len(rest[0]):
                yield _Ended(*rest, dropped)

    def _not_forgotten(
        self, position: int, addresses: Uint64Array, identities: Uint64Array
    ) -> tuple[Uint64Array, Uint64Array]:
        known = self.kept.commits.get(self._version(position), ())
        gone = [address for kept in known for address in kept.forgotten]
        stays = ~np.isin(addresses, np.array(gone, dtype=np.uint64))
        return addresses[stays], identities[stays]

    def _estimate(self, position: int, ended: _Ended) -> int:
        """Return the approximate size of some values on disk."""
        history = self.rows.history
        fields = fields_of(ended.columns, history.records[position].schema)
        fragments, counts = np.unique(
            ended.addresses >> np.uint64(FRAGMENT_BITS), return_counts=True
        )
        states, size = history.by_id(history.intervals.at(position)), 0.0
        for fragment_id, count in zip(fragments.tolist(), counts.tolist(), strict=True):
            fragment = history.states[states[fragment_id]]
            size += bytes_of(fragment, fields) * count / max(fragment.physical_rows or 1, 1)
        return int(size)

    def _read(self, position: int, ended: _Ended, some: slice, about: KeptCommit) -> int:
        """Read some rows; return how many have a lost value."""
        addresses, identities = ended.addresses[some], ended.identities[some]
        values, known = known_at(self.rows, position - 1, addresses, identities, ended.columns)
        kinds, kind = np.unique(known, axis=0, return_inverse=True)
        for number, are_known in enumerate(kinds.tolist()):
            chosen = kind.ravel() == number
            names = [
                name for name, is_there in zip(ended.columns, are_known, strict=True) if is_there
            ]
            frame = _storable(values.filter(pl.Series(chosen)).select(names))
            if frame.columns:
                self._wait(ValuesFile(_all(about.version, chosen), addresses[chosen], frame), about)
        return int((~known.all(axis=1)).sum())

    def _wait(self, part: ValuesFile, about: KeptCommit) -> None:
        key = tuple(part.values.schema.items())
        self._waiting.setdefault(key, []).append(part)
        self._num_waiting += int(part.values.estimated_size())
        count = len(part.addresses)
        self._commits.append(
            (about._replace(columns=part.values.columns, num_rows=count, asked=[]), key)
        )
        self.done.num_rows += count


def _rows_of(runs: PlacedRuns) -> tuple[Uint64Array, Uint64Array]:
    rows = runs.rows()
    order = np.argsort(rows.before)
    return rows.before[order], rows.identity[order]


def _all(version: int, chosen: NDArray[np.bool_]) -> Uint64Array:
    return np.full(int(chosen.sum()), version, dtype=np.uint64)


def _storable(values: pl.DataFrame) -> pl.DataFrame:
    """Return the columns that a file returns unchanged."""
    if not values.columns or _comes_back(values):
        return values
    return values.select([name for name in values.columns if _comes_back(values.select(name))])


def _comes_back(values: pl.DataFrame) -> bool:
    """Tell whether a file returns values unchanged."""
    frame = pl.DataFrame({"values": values.to_struct()})
    try:
        copy = pl.read_parquet(as_parquet(frame))["values"].struct.unnest()
    except (pl.exceptions.PolarsError, OSError):
        return False
    return copy.schema == values.schema and copy.equals(values)
