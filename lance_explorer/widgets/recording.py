"""The answers of an explorer, asked in advance, so that a page can show them without Python.

Views are asked what the browser would ask them, so that the page shows the same. Answers are stored
under names that ``frontend/src/recorded.ts`` knows: the newest versions come first, and what does
not fit is left out.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from msgspec.structs import asdict, replace

from lance_explorer.frames.sizes import counted
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.table import Table
from lance_explorer.widgets.changed_values import WholeColumns
from lance_explorer.widgets.changes import Changes
from lance_explorer.widgets.comparison import LEFT_OUT
from lance_explorer.widgets.explorer import TABS
from lance_explorer.widgets.grid_view import GridView
from lance_explorer.widgets.log import Log
from lance_explorer.widgets.messages.base import Message, Packed, to_json
from lance_explorer.widgets.messages.changes import Comparison
from lance_explorer.widgets.messages.explorer import About
from lance_explorer.widgets.messages.lineage import FollowedRow, RowValues
from lance_explorer.widgets.messages.parts import Part
from lance_explorer.widgets.messages.recorded import (
    KeptRows,
    Life,
    Missing,
    NotAnswered,
    RecordedPage,
)
from lance_explorer.widgets.messages.shared import Failure
from lance_explorer.widgets.messages.time_travel import ShownVersion
from lance_explorer.widgets.messages.versions import VersionData
from lance_explorer.widgets.overview import Overview
from lance_explorer.widgets.parts import parts_of
from lance_explorer.widgets.row_history import RowHistory
from lance_explorer.widgets.shelves import Shelves, key_of
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.time_travel import TimeTravel
from lance_explorer.widgets.version_reading import PART_OF_WORDS
from lance_explorer.widgets.view import FAILURES, View, failure_of
from lance_explorer.widgets.whole import traits_for_browser

__all__ = ["RECORDED", "Recording", "record"]

RECORDED = ("overview", "log", "time_travel", "changes", "row")
"""The views that work in a page without Python."""

_MOST_VERSIONS = 500
"""The number of versions with rows and changes; fragments and words are stored for all."""

_MOST_ROWS = 100
"""The most rows of a version, and of the changes of a commit."""

_MOST_FOLLOWED = 200
_FOLLOWED_OF_A_COMMIT = 5
_MOST_BYTES_AHEAD = 256 << 20
"""The most bytes of values of rows that are read together."""

_MOST_COLUMNS = 12
"""The most columns of each commit whose differing rows are stored."""

_LONGEST_PAGE = 200_000
"""The most characters of the rows of one page: if rows are large, there are fewer."""

_FEWEST_ROWS = 5
_NAMED_ROWS = 5

NEEDS_PYTHON = "This needs Python: open the table with lance_explorer"
"""Why something is disabled in the page."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The content of a page without Python.

    Attributes
    ----------
    shelves : Shelves
        The answers.
    page : RecordedPage
        The initial state of the page, for the browser.
    words : str
        What the page contains, and what it does not, in some sentences.
    """

    shelves: Shelves
    page: RecordedPage
    words: str


def record(table: Table, room: int) -> Recording | None:
    """Ask the views of a table; None if there is no room for its versions alone.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    room : int
        How large all answers may be, in bytes, compressed and in base64.
    """
    with parts_of(lambda data, buffers: None):
        recorder = _Recorder(table, room)
    try:
        return recorder.record()
    finally:
        recorder.close()


class _Recorder:
    """Asks the views of a table, each with choices of its own."""

    def __init__(self, table: Table, room: int) -> None:
        self._table = table
        self._kept: list[int] = table.versions()["version"].to_list()
        self._place = {version: place for place, version in enumerate(self._kept)}
        self._latest = table._view.latest_version
        self._shelves = Shelves(room)
        self._has_row_ids = table.latest.has_stable_row_ids
        latest = partial(ExplorerState, version=self._latest)
        self._overview = Overview(table, state=latest())
        self._log = Log(table, state=latest())
        self._travel = TimeTravel(table, state=latest())
        self._changes = Changes(table, state=latest(compared_version=self._before(self._latest)))
        self._changes._whole_columns = WholeColumns(table, self._kept[-_MOST_VERSIONS - 1 :])
        self._row = RowHistory(table, state=latest())
        self._rows_seen: dict[int, None] = {}
        self._names: dict[str, str] = {}
        self._followed: list[int] = []

    def _views(self) -> dict[str, View]:
        views = (self._overview, self._log, self._travel, self._changes, self._row)
        return dict(zip(RECORDED, views, strict=True))

    def close(self) -> None:
        for view in self._views().values():
            view.close()

    def record(self) -> Recording | None:
        from tqdm.auto import tqdm

        shelves = self._shelves
        steps = partial(tqdm, delay=1.0, leave=False)
        self._changes.rest()
        self._changes.is_shown = False  # it compares when it is told to
        if not self._put_basis():
            return None
        self._put_of_all()
        held = shelves.room // 4  # for the lives of rows
        shelves.room -= held
        newest = self._kept[: -_MOST_VERSIONS - 1 : -1]
        self._while_room(steps(newest, "Keeping versions", unit=" versions"), self._put_version)
        self._put_changes(*self._whole)
        shelves.close()
        shelves.room += held
        rows = [*self._rows_seen][:_MOST_FOLLOWED]
        if self._bytes_of_a_row() * len(rows) <= _MOST_BYTES_AHEAD:
            self._row.read_ahead(rows)
        self._while_room(steps(rows, "Following rows", unit=" rows"), self._put_row)
        self._followed = [row for row in rows if key_of("row", row) in shelves.index]
        absent = [TABS[name].label for name in TABS if name not in RECORDED]
        words = (
            f"This page works from its file alone. {self._words()} "
            f"{', '.join(absent[:-1])} and {absent[-1]}, filters and the search need Python."
        )
        return Recording(shelves, self._recorded_page(), words)

    # ---------------------------------------------------------------------------- what is asked

    def _put_basis(self) -> bool:
        """Store the answers that the page needs in any case."""
        history = self._travel.ask("history")
        own = _without_versions(self._changes.ask("history"))
        put = self._shelves.put
        return (
            put(key_of("history"), history)
            and put(key_of("changes"), own)
            and put(key_of("open"), self._row.ask("open"))
            and all(put(key, words) for key, words in self._words_of_commits())
            and self._shelves.close()
        )

    def _words_of_commits(self) -> Iterator[tuple[str, Message]]:
        """Yield what all commits did, in the parts in which the browser asks for it."""
        for begin in range(0, len(self._kept), PART_OF_WORDS):
            some = self._kept[begin : begin + PART_OF_WORDS]
            words = self._travel.ask("words", first=some[0], last=some[-1])
            yield key_of("words", some[0], some[-1]), words

    def _put_of_all(self) -> None:
        """Store the answers that do not depend on a version: the overview, and the log."""
        story = self._answer(self._overview, "story")
        if isinstance(story, VersionData):
            story = _without_versions(story)
        asked = (
            ("story", story),
            ("lately", self._answer(self._overview, "lately")),
            ("first_rows", self._answer(self._overview, "first_rows")),
            ("sizes", self._answer(self._overview, "sizes")),
            ("advice", self._answer(self._overview, "advice")),
            ("disk", self._answer(self._overview, "disk")),
            ("plans", self._answer(self._overview, "plans")),
            ("log about", self._answer(self._log, "about")),
            ("log", self._answer(self._log, "log", filters={})),
        )
        for key, answer in asked:
            self._shelves.put(key_of(key), answer)
            self._shelves.close()

    def _put_version(self, version: int) -> bool:
        """Store a version, and what its commit changed."""
        put = self._shelves.put
        details = self._answer(self._travel, "details", version=version)
        return (
            put(key_of("details", version), details)
            and self._put_changes(self._before(version), version)
            and put(key_of("rows", version), self._rows_of(version))
        )

    def _rows_of(self, version: int) -> Any:
        shown = self._answer(self._travel, "show_version", version=version)
        if not isinstance(shown, ShownVersion) or shown.problem is not None:
            return shown
        rows = self._page(self._travel)
        ids = [] if rows.page is None else self._travel.row_ids(len(rows.page.positions))
        if version == self._kept[-1]:
            self._rows_seen |= dict.fromkeys(ids)
        return replace(rows, has_row_ids=shown.has_row_ids, ids=tuple(map(str, ids)))

    def _put_changes(self, begin: int, end: int) -> bool:
        view, put = self._changes, self._shelves.put
        view.state.compared_version, view.state.version = begin, end
        view.compare_now()
        about: Comparison = view.ask("comparison")
        has_room = put(key_of("compared", begin, end), about)
        if about.problem:
            return has_room
        has_room &= put(key_of("values", begin, end), self._answer(view, "values"))
        every = self._changed_rows(view)
        num_rows = str(every.about.num_rows) if every.about else None
        with_all, others = list[str](), list[tuple[str, str | None, str | None]]()
        for change, column, count in _narrowed(about):
            key = key_of("changed", begin, end, change, column)
            is_shown = change is None or RowEvent[change.upper()] not in LEFT_OUT
            if is_shown and count == num_rows:
                with_all.append(key)
            else:
                others.append((key, change, column))
        has_room &= put(key_of("changed", begin, end, None, None), every, *with_all)
        for key, change, column in others:
            if not has_room:
                return False
            view.compare_now(change, column)
            has_room = put(key, self._changed_rows(view))
        return has_room

    def _changed_rows(self, view: Changes) -> KeptRows:
        rows = self._page(view)
        ids = [] if rows.page is None else view.row_ids(len(rows.page.positions))
        some = [row for row in ids[:_FOLLOWED_OF_A_COMMIT] if row is not None]
        self._rows_seen |= dict.fromkeys(some)
        return replace(rows, ids=tuple([None if row is None else str(row) for row in ids]))

    def _bytes_of_a_row(self) -> float:
        """Return how many bytes a row may have at all of its events; infinite if unknown."""
        data_bytes, num_rows = self._table.versions().select("data_bytes", "num_rows").row(-1)
        if data_bytes is None or not num_rows:
            return math.inf
        return float(len(self._kept) * data_bytes / num_rows)

    def _put_row(self, row: int) -> bool:
        """Store the life of a row, with its values."""
        view = self._row
        view.state.row_id = row
        life = self._answer(view, "row")
        events = life.events if isinstance(life, FollowedRow) else ()
        values = self._answer(view, "values") if events else RowValues()
        view.rest()
        if events:
            last = events[-1]
            self._names[str(row)] = str(row)
            if not last.is_end:
                self._names[f"{last.fragment_id}:{last.offset}"] = str(row)
        kept = Life(life=life, values=values, **asdict(self._page(view)))
        return self._shelves.put(key_of("row", row), kept)

    def _page(self, view: GridView) -> KeptRows:
        """Return the first rows of a view, with their description, or why it fails."""
        try:
            about = view.ask("rows")
            heads = view.ask("heads")  # before the page, whose rows are among theirs
            page = view.ask("page", first=0, count=_MOST_ROWS)
            size = len(str(to_json(page)))
            if size > _LONGEST_PAGE:
                fewer = max(_FEWEST_ROWS, len(page.positions) * _LONGEST_PAGE // size)
                page = view.ask("page", first=0, count=fewer)
        except FAILURES as error:
            return KeptRows(not_answered=_failure(error))
        return KeptRows(about=about, page=page, heads=heads)

    def _answer(self, view: View, kind: str, **arguments: Any) -> Any:
        """Return an answer, or the reason for none."""
        try:
            return view.ask(kind, **arguments)
        except FAILURES as error:
            return NotAnswered(_failure(error))

    def _while_room(self, things: Iterable[int], put: Callable[[int], bool]) -> None:
        """Store answers as long as there is room."""
        for thing in things:
            if not put(thing):
                return
        self._shelves.close()

    def _before(self, version: int) -> int:
        """Return the version to compare with: the previous kept one."""
        place = self._place.get(version, len(self._kept))
        if place:
            return self._kept[place - 1]
        return 0 if version == 1 else version

    # ---------------------------------------------------------------------------- the page

    def _recorded_page(self) -> RecordedPage:
        words = self._words()
        parts = {}
        for number, (name, view) in enumerate(self._views().items(), 1):
            part = Part(number=number, **traits_for_browser(view.traits_to_share(), is_linked=True))
            label, opens = TABS[name].label, [*RECORDED]
            parts[name] = replace(part, label=label, opens=opens, offline=NEEDS_PYTHON)
        return RecordedPage(
            about=About(
                name=self._table._view.name,
                uri=self._table.uri,
                branch=self._table.branch,
                branches=[],
                tabs=[TABS[name].message for name in RECORDED],
            ),
            latest=str(self._latest),
            offline=NEEDS_PYTHON,
            parts=parts,
            tags=self._tags(),
            names=self._names,
            rows=[str(row) for row in sorted(self._followed)],
            index=self._shelves.index,
            missing=Missing(
                title="The page does not have it",
                rows=f"This page does not have them. {words}",
                changes=f"This page does not have it. {words}",
                life=f"This page does not have that row. {words}",
                version="This page knows versions by their number and tags, of this branch.",
                whole="cut: the whole value needs Python",
                other=f"This page has no room for it. {NEEDS_PYTHON}.",
            ),
        )

    def _tags(self) -> dict[str, str]:
        branch = self._table.branch
        tags = self._table.tags.items()
        return {name: str(tag.version) for name, tag in tags if tag.branch == branch}

    def _words(self) -> str:
        """Return what is there."""
        return (
            f"It has {counted(len(self._kept), 'version')}, {self._rows_words()}, "
            f"{self._changes_words()}, and {self._lives_words()}."
        )

    def _rows_words(self) -> str:
        return f"at most {_MOST_ROWS} rows of {self._those_with(lambda version: ('rows', version))}"

    def _changes_words(self) -> str:
        of = self._those_with(lambda version: ("compared", self._before(version), version))
        has_whole = key_of("compared", *self._whole) in self._index
        return f"what changed in {of}{' and from the first to the last' if has_whole else ''}"

    def _lives_words(self) -> str:
        if not self._followed:
            return "the life of no row"
        some = ", ".join([f"{row:,}" for row in sorted(self._followed)[:_NAMED_ROWS]])
        more = ", ..." if len(self._followed) > _NAMED_ROWS else ""
        return f"the lives of {counted(len(self._followed), 'row')} ({some}{more})"

    def _those_with(self, parts_of_key: Callable[[int], tuple[str | int, ...]]) -> str:
        """Return which versions are stored, in words."""
        kept = [version for version in self._kept if key_of(*parts_of_key(version)) in self._index]
        if len(kept) == len(self._kept):
            return "each"
        between = f", {kept[0]:,} to {kept[-1]:,}" if kept else ""
        return f"{len(kept):,} of them{between}"

    @property
    def _index(self) -> Mapping[str, object]:
        return self._shelves.index

    @property
    def _whole(self) -> tuple[int, int]:
        """The first and the last version, as the button ``All`` chooses them."""
        first = self._kept[0]
        return (0 if first == self._latest == 1 else first), self._latest


def _narrowed(about: Comparison) -> Iterator[tuple[str | None, str | None, str]]:
    """Yield the selections of some changed rows: a class or a column, and how many rows it has."""
    for one in about.classes or ():
        if one.num_rows not in ("0", None):
            yield one.name, None, one.num_rows
    differ = [cell for cell in (about.cells.columns if about.cells else ()) if cell.num_rows != "0"]
    yield from [(None, cell.name, cell.num_rows) for cell in differ[:_MOST_COLUMNS]]


def _failure(error: BaseException) -> Failure:
    """Return an error without lines of code: anybody may read the page."""
    return replace(failure_of(error), details="")


def _without_versions(data: VersionData) -> Packed:
    """Return the part of a message that differs between versions; the rest is stored once."""
    own = [name for name in data.__struct_fields__ if name not in VersionData.__struct_fields__]
    return Packed({name: to_json(getattr(data, name)) for name in own})
