"""Forget the values of some rows: in a ledger, in the cache; and report where else they are."""

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version as release_of

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.errors import FormatError, InvalidArgumentError, LanceExplorerError
from lance_explorer.format.schema import column_fields
from lance_explorer.format.without_words import without_words
from lance_explorer.frames.columns import BRANCH, COUNT, ID, TEXT, Column, FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.history.events.address_identities import identities_at
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.cache_files import remove_table
from lance_explorer.ledger.cache_later import finish_writing
from lance_explorer.ledger.kept_values import KeptCommit, ValuesFile
from lance_explorer.ledger.recorded_table import RecordedTable
from lance_explorer.ledger.recorder import manifest_without_words
from lance_explorer.ledger.segments import Segment, write_segment
from lance_explorer.lineage.ancestors import fork_of, identities_in_parent
from lance_explorer.lineage.find import Found, find
from lance_explorer.lineage.found_rows import FOUND
from lance_explorer.lineage.timeline import Stay, stays
from lance_explorer.lineage.where import TEXTS, filter_for, is_word
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.storage.value_uris import ValueUri
from lance_explorer.values import matching_values

__all__ = ["FORGOTTEN", "forget_values"]

FORGOTTEN = FrameSchema(
    "forgotten",
    (
        Column("place", TEXT, "ledger, cache or table"),
        Column("what", TEXT, "removed, still there or not searched"),
        BRANCH,
        Column("first_version", ID, "first version concerned", nullable=True),
        Column("last_version", ID, "last version concerned", nullable=True),
        Column("num_rows", COUNT, "rows concerned", nullable=True, unit="rows"),
        Column("statement", TEXT, "what was removed, or is left to do"),
    ),
)

_QUOTED = re.compile(r"'((?:[^']|'')+)'")
_SHORTEST = 4
"""Shorter texts and numbers of a row occur in too many words by chance."""

_MOST_TEXTS = 1_000

_EVERYTHING = 1 << 62

_Line = tuple[str, str, str | None, int | None, int | None, int | None, str]


def forget_values(
    known: RecordedTable, view: HistoryView, where: str, *, is_there: bool
) -> pl.DataFrame:
    """Remove the values of rows from what is recorded of a table, and from the cache.

    Parameters
    ----------
    known : RecordedTable
        What is recorded.
    view : HistoryView
        The table with it; what was recorded alone, if the table is not there.
    where : str
        Which rows, as an SQL expression.
    is_there : bool
        Whether the table is there.

    Returns
    -------
    polars.DataFrame
        The columns of ``FORGOTTEN``.
    """
    work = _Forgetting(known, view, where, is_there)
    lines = [*work.removed()]
    if is_there:
        lines += work.left()
    lines += work.not_searched
    columns = zip(*lines, strict=True) if lines else [[] for _ in FORGOTTEN.names]
    return FORGOTTEN.build(dict(zip(FORGOTTEN.names, map(list, columns), strict=True)))


