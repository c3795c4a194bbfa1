"""Questions that people ask of a table, and their answers: a sentence, what shows it, and the code.

A question is a text such as ``who deleted photo_id = 42``. What is typed without a question is for
:mod:`lance_explorer.widgets.search`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from lance_explorer.checks.advice import NOTHING_TO_DO, advice, advice_counts
from lance_explorer.disk.plans import plans
from lance_explorer.disk.usage import DiskUsage
from lance_explorer.errors import LanceExplorerError
from lance_explorer.frames.sizes import counted
from lance_explorer.inspect.size_origins import size_origins
from lance_explorer.inspect.size_words import headline
from lance_explorer.lineage.find import Found
from lance_explorer.lineage.found_rows import FOUND
from lance_explorer.table import Table
from lance_explorer.widgets.advice_data import VIEWS_OF_CHECKS
from lance_explorer.widgets.cell_text import text_of
from lance_explorer.widgets.code_lines import call
from lance_explorer.widgets.disk_data import on_disk
from lance_explorer.widgets.row_lookup import row_named

__all__ = ["QUESTIONS", "Answer", "Line", "answer_to", "examples", "found_answer"]

_MOST_LINES = 12
_MOST_VALUES = 4
_LONGEST_VALUE = 40


@dataclass(frozen=True, slots=True)
class Line:
    """A piece of evidence, and where to look at it.

    Attributes
    ----------
    words : str
        What it is; names stand in backticks.
    view : str or None
        The view that shows it, with ``changes`` chosen.
    changes : mapping of str to int
        The choices: ``version``, ``row_id`` and so on.
    branch : str or None
        The branch that these are of.
    """

    words: str
    view: str | None = None
    changes: Mapping[str, int] = field(default_factory=dict)
    branch: str | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: in a sentence, with evidence, a view that shows more, and the code that asks it.

    Attributes
    ----------
    sentence : str
        The answer.
    lines : sequence of Line
        What it rests on, the most telling first.
    code : str
        Lines of Python, where ``table`` is the table.
    place : Line, optional
        The view that shows more; its words are its name.
    filters : mapping, optional
        Of the log, if that is the view.
    """

    sentence: str
    lines: Sequence[Line]
    code: str
    place: Line | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)


def answer_to(table: Table, typed: str) -> Answer | None:
    """Return the answer to a question; None for a text that is none.

    Examples
    --------
    >>> answer_to(table, "who deleted id = 2").sentence
    '1 row was deleted in version 4 by Delete where `id = 2`.'
    >>> answer_to(table, "what changed since 5").code
    'table.changes(5).summary()'
    >>> answer_to(table, "hello") is None
    True
    """
    text = typed.strip().rstrip("?").rstrip()
    for pattern, ask in _ASKED:
        if found := pattern.fullmatch(text):
            return ask(table, *found.groups())
    return None


def examples(table: Table) -> list[tuple[str, str]]:
    """Return texts that can be searched for in a table, and what each of them finds.

    A text that ends in a space is to be completed. The first three can be tried as they are.
    """
    column, value, other = _a_value(table)
    one = None if column is None else f"{column} = {value}"
    kept = [file.version for file in table.source.listing.versions]
    before = kept[max(0, len(kept) - 11)] if kept else 0
    told = [
        *([(one, "rows with this value, live or deleted, in all versions")] if one else []),
        (f"what changed since {before}", "rows by what happened to them; also since yesterday"),
        ("why is it big", "what is on disk, and who wrote it"),
        ("who deleted ", "a filter, such as id = 42, or a word: when and by which commit"),
        (
            f"who changed {other} of {one}" if one else "who changed ",
            "the commit that last changed these cells, and what was there before",
        ),
        (
            f"what touched {other}" if one else "what touched ",
            "the commits that can have changed a column",
        ),
        *[(f"what is on {name}", "what a branch has of its own") for name in table.branches][:3],
        ("what should be done", "what all checks find"),
    ]
    return [(text, hint) for text, hint in told if text]


