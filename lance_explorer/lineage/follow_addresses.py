"""Where rows at some addresses in one version are in another one: ``follow_addresses``."""

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from lance_explorer.arguments import row_numbers
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.columns import EVIDENCE
from lance_explorer.frames.documented import documented
from lance_explorer.frames.followed import FOLLOWED_ADDRESSES, OUTCOME, Outcome
from lance_explorer.history.events.address_identities import identities_at
from lance_explorer.history.events.doubtful_links import last_links, last_links_at
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.follow_rows import RowsInStep, trace
from lance_explorer.history.events.identity_sets import IdentitySet
from lance_explorer.history.events.row_comparison import live_rows
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.events.step_facts import StepFacts
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.identity.version_positions import position_of
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.event_frame import enum_series, fragments, nulls, only
from lance_explorer.rowids.arrays import Positions, Uint64Array

__all__ = ["follow_addresses"]


@documented(FOLLOWED_ADDRESSES)
def follow_addresses(
    view: HistoryView,
    addresses: ArrayLike,
    begin_version: int | None = None,
    end_version: int | None = None,
) -> pl.DataFrame:
    """Return where rows went: one row for each address, also for repeated ones, in input order.

    ``outcome`` is ``live`` if the row is live at the end, ``not_live`` if none was live at the
    address to begin with, else what ended it on the way: ``deleted``, ``overwritten``, and
    backwards ``created`` or ``restored``. Without stable row IDs a commit may remove and add rows
    that cannot be paired: then the outcome is ``updated`` if it is certain that all were updated,
    else ``updated_or_deleted``, backwards ``created_or_updated``. A restore over such a commit
    gives ``reverted_or_deleted``, backwards ``restored_or_reverted``; where the commit is a
    detached one, ``created_or_updated``. ``follow`` has such rows as deleted, created or restored,
    with ``is_uncertain``. ``unknown`` is what lost versions took along.

    If only counts and order link a row over lost versions, all of this may belong to another row:
    then ``is_uncertain`` is true.

    Parameters
    ----------
    view : HistoryView
        The branch.
    addresses : array_like
        Row addresses in ``begin_version``: fragment ID << 32 | offset.
    begin_version : int, optional
        The version in which the addresses are meant; by default the first one that is kept.
    end_version : int, optional
        The version to follow to, which may be an earlier one; by default the latest.
    """
    rows = state_rows(view)
    asked = row_numbers(addresses, "row addresses")
    if begin_version is None:
        begin_version = int(view.history.versions[0])
    begin = position_of(rows, begin_version)
    end = position_of(rows, view.latest_version if end_version is None else end_version)
    identities, live = identities_at(rows, begin, asked)
    unique, first, inverse = np.unique(identities[live], return_index=True, return_inverse=True)
    forwards = begin <= end
    path = _Path(asked[live][first], forwards=forwards)
    positions = range(begin + 1, end + 1) if forwards else range(begin, end, -1)
    links = last_links_at(rows, begin, unique)
    for in_step in trace(rows, unique, positions):
        step, ids = in_step.events.step, unique[in_step.row]
        was, is_now = [
            last_links(rows, states.values(), ids, addresses)
            for states, addresses in ((step.removed, in_step.before), (step.added, in_step.after))
        ]
        last = np.where((in_step.after == NO_ADDRESS) | (not forwards), was, is_now)
        last = np.where(in_step.before == NO_ADDRESS, is_now, last)
        path.step(in_step, last != links[in_step.row])
    if rows.namesakes or rows.history.is_uncertain.any():
        path.doubt(_may_be_back(rows, unique, end))
    place = np.full(len(asked), -1, dtype=np.int64)
    place[live] = inverse
    return path.frame(asked, place, rows.history.records[end].version)