@dataclass
class _Forgetting:
    known: RecordedTable
    view: HistoryView
    where: str
    is_there: bool
    not_searched: list[_Line] = field(default_factory=list)
    _rows: dict[str | None, StateRows] = field(default_factory=dict)
    _found: dict[str | None, Found] = field(default_factory=dict)
    _wanted: dict[str | None, Uint64Array] = field(default_factory=dict)
    _texts: set[str] = field(default_factory=set)
    _unfit: set[str | None] = field(default_factory=set)
    _fits: bool = False
    _refusals: dict[str | None, InvalidArgumentError] = field(default_factory=dict)

    def removed(self) -> Iterator[_Line]:
        """Remove kept values, words and the cache; yield a line for each."""
        branches = [*dict.fromkeys([None, *self.known.branches(), *self.view.refs.branches])]
        for branch in branches:
            self._look(branch)
        if self._refusals and not self._found:
            raise next(iter(self._refusals.values()))
        for branch in reversed(branches):  # those that refer to others come after these
            self._add_to_parent(branch)
        for branch in branches:
            yield from self._without_values(branch)
        for branch in branches:
            yield from self._without_words(branch)
        yield from self._without_cache()

    def left(self) -> Iterator[_Line]:
        """Yield a line for each place where the rows still are."""
        is_left = False
        for branch, wanted in self._wanted.items():
            rows = self._rows[branch]
            records = rows.history.records
            there = set[int]()
            count = num_live = num_deleted = 0
            latest = rows.history.by_id(rows.history.intervals.at(len(records) - 1))
            for identity in wanted.tolist():
                known = stays(rows, identity)
                stretches = [range(one.first, one.last + 1) for one in known]
                num_deleted += any(_is_in_file(rows, latest, one) for one in known)
                own = {p for some in stretches for p in some if not records[p].file.is_recorded}
                there |= own
                count += bool(own)
                num_live += len(records) - 1 in own
            if num_deleted:
                words = (
                    f"data files of the latest version of {branch or 'main'} hold deleted copies "
                    f"of {counted(num_deleted, 'row')}: compact with "
                    "materialize_deletions_threshold=0.0, then clean up"
                )
                yield "table", "still there", branch, None, None, num_deleted, words
            if not there:
                continue
            is_left = True
            first, last = records[min(there)].version, records[max(there)].version
            stands = f"{counted(count, 'row')} {'stands' if count == 1 else 'stand'}"
            todo = "clean up"
            if num_live:
                todo = f"{'it is' if count == 1 else f'{num_live:,} are'} live: delete, then {todo}"
            words = f"{stands} in {_span('version', first, last)} of {branch or 'main'}: {todo}"
            yield "table", "still there", branch, first, last, count, words
            versions = {records[position].version for position in there}
            for tag, ref in self.view.refs.tags.items():
                if ref.branch == branch and ref.version in versions:
                    words = f"tag {tag} keeps version {ref.version}, which has such rows"
                    yield "table", "still there", branch, ref.version, ref.version, None, words
        if is_left:
            words = "record(values=...) keeps the values of rows that are deleted after this"
            yield "ledger", "still there", None, None, None, None, words
        words = (
            "clones, copies and backups are other tables: search each with find(), and forget its "
            "values under its own name"
        )
        yield "table", "not searched", None, None, None, None, words

    def _view(self, branch: str | None) -> HistoryView:
        return self.view.on_branch(branch)

    # -------------------------------------------------------------------------------- who

    def _look(self, branch: str | None) -> None:
        """Find the rows of a branch that match, or once did."""
        try:
            view = self._view(branch)
            rows = state_rows(view)
            if not len(rows.history):
                return
        except LanceExplorerError as error:
            self._note(branch, f"{branch or 'main'} is not read: {error}")
            return
        self._rows[branch] = rows
        try:
            matches = find(view, self.where, limit=_EVERYTHING, max_bytes=_EVERYTHING)
            frame = matches.to_polars()
        except InvalidArgumentError as error:
            self._refusals[branch] = error
            self._note(branch, f"{branch or 'main'}: {error}")
            return
        self._found[branch] = matches
        if len(findings := matches.findings()) and self.is_there:
            more = f", and {len(findings) - 1:,} more" if len(findings) > 1 else ""
            self._note(branch, f"{findings['statement'][0]}{more}: see find()")
        self._add_texts(frame.select(frame.columns[len(FOUND.names) :]))
        self._add(branch, np.empty(0, dtype=np.uint64))
        for version in frame["last_version"].unique().to_list():
            addresses = frame.filter(last_version=version)["_rowaddr"].to_numpy()
            position = rows.history.position(version)
            identities, live = identities_at(rows, position, addresses)
            self._add(branch, identities[live])

    def _add(self, branch: str | None, identities: Uint64Array) -> None:
        known = self._wanted.get(branch, np.empty(0, dtype=np.uint64))
        self._wanted[branch] = np.union1d(known, identities.astype(np.uint64))

    def _add_to_parent(self, branch: str | None) -> None:
        """Treat rows that a branch has from its parent as those of the parent, too."""
        rows, wanted = self._rows.get(branch), self._wanted.get(branch)
        if branch is None or rows is None or wanted is None or not len(wanted):
            return
        fork = fork_of(rows.view)
        if fork is not None:
            inherited, were_there = identities_in_parent(rows, fork, wanted)
            self._add(fork.parent.view.branch, inherited[were_there])

    def _are_wanted(
        self, rows: StateRows, branch: str | None, identities: Uint64Array
    ) -> NDArray[np.bool_]:
        """Tell which rows are to be forgotten."""
        wanted = self._wanted.get(branch, np.empty(0, dtype=np.uint64))
        are_wanted: NDArray[np.bool_] = np.isin(identities, wanted)
        fork = fork_of(rows.view) if branch is not None else None
        if fork is not None:
            inherited, were_there = identities_in_parent(rows, fork, identities)
            parent = fork.parent.view.branch
            are_wanted |= were_there & self._are_wanted(fork.parent, parent, inherited)
        return are_wanted

    # ------------------------------------------------------------------------------ values

    def _without_values(self, branch: str | None) -> Iterator[_Line]:
        kept = self.known.kept_values(branch)
        if not kept.commits:
            return
        versions = list[int]()

        def is_gone(commit: KeptCommit, file: ValuesFile) -> NDArray[np.bool_]:
            are_matches = self._match(branch, commit, file)
            are_matches |= self._are_of_wanted(branch, commit, file)
            if are_matches.any():
                versions.append(commit.version)
                self._add_texts(file.values.filter(pl.Series(are_matches)))
            return are_matches

        num_rows = kept.without(is_gone)
        if branch in self._unfit and not self._fits:
            self._note(
                branch,
                "no kept value has the columns of the filter: rows were found in the table alone",
            )
        for error in kept.damage:
            self._note(branch, f"a damaged file of values was deleted: {error}")
        if versions:
            first, last = min(versions), max(versions)
            ended = _span("commit", first, last)
            words = f"former values of {counted(num_rows, 'row')}, which {ended} ended"
            yield "ledger", "removed", branch, first, last, num_rows, words

    def _match(self, branch: str | None, commit: KeptCommit, file: ValuesFile) -> NDArray[np.bool_]:
        """Return which values match themselves."""
        are_matches, values = np.zeros(len(file.addresses), dtype=np.bool_), file.values
        rows = self._rows.get(branch)
        try:
            if rows is None or commit.version_before not in rows.history:
                filter = self.where
            else:
                records = rows.history.records
                word = is_word(self.where, [record.schema for record in records])
                schema = records[rows.history.position(commit.version_before)].schema
                fields = [f for name in values.columns for f in column_fields(schema)[name]]
                filter = filter_for(self.where, tuple(fields), is_word=word) or ""
            if filter:
                root, types = ValueUri(self.known.uri), values.to_arrow().schema
                are_matches[matching_values(root, values, types, filter)] = True
                self._fits = True
        except InvalidArgumentError:  # these have other columns
            self._unfit.add(branch)
        except LanceExplorerError as error:
            words = f"kept values of {', '.join(values.columns)} were found by their rows alone"
            self._note(branch, f"{words}: {error}", commit.version)
        return are_matches

    def _are_of_wanted(
        self, branch: str | None, commit: KeptCommit, file: ValuesFile
    ) -> NDArray[np.bool_]:
        """Return which values belong to found rows."""
        none = np.zeros(len(file.addresses), dtype=np.bool_)
        rows = self._rows.get(branch)
        if rows is None or commit.version_before not in rows.history:
            return none
        position = rows.history.position(commit.version_before)
        identities, live = identities_at(rows, position, file.addresses)
        return live & self._are_wanted(rows, branch, identities)

    # ------------------------------------------------------------------------------- words

    def _without_words(self, branch: str | None) -> Iterator[_Line]:
        """Remove predicates, messages and properties of commits that mention the rows."""
        needles = [self.where, *_QUOTED.findall(self.where), *(self._texts - self._shared)]
        bits = [needle.replace("''", "'").encode() for needle in needles if needle]
        place, folder = self.known.place, self.known.folder(branch)
        old = {info.name for info in place.files(folder) if info.name[0] == "."}  # unfinished
        new, versions = set[str](), list[int]()
        for segment in (one for life in self.known.lives(branch) for one in life.segments):
            versions_with_words = _versions_with(segment, bits)
            versions += versions_with_words
            old |= {*segment.names, *segment.about.replaces}  # merged files contain the same
            new |= (
                _redacted(segment, versions_with_words) if versions_with_words else segment
            ).names
        for name in sorted(old - new, key=lambda name: (not name.startswith("versions-"), name)):
            place.delete(f"{folder}/{name}")
        for finding in self.known.findings(branch):
            if finding.code == "damaged_ledger":
                self._note(branch, finding.statement)
        if versions:
            self.known.forget(branch)
            count = counted(len({*versions}), "commit")
            words = f"predicates, messages and properties of {count} about such rows"
            yield "ledger", "removed", branch, min(versions), max(versions), None, words

    @cached_property
    def _shared(self) -> set[str]:
        """The texts of other rows of the latest version, which are not forgotten."""
        from lance_explorer.values import read_rows

        matches = self._found.get(None)
        if matches is None or not self.is_there or len(self._texts) > _MOST_TEXTS:
            return set()
        record = self._rows[None].history.records[-1]
        named = filter_for(self.where, record.schema, is_word=is_word(self.where, [record.schema]))
        texts = ", ".join("'" + one.replace("'", "''") + "'" for one in sorted(self._texts))
        shared = set[str]()
        for column in [
            f.name for f in record.schema if f.parent_id < 0 and f.logical_type in TEXTS
        ]:
            others = f"`{column}` IN ({texts}) AND ({named}) IS NOT TRUE"
            root = value_root(self.view, record.version)
            with suppress(LanceExplorerError):  # then more words are removed than necessary
                check_values(self.view, record.version)
                rows = read_rows(
                    root, record.version, [column], others, None, None, self.view.storage.options
                )
                shared |= {*rows[column].unique().to_list()}
        return shared

    def _add_texts(self, frame: pl.DataFrame) -> None:
        """Note what rows say, to look for it in words; of numbers, what the filter is about."""
        for column in frame.get_columns():
            is_number = column.dtype.is_integer() and column.name in self.where
            if column.dtype == pl.String or is_number:
                texts = column.drop_nulls().unique().cast(pl.String)
                self._texts |= {one for one in texts.to_list() if len(one) >= _SHORTEST}
            elif isinstance(column.dtype, pl.Struct):
                self._add_texts(column.struct.unnest())
            elif column.dtype in (pl.List(pl.String), pl.List(pl.Struct)):
                self._add_texts(column.explode().to_frame())

    # ------------------------------------------------------------------------------- cache

    def _without_cache(self) -> Iterator[_Line]:
        finish_writing()  # or it would write what it read before
        if remove_table(self.known.uri):
            words = "histories and profiles of the table: they are made again when needed"
            yield "cache", "removed", None, None, None, None, words

    def _note(self, branch: str | None, words: str, version: int | None = None) -> None:
        line = ("table", "not searched", branch, version, version, None, words)
        if line not in self.not_searched:
            self.not_searched.append(line)


