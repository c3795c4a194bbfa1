"""The state of a search for rows by values: what was read, was found, and is still to be read."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import InvalidArgumentError, LanceExplorerError
from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.schema import NO_PARENT, Field
from lance_explorer.history.columns.doubt_findings import column_in_doubt
from lance_explorer.history.columns.value_columns import (
    blob_columns,
    types_if_known,
    value_columns,
)
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.identity.version_positions import check_some
from lance_explorer.history.paths import Stop
from lance_explorer.history.value_files import value_root
from lance_explorer.history.values.later_values import position_to_read, values_at
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.found_rows import FOUND, Sightings, merged
from lance_explorer.lineage.matching_at import indexed_at, matching_at
from lance_explorer.lineage.shown_columns import ShownColumns
from lance_explorer.lineage.stored_rows import (
    Piece,
    StoredRows,
    Wanted,
    bytes_of,
    files_of,
    reads_of,
    stored_rows,
)
from lance_explorer.lineage.trusted_indices import trusted_indices
from lance_explorer.lineage.where import fields_named, fields_of, filter_for, is_word
from lance_explorer.rowids.addresses import FRAGMENT_BITS, first_address
from lance_explorer.rowids.arrays import Uint64Array

__all__ = [
    "Answered",
    "Question",
    "ValueSearch",
    "begin_search",
    "newest",
    "search_on",
    "sightings",
    "with_values",
]

_FRAGMENTS_AT_ONCE = 64
_OFFSETS = np.uint64((1 << FRAGMENT_BITS) - 1)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for."""

    where: str
    deleted: bool
    columns: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class _Hits:
    """Rows of a fragment that match, in every version where they are live."""

    stored: StoredRows
    offsets: NDArray[np.int64]


class Answered(NamedTuple):
    """The indices that were asked, none if none could be, and the offsets that they found.

    The offsets are those of each stored rows about which they were asked, by its ``id()``.
    """

    names: tuple[str, ...] = ()
    offsets: Mapping[int, NDArray[np.int64]] = MappingProxyType({})


@dataclass
class ValueSearch:
    """How far the search of one branch got.

    Attributes
    ----------
    rows : StateRows
        The rows of the branch.
    positions : range
        The versions that are searched.
    filters : dict
        The filter of each sort of version, by what they have of the columns.
    waiting : list of StoredRows
        What was not looked at yet, newest first.
    hits : list
        What was found.
    answered : Answered or None
        What indices answered; None before that was tried.
    """

    rows: StateRows
    positions: range
    filters: dict[object, str]
    waiting: list[StoredRows]
    findings: list[Finding]
    hits: list[_Hits] = field(default_factory=list)
    found: set[int] = field(default_factory=set)
    bytes_read: int = 0
    answered: "Answered | None" = None

    @property
    def searched_from(self) -> int:
        """The first position that was searched completely; earlier positions were not."""
        return self.waiting[0].last + 1 if self.waiting else self.positions.start


def begin_search(view: HistoryView, question: Question) -> ValueSearch:
    """Return a search that has not read anything yet.

    Raises
    ------
    InvalidArgumentError
        If the filter is valid for no version, or no version has one of the columns.
    """
    rows = state_rows(view)
    check_some(rows)
    records = rows.history.records
    stop = len(records)
    positions = range(0 if question.deleted else max(stop - 1, 0), stop)
    schemas = {id(records[place].schema): records[place].schema for place in positions}
    _check_columns(question.columns, schemas.values())
    word = is_word(question.where, schemas.values())
    wanted = {
        key: None
        if (filter_ := filter_for(question.where, schema, is_word=word)) is None
        else _wanted(filter_, schema)
        for key, schema in schemas.items()
    }
    filters, errors = dict[object, str](), dict[object, InvalidArgumentError]()
    for place in reversed(positions):
        one = wanted[id(records[place].schema)]
        if one is None or one.schema in filters or one.schema in errors:
            continue
        filter_ = filter_for(question.where, records[place].schema, is_word=word)
        error = _why_refused(view, records[place].version, str(filter_))
        if error is None:
            filters[one.schema] = str(filter_)
        else:
            errors[one.schema] = error
    if errors and not filters:
        raise next(iter(errors.values()))
    fits = {
        key: one if one is not None and one.schema in filters else None
        for key, one in wanted.items()
    }
    by_state = not word and "_row" in question.where.casefold()
    waiting = stored_rows(
        rows, lambda p: fits[id(rows.history.records[p].schema)], positions, by_state=by_state
    )
    left_out = [place for place in positions if fits[id(records[place].schema)] is None]
    return ValueSearch(rows, positions, filters, waiting, [*_unfit(rows, left_out)])