class _Path:
    """The current places of rows, each identity once; *here* means these places."""

    def __init__(self, addresses: Uint64Array, *, forwards: bool) -> None:
        count = len(addresses)
        self._forwards = forwards
        self._address = addresses.copy()
        self._outcome = np.full(count, Outcome.LIVE, dtype=np.uint8)
        self._version = np.full(count, NO_VERSION, dtype=np.uint64)
        self._written_to = np.full(count, NO_ADDRESS)
        self._evidence = np.zeros(count, dtype=np.uint8)
        self._is_uncertain = np.zeros(count, dtype=np.bool_)
        self._source = np.zeros(count, dtype=np.int64)
        self._sources = list[str]()

    def step(self, in_step: RowsInStep, may_be_other: NDArray[np.bool_]) -> None:
        """Move all rows over one version; rows with an event may be others after it."""
        here, there = in_step.before, in_step.after
        event = in_step.events.event[in_step.run]
        returns = event == RowEvent.RESTORED
        if not self._forwards:
            here, there = there, here
            returns = np.ones(len(event), dtype=np.bool_)  # what ended a row is where it comes from
        # A missing row can only return, and an existing one only continue from its place; an
        # unchanged row needs no entry.
        concerned = (here == self._address[in_step.row]) & (here != there)
        concerned &= (here != NO_ADDRESS) | returns
        concerned &= ~((in_step.before == NO_ADDRESS) & ~np.isin(event, _BRING))
        some = np.flatnonzero(concerned)
        row, run = in_step.row[some], in_step.run[some]
        events = in_step.events
        evidence = events.evidence[run]
        continues = there[some] != NO_ADDRESS
        is_lost = (evidence == Evidence.LOST) & ~continues
        evidence = np.maximum(self._evidence[row], evidence)
        # A row that is found again is identified with certainty, whatever happened to it in
        # between.
        evidence[continues & (evidence == Evidence.LOST)] = Evidence.DERIVED
        self._evidence[row] = evidence
        self._is_uncertain[row] = may_be_other[some]
        self._sources.append(events.step.source)
        self._source[row] = len(self._sources)
        self._address[row] = there[some]
        outcome = _OUTCOMES[events.event[run]]
        outcome = np.where(events.is_uncertain[run], _doubted(events.step)[outcome], outcome)
        outcome = np.where(is_lost, Outcome.UNKNOWN, outcome)
        self._outcome[row] = np.where(continues, Outcome.LIVE, outcome)
        self._version[row] = np.where(continues, NO_VERSION, events.version[run])
        self._written_to[row] = NO_ADDRESS
        if self._forwards and len(events.step.new_fragments) == 1:
            updated = row[self._outcome[row] == Outcome.UPDATED]
            self._written_to[updated] = np.uint64(events.step.new_fragments[0]) << np.uint64(32)

    def doubt(self, where: NDArray[np.bool_]) -> None:
        """Mark rows that are not live at the end as possibly live."""
        chosen = where & (self._outcome != Outcome.LIVE)
        self._outcome[chosen] = Outcome.UNKNOWN
        self._evidence[chosen] = Evidence.LOST

    def frame(self, asked: Uint64Array, place: Positions, end_version: int) -> pl.DataFrame:
        """Return the frame of all addresses, given where each is among the rows; -1 for not."""
        address = np.append(self._address, NO_ADDRESS)[place]
        evidence = np.append(self._evidence, np.uint8(Evidence.RECORDED))[place]
        is_uncertain = np.append(self._is_uncertain, False)[place]
        version = np.append(self._version, np.uint64(NO_VERSION))[place]
        written_to = np.append(self._written_to, NO_ADDRESS)[place]
        outcome = np.append(self._outcome, np.uint8(Outcome.NOT_LIVE))[place]
        last = np.append(self._source, 0)[place]
        names = pl.Series([f"manifest of version {end_version}", *self._sources])
        source = names.gather(pl.Series(last))
        is_told = pl.Series(evidence != Evidence.LOST)
        return FOLLOWED_ADDRESSES.build(
            {
                "_rowaddr": asked,
                "end_rowaddr": nulls(address, address == NO_ADDRESS),
                "outcome": enum_series(outcome, OUTCOME),
                "outcome_version": nulls(version, version == NO_VERSION),
                "end_fragment_id": fragments(np.where(address == NO_ADDRESS, written_to, address)),
                "is_uncertain": is_uncertain,
                "evidence": enum_series(evidence, EVIDENCE),
                "source": only(source, is_told),
            }
        )


def _may_be_back(rows: StateRows, identities: Uint64Array, position: int) -> NDArray[np.bool_]:
    """Tell which rows are in a version, although an unknown commit moved them there.

    With row IDs also those that may be the ones with their IDs, if these are ambiguous.
    """
    live = live_rows(rows, position)
    is_there = IdentitySet.of(live.identity, live.identity + live.length).has(identities)
    if rows.namesakes is None:
        return is_there
    start = rows.row_ids(live.identity)
    ids = IdentitySet.of(start, start + live.length)
    return is_there | (rows.namesakes.are_open(identities) & ids.has(rows.row_ids(identities)))


def _doubted(step: StepFacts) -> NDArray[np.uint8]:
    """Return for each outcome the weaker one for commits that may have done less."""
    outcomes = np.arange(len(Outcome), dtype=np.uint8)
    if step.name == OperationName.RESTORE:
        outcomes[Outcome.DELETED] = Outcome.REVERTED_OR_DELETED
        outcomes[Outcome.RESTORED] = Outcome.RESTORED_OR_REVERTED
        outcomes[Outcome.CREATED] = Outcome.CREATED_OR_UPDATED
    elif step.only_updates:
        outcomes[[Outcome.DELETED, Outcome.CREATED]] = Outcome.UPDATED
    else:
        outcomes[Outcome.DELETED] = Outcome.UPDATED_OR_DELETED
        outcomes[Outcome.CREATED] = Outcome.CREATED_OR_UPDATED
    return outcomes


_BRING = [RowEvent.CREATED, RowEvent.RESTORED]
"""Events of rows that were not live before; other events of such rows add nothing."""

_OUTCOMES = np.full(len(RowEvent), Outcome.UNKNOWN, dtype=np.uint8)
_OUTCOMES[RowEvent.DELETED] = Outcome.DELETED
_OUTCOMES[RowEvent.OVERWRITTEN] = Outcome.OVERWRITTEN
_OUTCOMES[RowEvent.CREATED] = Outcome.CREATED
_OUTCOMES[RowEvent.RESTORED] = Outcome.RESTORED