def _span(what: str, first: int, last: int) -> str:
    """Return versions, or commits, in words."""
    return f"{what} {first}" if first == last else f"{what}s {first} to {last}"


def _is_in_file(rows: StateRows, latest: Mapping[int, int], stay: Stay) -> bool:
    """Tell whether a deleted row is in a file of the latest version."""
    fragment = rows.history.states[stay.state]
    now = latest.get(fragment.id)
    if now is None:
        return False
    files = {file.path for file in rows.history.states[now].files}
    return stay.offset in rows.deleted(now) and any(one.path in files for one in fragment.files)


def _versions_with(segment: Segment, needles: Iterable[bytes]) -> list[int]:
    """Return the versions whose transaction, or whole manifest, contains one of some texts."""
    rows = segment.versions.select("version", "transaction", "raw").iter_rows()
    return [
        version
        for version, *parts in rows
        if any(part is not None and needle in part for needle in needles for part in parts)
    ]


def _redacted(segment: Segment, versions: list[int]) -> Segment:
    """Rewrite a segment without what people wrote into the transactions of some versions."""
    rows = {name: segment.versions[name].to_list() for name in ("version", "transaction", "raw")}
    for place, version in enumerate(rows["version"]):
        if version not in versions:
            continue
        if (transaction := rows["transaction"][place]) is not None:
            try:
                rows["transaction"][place] = without_words(transaction)
            except FormatError:
                rows["transaction"][place] = None
        if (raw := rows["raw"][place]) is not None:
            rows["raw"][place] = manifest_without_words(raw)
    frames = {kind: segment.read(kind) for kind in segment.about.files}
    frames["versions"] = segment.versions.with_columns(
        [pl.Series(name, rows[name], pl.Binary()) for name in ("transaction", "raw")]
    )
    left_out = sorted({*segment.about.left_out, "words"})
    about = replace(
        segment.about,
        release=release_of("lance-explorer"),
        replaces=sorted({*segment.names, *segment.about.replaces}),
        left_out=left_out,
    )
    return write_segment(segment.place, segment.folder, frames, about)