def _wanted(filter: str, schema: tuple[Field, ...]) -> Wanted:
    fields = fields_named(filter, schema)
    fields_key = [(f.id, f.name, f.parent_id, f.logical_type) for f in schema if f.id in fields]
    return Wanted(fields, (filter, *fields_key))


def _check_columns(columns: Sequence[str] | None, schemas: Iterable[tuple[Field, ...]]) -> None:
    known = dict.fromkeys(
        [field.name for schema in schemas for field in schema if field.parent_id == NO_PARENT]
    )
    for name in columns or ():
        if name not in known:
            raise InvalidArgumentError(
                f"no searched version has a column {name!r}; there are: {', '.join(known)}"
            )


def _why_refused(view: HistoryView, version: int, filter: str) -> InvalidArgumentError | None:
    """Return why a filter is not valid for a version; None also where values are unreadable."""
    from lance_explorer.values import check_filter

    try:
        return check_filter(value_root(view, version), version, filter, view.storage.options)
    except InvalidArgumentError:
        raise
    except LanceExplorerError:
        return None


def _unfit(rows: StateRows, positions: list[int]) -> Iterator[Finding]:
    """Yield a finding for each stretch of versions for which the filter is not valid."""
    begin = 0
    for place in range(1, len(positions) + 1):
        if place < len(positions) and positions[place] == positions[place - 1] + 1:
            continue
        first, last = (rows.history.records[positions[n]].version for n in (begin, place - 1))
        begin = place
        which = f"version {first} is" if first == last else f"versions {first} to {last} are"
        have = "it has" if first == last else "they have"
        yield Finding(
            "filter_does_not_fit",
            f"{which} not searched: {have} no column that the filter names",
            versions=(first, last),
            branch=rows.view.branch,
        )


def search_on(search: ValueSearch, limit: int, max_bytes: int) -> None:
    """Search until so many rows are found, or so many bytes are read."""
    from tqdm.auto import tqdm

    if search.answered is None and search.waiting and search.bytes_read < max_bytes:
        search.answered = _ask_indices(search)
    bar = tqdm(
        total=len(search.waiting), desc="Searching", unit=" fragments", delay=1.0, leave=False
    )
    with bar:
        while search.waiting and len(search.found) <= limit and search.bytes_read < max_bytes:
            some = _next_ones(search, max_bytes - search.bytes_read)
            for stored, offsets in _matching(search, some):
                if len(offsets):
                    search.hits.append(_Hits(stored, offsets))
                    search.found.update(_identities(search.rows, stored, offsets).tolist())
            del search.waiting[: len(some)]
            bar.update(len(some))


def _ask_indices(search: ValueSearch) -> Answered:
    """Find rows of the last version by indices, where they can be trusted."""
    rows, last = search.rows, search.positions.stop - 1
    trusted = trusted_indices(rows.history)
    some = [one for one in search.waiting if one.last == last and len(one.states()) == 1]
    by_fragment = {stored.fragment_id: stored for stored in some}
    both = {name: [*covered.intersection(by_fragment)] for name, covered in trusted.items()}
    given = {name: fragments for name, fragments in both.items() if fragments}
    if not given:
        return Answered()
    answer = indexed_at(rows, last, given, search.filters[some[0].wanted.schema])
    if answer is None or not answer.fragment_ids:
        return Answered()
    addresses, num_bytes = answer.found
    search.bytes_read += num_bytes
    found = dict(_by_fragment(addresses))
    none = np.empty(0, dtype=np.int64)
    offsets = {id(by_fragment[one]): found.get(one, none) for one in answer.fragment_ids}
    return Answered(answer.names, offsets)