def found_answer(table: Table, found: Found) -> Answer:
    """Return rows that were found by their values as an answer."""
    rows = found.to_polars()
    newest = rows.unique("_rowid", keep="first", maintain_order=True)
    ends = pl.when("is_live").then(pl.lit("live")).otherwise(pl.col("ended_as").cast(pl.String))
    counts = newest.group_by(ends.alias("end"), maintain_order=True).len()
    parts = [
        f"{count:,} {_ENDED.get(end, 'not there any more')}" for end, count in counts.iter_rows()
    ]
    of_these = f"Of the newest {len(newest):,}: " if found.num_rows > len(rows) else ""
    told = f" {of_these}{', '.join(parts)}." if parts else ""
    if len(newest) == 1:
        row = newest.row(0, named=True)
        told = " It is live." if row["is_live"] else f" It was {_end(row)}."
    columns = _telling(rows, found.where)
    some = rows.head(_MOST_LINES).iter_rows(named=True)
    lines = [_sighting(table, row, columns) for row in some]
    code = f"{call('table.find', found.where)}.to_polars()"
    place = lines[0] if len({line.changes.get("row_id") for line in lines}) == 1 else None
    if place is not None:
        place = Line("Open the row", place.view, place.changes)
    return Answer(f"{_sentence(found)}{told}", lines, code, place)


_ENDED = {
    "live": "live",
    "deleted": "deleted",
    "overwritten": "gone with an overwrite",
    "updated": "with other values now",
    "column_rewritten": "with other values now",
}
_EVENTS = {
    "inserted": "inserted",
    "updated": "updated",
    "deleted": "deleted",
    "column_rewritten": "with a rewritten column",
    "column_added": "with a new column",
}


def _sentence(found: Found) -> str:
    """Return how far a search went; a view has a button to go on."""
    return found.sentence.removesuffix(" go_on() tells more.")


def _telling(rows: pl.DataFrame, where: str) -> list[str]:
    """Return columns, the most telling first: those that are asked for, then those that change."""
    some = [
        column.name
        for column in rows.drop(FOUND.names)
        if not column.dtype.is_nested() and column.dtype not in (pl.Binary, pl.Object)
    ]
    changed = rows.group_by("_rowid").agg(pl.col(some).n_unique()).drop("_rowid").max()
    is_asked = {name: re.search(rf"\b{re.escape(name)}\b", where) is not None for name in some}
    return sorted(some, key=lambda name: (not is_asked[name], (changed[name][0] or 0) < 2))


def _sighting(table: Table, row: Mapping[str, Any], columns: Sequence[str]) -> Line:
    """Return a row as it was in some versions."""
    first, last = row["first_version"], row["last_version"]
    when = f"version {last:,}" if first == last else f"versions {first:,} to {last:,}"
    what = "live" if row["is_live"] else _end(row)
    name = f"row {row['_rowid']:,}"
    values = _values({name: row[name] for name in columns})
    changes = _row_choice(table, row)
    words = f"{name}, {when}: {values}; {what}" if values else f"{name}, {when}; {what}"
    return Line(words, "row" if changes else "time_travel", changes or {"version": last})


def _end(row: Mapping[str, Any]) -> str:
    """Return what happened to a row that is not live."""
    if row["ended_as"] is None:
        return "not seen so after that"
    event = row["ended_as"].replace("_", " ")
    when = "" if row["ended_version"] is None else f" in version {row['ended_version']:,}"
    return f"{event}{when}{_why(row)}"


def _why(row: Mapping[str, Any]) -> str:
    """Return which commit did it, and who made that."""
    operation = row.get("ended_operation") or row.get("operation")
    told = f" by {operation}" if operation else ""
    if row["predicate"]:
        told += f" where `{row['predicate']}`"
    if row["message"]:
        told += f" “{row['message']}”"
    who = row["author"] or row["job"]
    return f"{told} ({who})" if who else told


def _values(values: Mapping[str, Any]) -> str:
    told = []
    for name, value in values.items():
        if value is None:
            continue
        text = text_of(pl.Series([value]), _LONGEST_VALUE)[0]
        told.append(f"{name} `{text}`".replace("``", "` `"))
        if len(told) == _MOST_VALUES:
            break
    return ", ".join(told)


def _row_choice(table: Table, row: Mapping[str, Any]) -> dict[str, int] | None:
    """Return how the row is chosen in views; None if they cannot follow it."""
    address = row["_rowaddr"]
    place = f"{address >> 32}:{address & 0xFFFFFFFF}@{row['last_version']}"
    try:
        return {"row_id": row_named(table, place), "version": row["last_version"]}
    except LanceExplorerError:
        return None


# ------------------------------------------------------------------------------------ questions