def _answered(search: ValueSearch) -> Mapping[int, NDArray[np.int64]]:
    return {} if search.answered is None else search.answered.offsets


def _next_ones(search: ValueSearch, num_bytes: int) -> list[StoredRows]:
    """Return what to read at once: about so many bytes for the filter, or one fragment."""
    chosen, size = list[StoredRows](), 0.0
    answered = _answered(search)
    for stored in search.waiting[:_FRAGMENTS_AT_ONCE]:
        if id(stored) in answered:
            chosen.append(stored)
            continue
        fragment = search.rows.history.states[stored.pieces[0].state]
        size += bytes_of(fragment, stored.wanted.fields)
        if chosen and size > num_bytes:
            break
        chosen.append(stored)
    return chosen


def _matching(
    search: ValueSearch, some: Sequence[StoredRows]
) -> Iterator[tuple[StoredRows, NDArray[np.int64]]]:
    """Yield the matching rows of some fragments; each fragment is read once."""
    rows, answered = search.rows, _answered(search)
    offsets_by_rows = {id(one): [answered[id(one)]] for one in some if id(one) in answered}
    by_filter = dict[str, list[tuple[StoredRows, Piece]]]()
    for stored in some:
        if id(stored) in answered:
            continue
        pieces = by_filter.setdefault(search.filters[stored.wanted.schema], [])
        pieces += [(stored, piece) for piece in stored.to_read(rows)]
    for filter, pieces in by_filter.items():
        for position, here in reads_of(rows, pieces):
            by_fragment = {stored.fragment_id: stored for stored in here}
            for fragment, offsets in _scanned(search, position, [*by_fragment], filter):
                offsets_by_rows.setdefault(id(by_fragment[fragment]), []).append(offsets)
    for stored in some:
        if id(stored) in offsets_by_rows:
            yield stored, np.unique(np.concatenate(offsets_by_rows[id(stored)]))


def _scanned(
    search: ValueSearch, position: int, fragments: list[int], filter: str
) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the offsets of the matching rows in each of some fragments of a version."""
    rows = search.rows
    matches = matching_at(rows, position, fragments, filter)
    version = rows.history.records[position].version
    for lost in matches.lost:
        search.findings.append(_lost(rows.view.branch, version, lost.fragment_id, lost.error))
    search.bytes_read += matches.bytes_read
    yield from _by_fragment(matches.addresses)


def _by_fragment(addresses: Uint64Array) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield the offsets of row addresses in each fragment."""
    addresses = np.sort(addresses)
    of_fragment = addresses >> np.uint64(FRAGMENT_BITS)
    for fragment in np.unique(of_fragment).tolist():
        yield fragment, (addresses[of_fragment == fragment] & _OFFSETS).astype(np.int64)


def _lost(
    branch: str | None, version: int, fragment_id: int | None, error: LanceExplorerError
) -> Finding:
    return Finding(
        "values_lost",
        f"rows are not read: {error}",
        subject=Subject() if fragment_id is None else Subject("fragment", str(fragment_id)),
        versions=(version, version),
        branch=branch,
        remedy=Remedy(
            "Restore the files from a backup; if they are stored elsewhere, open the table with "
            "allow_bases=[...]."
        ),
    )


def _identities(rows: StateRows, stored: StoredRows, offsets: NDArray[np.int64]) -> Uint64Array:
    state = stored.pieces[-1].state
    rows.load([state], versions=False)
    return rows.ids(state).at(offsets)


def sightings(search: ValueSearch, shown: ShownColumns) -> Sightings:
    """Return when the found rows were live, in time order."""
    rows = search.rows
    contents = dict[object, int]()
    parts = list[Sightings]()
    rows.load({p.state for hit in search.hits for p in hit.stored.pieces}, versions=False)
    for hit in search.hits:
        first = np.uint64(first_address(hit.stored.fragment_id))
        identities = dict[int, Uint64Array]()  # states mostly share their sequence
        for piece, live in hit.stored.lives(rows, hit.offsets):
            if not live.any():
                continue
            offsets = hit.offsets[live]
            count = len(offsets)
            ids = rows.ids(piece.state)
            if id(ids) not in identities:
                identities[id(ids)] = ids.at(hit.offsets)
            for begin, end in shown.stretches(piece.first, piece.last):
                schema = rows.history.records[end].schema
                fields = fields_of(shown.names_at(end), schema)
                files = fields, files_of(rows.history.states[piece.state], fields)
                content = contents.setdefault(files, len(contents))
                parts.append(
                    Sightings(
                        identity=identities[id(ids)][live],
                        address=offsets.astype(np.uint64) + first,
                        first=np.full(count, begin, dtype=np.int64),
                        last=np.full(count, end, dtype=np.int64),
                        content=np.full(count, content, dtype=np.int64),
                    )
                )
    return Sightings.concatenated(parts).in_order()


def newest(seen: Sightings, limit: int) -> Sightings:
    """Return at most so many of the rows, those found last."""
    order = np.lexsort((seen.address, -seen.last))
    _, first = np.unique(seen.identity[order], return_index=True)
    chosen = seen.identity[order][np.sort(first)[:limit]]
    return seen.where(np.isin(seen.identity, chosen))


def with_values(
    search: ValueSearch, seen: Sightings, shown: ShownColumns
) -> tuple[Sightings, pl.DataFrame]:
    """Return stretches with the values that rows had in them; those with equal ones are joined.

    Columns are named as in the latest version.
    """
    rows = search.rows
    ends = zip(seen.first.tolist(), seen.last.tolist(), strict=True)
    positions = np.array([position_to_read(rows, *end) for end in ends], dtype=np.int64)
    parts = dict[int, pl.DataFrame]()
    take, count = np.full(len(seen), -1, dtype=np.int64), 0
    for position in np.unique(positions).tolist():
        here = np.flatnonzero(positions == position)
        values = _values(search, position, seen.where(here), shown)
        if values is not None:
            take[here] = np.arange(count, count + len(here))
            parts[position] = values
            count += len(here)
    latest = len(rows.history) - 1
    stops = [Stop(rows, position) for position in sorted({*parts, latest}, reverse=True)]

    def types_of(stop: Stop) -> pl.Schema:
        if stop.position in parts:
            return parts[stop.position].schema
        types, names = types_if_known(stop, whole_blobs=False), shown.names_at(stop.position)
        return pl.Schema({name: types[name] for name in names if name in types})

    versions = {position: rows.history.records[position].version for position in parts}
    columns = value_columns(stops, types_of, own=FOUND.names)
    branch = rows.view.branch
    in_doubt = [column_in_doubt(doubt, branch, branch) for doubt in columns.doubts]
    search.findings += [one for one in in_doubt if one not in search.findings]
    frames, has = (
        [columns.empty()],
        {name: np.zeros(count, dtype=np.bool_) for name in columns.schema},
    )
    begin = 0
    for position, values in parts.items():
        for name in columns.names_in(rows.view, versions[position]):
            has[name][begin : begin + len(values)] = True
        frames.append(columns.filled(values, rows.view, versions[position]))
        begin += len(values)
    known = take >= 0
    place = pl.Series(take).set(pl.Series(~known), None)
    gathered = pl.concat(frames).select(pl.all().gather(place.cast(pl.UInt32())))
    there = {name: known.copy() for name in has}
    for name, mask in has.items():
        there[name][known] = mask[take[known]]
    has_blobs = any(
        blob_columns(rows.history.records[position].schema).intersection(shown.names_at(position))
        for position in parts
    )
    return merged(rows, seen, gathered, there, has_blobs=has_blobs)


def _values(
    search: ValueSearch, position: int, seen: Sightings, shown: ShownColumns
) -> pl.DataFrame | None:
    """Return values of rows in a version; None if they cannot be read."""
    rows, view = search.rows, search.rows.view
    record = rows.history.records[position]
    asked = shown.names_at(position)
    if not asked:
        return None
    try:
        return values_at(rows, position, seen.address, seen.identity, asked, whole_blobs=False)
    except LanceExplorerError as error:
        view.values_missing(record.version)
        search.findings.append(_lost(view.branch, record.version, None, error))
        return None