def _who_deleted(table: Table, where: str) -> Answer:
    found = table.find(where, limit=10_000)
    rows = found.to_polars()
    code = f'{call("table.find", where, limit=10_000)}.to_polars().filter(ended_as="deleted")'
    gone = rows.filter(pl.col("ended_as").is_in(["deleted", "overwritten"]))
    if gone.is_empty():
        live = rows.filter("is_live")["_rowid"].n_unique()
        why = f"{counted(live, 'such row')} {_are(live)} live" if live else "there is none"
        lines = found_answer(table, found).lines
        return Answer(f"Nobody: {why}. {_sentence(found)}", lines, code)
    commits = gone.group_by("ended_version", maintain_order=True).agg(
        pl.col("_rowid").n_unique().alias("count"), pl.all().first()
    )
    lines = [_by_commit(row, row["count"], row["ended_version"]) for row in _newest(commits)]
    count = gone["_rowid"].n_unique()
    first = commits.row(0, named=True)
    if len(commits) == 1:
        which = f"in version {first['ended_version']:,}{_why(first)}"
    else:
        which = f"in {len(commits):,} commits, last in version {first['ended_version']:,}"
    back = gone.join(rows.filter("is_live"), on="_rowid", how="semi")["_rowid"].n_unique()
    again = f" {back:,} of these {_are(back)} live again." if back else ""
    doubt = " Of some it is uncertain." if gone["is_uncertain"].any() else ""
    more = "" if found.is_complete else f" {_sentence(found)}"
    sentence = f"{counted(count, 'row')} {_was(count)} deleted {which}.{again}{doubt}{more}"
    return Answer(sentence, lines, code, Line("Open Time travel", "time_travel", lines[0].changes))


def _newest(commits: pl.DataFrame) -> Iterator[dict[str, Any]]:
    return commits.head(_MOST_LINES).iter_rows(named=True)


def _by_commit(row: Mapping[str, Any], count: int, version: int) -> Line:
    words = f"version {version:,}: {counted(count, 'row')} {row['ended_as']}{_why(row)}"
    return Line(words, "time_travel", {"version": version})


def _who_changed(table: Table, column: str, where: str | None) -> Answer:
    found = table.blame(where, columns=column)
    cells, commits = found.to_polars(), found.commits()
    arguments = {} if where is None else {"where": where}
    code = f"{call('table.blame', **arguments, columns=column)}.to_polars()"
    lines = []
    for row in _newest(commits):
        version = row["version"]
        at = "an unknown version" if version is None else f"version {version:,}"
        words = f"{at}: {counted(row['num_cells'], 'cell')}{_why(row)}"
        changes = {} if version is None else {"version": version}
        is_here = version is not None and row["branch"] == table.branch
        lines.append(Line(words, "time_travel" if is_here else None, changes, row["branch"]))
    sentence = found.sentence
    if len(cells) == 1:
        row = cells.row(0, named=True)
        now = "null" if row["value"] is None else f"`{row['value']}`"
        before = "" if row["before"] is None else f"; before, it was `{row['before']}`"
        since = "an unknown version" if row["version"] is None else f"version {row['version']:,}"
        sentence = f"`{column}` is {now} since {since}{_why(row)}{before}."
        if row["is_uncertain"]:
            sentence += " An earlier commit may have changed it."
    place = lines[0] if lines and lines[0].view else None
    return Answer(
        sentence, lines, code, place and Line("Open Time travel", place.view, place.changes)
    )


def _changed_since(table: Table, since: str) -> Answer:
    number = re.fullmatch(r"v(?:ersion)?\s*(\d+)", since, re.IGNORECASE)
    ref: int | str = int(number[1]) if number else int(since) if since.isdecimal() else since
    changes = table.changes(ref)
    found = changes.summary().row(0, named=True)
    begin, end = found["begin_version"], found["end_version"]
    log = table.log(all_branches=False).filter(
        (pl.col("version") > begin) & (pl.col("version") <= end)
    )
    start = "the empty table" if begin == 0 else f"version {begin:,}"
    doubt = f" {counted(found['uncertain'], 'of them')} uncertain." if found["uncertain"] else ""
    sentence = (
        f"From {start} to version {end:,}, in {counted(len(log), 'commit')}: "
        f"{_events(found)}.{doubt}"
    )
    return Answer(
        sentence,
        _commit_lines(log, table.branch),
        f"{call('table.changes', ref)}.summary()",
        Line("Open Changes", "changes", {"version": end, "compared_version": begin}),
    )


def _commit_lines(log: pl.DataFrame, branch: str | None) -> list[Line]:
    return [
        Line(
            f"version {row['version']:,}: {row['words']}",
            "time_travel",
            {"version": row["version"]},
            branch,
        )
        for row in log.head(_MOST_LINES).iter_rows(named=True)
    ]


def _why_big(table: Table) -> Answer:
    found = on_disk(table)
    told = headline(size_origins(table.source))
    made = [] if told is None else [Line(str(told), "time_travel", {"version": told.version})]
    lines = [
        Line(f"{plan.title}: {plan.sentence[:1].lower()}{plan.sentence[1:]}", "disk")
        for plan in plans(found)
    ]
    return Answer(
        f"{DiskUsage(found).sentence}.",
        [*made, *lines],
        "table.disk_usage().summary()",
        Line("Open Disk", "disk"),
    )


def _what_to_do(table: Table) -> Answer:
    found = advice(table.source, lambda _: on_disk(table))
    told = advice_counts(found)
    lines = [
        Line(f"{row['message']}. {row['advice'] or ''}".strip(), VIEWS_OF_CHECKS.get(row["check"]))
        for row in found.head(_MOST_LINES).iter_rows(named=True)
    ]
    sentence = f"{told[:1].upper()}{told[1:]}." if told else f"{NOTHING_TO_DO}."
    return Answer(sentence, lines, "table.check()", Line("Open Overview", "overview"))


def _touched(table: Table, column: str) -> Answer:
    log = table.log(column=column)
    count = len(log)
    last = f"; the last is version {log['version'][0]:,}" if count else ""
    return Answer(
        f"{counted(count, 'commit')} can have changed `{column}`{last}.",
        _commit_lines(log.filter(pl.col("branch").eq_missing(table.branch)), table.branch),
        call("table.log", column=column),
        Line("Open Log", "log"),
        {"column": column},
    )


def _on_branch(table: Table, name: str) -> Answer | None:
    if name not in table.branches:
        return None
    branch = Table(table.source.on_branch(name))
    log = branch.log(all_branches=False)
    fork = table.branches[name]
    parent = fork.parent_branch or "main"
    found = branch.changes(int(log["version"].min() or 0)).summary().row(0, named=True)  # type: ignore[arg-type]
    sentence = (
        f"Branch {name} left {parent} at version {fork.parent_version:,} and has "
        f"{counted(len(log), 'commit')} of its own: {_events(found)}."
    )
    own = call("lx.open_table", table.uri, branch=name)
    code = f"{own}.changes({found['begin_version']}).summary()"
    latest = {"version": found["end_version"], "compared_version": found["begin_version"]}
    place = Line(f"Switch to {name}", "changes", latest, name)
    return Answer(sentence, _commit_lines(log, name), code, place)


def _events(found: Mapping[str, Any]) -> str:
    told = [
        f"{counted(found[name], 'row')} {words}" for name, words in _EVENTS.items() if found[name]
    ]
    return ", ".join(told) or "no row changed"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _question(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_ASKED: tuple[tuple[re.Pattern[str], Callable[..., Answer | None]], ...] = (
    (_question(r"(?:who|what) (?:deleted|removed)\s+(.+)"), _who_deleted),
    (_question(r"what(?: has)? changed since\s+(.+)"), _changed_since),
    (
        _question(
            r"(?:who|what) (?:changed|updated|wrote)\s+(?:column\s+)?"
            r"(\S+?)(?:\s+(?:of|in|where|for)\s+(.+))?"
        ),
        _who_changed,
    ),
    (_question(r"why is (?:it|this|the table) (?:so )?(?:big|large)"), _why_big),
    (_question(r"what (?:should|has|is) (?:be|to be|to) (?:done|do)|what to do"), _what_to_do),
    (_question(r"(?:what|who) touched\s+(?:column\s+)?(\S+)"), _touched),
    (_question(r"what is on\s+(?:branch\s+)?(.+)"), _on_branch),
)

QUESTIONS = "who deleted ..., who changed ... of ..., what changed since ..., why is it big"
"""Some questions, in words."""


def _a_value(table: Table) -> tuple[str | None, str, str | None]:
    """Return a column, a value that it has, as a filter names them, and another column."""
    try:
        schema = table.latest.schema
        named = [part for part in schema if re.fullmatch(r"[A-Za-z_]\w*", part.name)]
        keys = [part.name for part in named if _is_plain(str(part.type))]
        keys.sort(key=lambda name: "id" not in name.lower())
        value = table.latest.head(1).get_column(keys[0])[0] if keys else None
    except (LanceExplorerError, IndexError, pl.exceptions.PolarsError):
        return None, "", None
    if value is None or len(str(value)) > _LONGEST_VALUE:
        return None, "", None
    told = "'{}'".format(value.replace("'", "''")) if isinstance(value, str) else str(value)
    others = [part.name for part in reversed(named) if part.name != keys[0]]
    return keys[0], told, (others or keys)[0]


def _is_plain(kind: str) -> bool:
    return kind in ("string", "large_string") or kind.startswith(("int", "uint"))
