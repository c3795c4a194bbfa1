"""Questions about a table and their answers: a sentence, its evidence, and the code.

A question is a text such as ``who deleted photo_id = 42``. Text that is not a question is for
:mod:`lance_explorer.widgets.search`.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from lance_explorer.answers import Answer, Ask, Line, Place, Section
from lance_explorer.answers.calls import call
from lance_explorer.checks.advice import NOTHING_TO_DO, advice, advice_counts
from lance_explorer.checks.damage import MENDED, RECOVER
from lance_explorer.disk.plans import plans
from lance_explorer.disk.survey import Survey
from lance_explorer.disk.usage import DiskUsage
from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.frames.sizes import counted, listed, percent
from lance_explorer.history.version_refs import resolve
from lance_explorer.inspect.catalogue import FRAMES
from lance_explorer.inspect.size_origins import size_origins
from lance_explorer.inspect.size_words import headline
from lance_explorer.lineage.found_words import LONGEST_VALUE, by_whom, on_time, value_words
from lance_explorer.lineage.where import filter_for, is_word
from lance_explorer.profiles.profile import Profile
from lance_explorer.table import Table
from lance_explorer.widgets.advice_data import VIEWS_OF_TOPICS
from lance_explorer.widgets.disk_data import on_disk
from lance_explorer.widgets.found_lines import MOST_LINES, found_answer, put_back
from lance_explorer.widgets.row_lookup import row_filter

__all__ = ["answer_to", "examples"]

_MOST_COMPARED = 200_000
"""The most rows that are compared to count the changes of a column."""

_MOST_BYTES = 256 << 20
"""The most bytes of values that are read for a question."""

_LEAST_SHIFT = 0.02
"""Commits that moved values by less are not named."""

_VECTORS = re.compile(r"embeddings?|vectors?", re.IGNORECASE)

_SLOW = ("files", "indices", "storage")
"""Topics of findings that explain slow reads."""

_FRAMES = {"tags": "refs", "branches": "refs", "columns": "fields", "schema": "fields"}
"""Other names of frames."""

_WHOLE_ROWS = ("create", "append", "delete")
"""Kinds of commits that do not change values of existing rows."""

_EVENTS = {
    "inserted": "inserted",
    "updated": "updated",
    "deleted": "deleted",
    "column_rewritten": "with a rewritten column",
    "column_added": "with a new column",
}


def answer_to(table: Table, typed: str) -> Answer | None:
    """Return the answer to a question; None if the text is not one.

    Examples
    --------
    >>> answer_to(table, "who deleted id = 2").sentence
    '1 row was deleted in version 4 on ... by Delete where `id = 2`. Who did it is not recorded.'
    >>> answer_to(table, "what changed since 5").code
    'table.changes(5).summary()'
    >>> answer_to(table, "hello") is None
    True
    """
    text = typed.strip().rstrip("?").rstrip() or "help"
    for pattern, ask in _ASKED:
        if match := pattern.fullmatch(text):
            return ask(table, *match.groups())
    match = _FRAME.fullmatch(text)
    name = (match[1] if match else text).casefold().replace(" ", "_")
    name = _FRAMES.get(name, name)
    return table.answer(name) if name in FRAMES else None


def examples(table: Table) -> list[tuple[str, str]]:
    """Return suggestions for a table, and what each of them finds.

    A text that ends in a space is to be completed. The first three work as they are.
    """
    column, value, other = _a_value(table)
    one = None if column is None else f"{column} = {value}"
    kept = [file.version for file in table._view.listing.versions]
    before = kept[max(0, len(kept) - 11)] if kept else 0
    pairs = [
        *([(one, "rows with this value, live or deleted, in all versions")] if one else []),
        (f"what changed since {before}", "rows by what happened to them; also since yesterday"),
        ("why is it big", "what is on disk, and who wrote it"),
        ("who deleted ", "a filter, such as id = 42, or a word: when and by which commit"),
        (
            f"who changed {other} of {one}" if one else "who changed ",
            "the commit that last changed these cells, and their values before",
        ),
        (
            f"what touched {other}" if one else "what touched ",
            "the commits that can have changed a column",
        ),
        *[(f"what is on {name}", "what only a branch has") for name in table.branches][:3],
        (f"undo {table._view.latest_version}", "what undoes a commit and keeps what came after"),
        (
            f"put {one} back as in {before}" if one else "",
            "what puts rows back as they were, deleted ones too",
        ),
        (
            f"how did {other} change" if one else "",
            "its values in all versions, and which commits moved them",
        ),
        ("did embeddings drift" if _vectors(table) else "", "which commit moved vectors, how far"),
        ("what should be done", "what all checks find"),
        ("why is it slow", "what reads have to do more than they need"),
        ("what can I delete", "what a cleanup frees, and what is lost by it"),
        ("recover", "what repairs a damaged table, and what is lost"),
        ("show refs", "tags and branches, or any other frame of table.inspect"),
    ]
    return [(text, hint) for text, hint in pairs if text]


def _who_deleted(table: Table, where: str) -> Answer:
    matches = table.find(where, limit=10_000)
    rows = matches.to_polars()
    code = f'{call("table.find", where, limit=10_000)}.to_polars().filter(ended_as="deleted")'
    gone = rows.filter(pl.col("ended_as").is_in(["deleted", "overwritten"]))
    if gone.is_empty():
        live = rows.filter("is_live")["_row"].n_unique()
        why = f"{counted(live, 'such row')} {_are(live)} live" if live else "there is none"
        return replace(
            found_answer(table, matches), sentence=f"Nobody: {why}. {matches.sentence}", code=code
        )
    commits = gone.group_by("ended_version", maintain_order=True).agg(
        pl.col("_row").n_unique().alias("count"), pl.all().first()
    )
    lines = [
        _by_commit(row, row["count"], row["ended_version"])
        for row in commits.head(MOST_LINES).iter_rows(named=True)
    ]
    count = gone["_row"].n_unique()
    first = commits.row(0, named=True)
    if len(commits) == 1:
        which = f"in version {first['ended_version']:,}{by_whom(first)}"
    else:
        which = f"in {len(commits):,} commits, last in version {first['ended_version']:,}"
    back = gone.join(rows.filter("is_live"), on="_row", how="semi")["_row"].n_unique()
    again = f" {back:,} of these {_are(back)} live again." if back else ""
    doubt = " Some of it is uncertain." if gone["is_uncertain"].any() else ""
    more = "" if matches.is_complete else f" {matches.sentence}"
    sentence = f"{counted(count, 'row')} {_was(count)} deleted {which}."
    sentence += f"{_unrecorded(commits)}{again}{doubt}{more}"
    place = Place("time_travel", {"version": first["ended_version"]}, words="Open Time travel")
    return replace(_answer(sentence, lines, code, place), asks=put_back(table, where, rows))


def _by_commit(row: Mapping[str, Any], count: int, version: int) -> Line:
    words = f"version {version:,}: {counted(count, 'row')} {row['ended_as']}{by_whom(row)}"
    return Line(words, Place("time_travel", {"version": version}))


def _unrecorded(commits: pl.DataFrame) -> str:
    """Return a sentence if no commit has a name of who made it."""
    if commits.select(pl.any_horizontal(pl.col("author", "job").is_not_null().any())).item():
        return ""
    return f" Who did {'it' if len(commits) == 1 else 'them'} is not recorded."


def _who_changed(table: Table, column: str, where: str | None) -> Answer:
    blame = table.blame(where, columns=column)
    cells, commits = blame.to_polars(), blame.commits()
    arguments = {} if where is None else {"where": where}
    code = f"{call('table.blame', **arguments, columns=column)}.to_polars()"
    lines = []
    for row in commits.head(MOST_LINES).iter_rows(named=True):
        version = row["version"]
        at = "an unknown version" if version is None else f"version {version:,}"
        words = f"{at}: {counted(row['num_cells'], 'cell')}{by_whom(row)}"
        is_here = version is not None and row["branch"] == table.branch
        place = Place("time_travel", {"version": version}, row["branch"]) if is_here else None
        lines.append(Line(words, place))
    sentence = blame.sentence
    if len(cells) == 1:
        row = cells.row(0, named=True)
        now, was = value_words(row["value"]), value_words(row["before"])
        is_known = row["before"] is not None or not (row["is_new"] or row["is_uncertain"])
        before = f"; before, it was {was}" if is_known and row["version"] is not None else ""
        since = "an unknown version" if row["version"] is None else f"version {row['version']:,}"
        sentence = f"`{column}` is {now} since {since}{by_whom(row)}{before}."
        if row["is_uncertain"]:
            sentence += " An earlier commit may have changed it."
    sentence += _unrecorded(commits)
    first = lines[0].place if lines else None
    answer = _answer(sentence, lines, code, first and replace(first, words="Open Time travel"))
    if len(commits) != 1 or first is None or first.branch != table.branch:
        return answer
    version = first.choices["version"]
    asks = [Ask(f"Undo version {version:,}", f"undo {version}")]
    if where is not None:
        asks.insert(0, Ask("Put these rows back", f"put {where} back as in {version - 1}"))
    return replace(answer, asks=tuple(asks))


def _changed_since(table: Table, since: str) -> Answer:
    ref = _version_of(since)
    changes = table.changes(ref)
    counts = changes.summary().row(0, named=True)
    begin, end = counts["begin_version"], counts["end_version"]
    since_then = [v for v in table._view.listing.versions if begin < v.version]
    log = table.log(limit=max(len(since_then), 1), all_branches=False)
    log = log.filter((pl.col("version") > begin) & (pl.col("version") <= end))
    start = "the empty table" if begin == 0 else f"version {begin:,}"
    doubt = f" {counted(counts['uncertain'], 'of them')} uncertain." if counts["uncertain"] else ""
    sentence = (
        f"From {start} to version {end:,}, in {counted(len(log), 'commit')}: "
        f"{_events(counts)}.{doubt}"
    )
    return _answer(
        sentence,
        _commit_lines(log, table.branch),
        f"{call('table.changes', ref)}.summary()",
        Place("changes", {"version": end, "compared_version": begin}, words="Open Changes"),
    )


def _commit_lines(log: pl.DataFrame, branch: str | None) -> list[Line]:
    return [
        Line(
            f"version {row['version']:,}{on_time(row['timestamp'])}: "
            f"{row['words']}{_message_words(row)}",
            Place("time_travel", {"version": row["version"]}, branch),
        )
        for row in log.head(MOST_LINES).iter_rows(named=True)
    ]


def _message_words(row: Mapping[str, Any]) -> str:
    """Return the message of a commit, and who made it."""
    words = f" “{row['message']}”" if row["message"] else ""
    who = row["author"] or row["job"]
    return f"{words} ({who})" if who else words


def _why_big(table: Table) -> Answer:
    surveyed = on_disk(table)
    words = headline(size_origins(table._view))
    lines = list[Line]()
    if words is not None:
        lines.append(Line(str(words), Place("time_travel", {"version": words.version})))
    lines += _plan_lines(surveyed)
    answer = DiskUsage(surveyed).answer
    section = Section("why", "", tuple(lines))
    return replace(answer, sections=(section,), place=Place("disk", words="Open Disk"))


def _what_to_do(table: Table) -> Answer:
    findings = advice(table._view, lambda _: on_disk(table))
    words = advice_counts(findings)
    lines = [Line(finding.sentence, _view_of(finding.topic)) for finding in findings[:MOST_LINES]]
    sentence = f"{words[:1].upper()}{words[1:]}." if words else f"{NOTHING_TO_DO}."
    answer = _answer(sentence, lines, "table.check()", Place("overview", words="Open Overview"))
    is_damaged = any(finding.code in MENDED for finding in findings)
    return replace(answer, asks=(RECOVER,) if is_damaged else ())


def _why_slow(table: Table) -> Answer:
    findings = [one for one in advice(table._view, lambda _: on_disk(table)) if one.topic in _SLOW]
    lines = [Line(finding.sentence, _view_of(finding.topic)) for finding in findings[:MOST_LINES]]
    lines.append(_indexed(table))
    sentence = (
        f"{counted(len(findings), 'thing')} can make reads slow."
        if findings
        else "No check finds a reason: fragments are not too small, few rows in them are deleted, "
        "and no index leaves out many rows."
    )
    return _answer(sentence, lines, "table.check()", Place("indices", words="Open Indices"))


def _indexed(table: Table) -> Line:
    """Return which columns have an index, or how to make one: other filters read whole columns."""
    indices = table.inspect.index_summary()
    named = [
        f"`{field}` ({kind})"
        for kind, fields in indices.select("index_type", "fields").iter_rows()
        for field in fields
        if field is not None
    ]
    if named:
        words = f"An index serves {listed(named)}; a filter on another column reads all of it."
    else:
        column = _a_value(table)[0] or "id"
        made = call("dataset.create_scalar_index", column, "BTREE")
        words = f"No column has an index: each filter reads its whole column. `{made}` makes one."
    return Line(words, Place("indices"))


def _compaction(table: Table) -> Answer:
    answer = table.compaction_preview().answer
    return replace(answer, sentence=f"A compaction: {answer.sentence}", place=Place("disk"))


def _what_frees(table: Table) -> Answer:
    lines = _plan_lines(on_disk(table))
    code = table.cleanup_preview().code
    if not lines:
        return _answer("What a cleanup would free is not known.", [], code, Place("disk"))
    place = Place("disk", words="Open Disk")
    return _answer(lines[0].words, lines[1:], code, place)


def _plan_lines(surveyed: Survey) -> list[Line]:
    """Return what cleanups and a compaction would do, one line each."""
    return [
        Line(
            " ".join(
                [
                    f"{title}: {plan.sentence[:1].lower()}{plan.sentence[1:]}",
                    *plan.words("breaks"),
                ]
            ),
            Place("disk"),
        )
        for title, plan in plans(surveyed).items()
    ]


def _changed_lately(table: Table, when: str | None) -> Answer:
    """Answer for a time such as yesterday, or else for the ten newest versions."""
    kept = [file.version for file in table._view.listing.versions]
    since = {"last week": "7 days ago", "this week": "7 days ago", "today": "00:00"}
    if when is not None:
        return _changed_since(table, since.get(when.casefold(), when))
    return _changed_since(table, str(kept[max(0, len(kept) - 11)]))


def _who_changed_row(table: Table, where: str) -> Answer:
    return table.blame(where).answer


def _duplicates(table: Table, column: str) -> Answer | None:
    name = _column_named(table, column)
    return None if name is None else table.duplicates(name).answer


def _help(table: Table) -> Answer:
    pairs = [(text, hint) for text, hint in examples(table) if not text.endswith(" ")][:5]
    return Answer(
        "Type a value, a version, a day, or a question. Of this table you can ask, for example:",
        (Section("lines", "", tuple([Line(f"`{text}`: {hint}") for text, hint in pairs])),),
        asks=tuple([Ask(text, text) for text, _ in pairs]),
    )


def _touched(table: Table, column: str) -> Answer:
    log = table.log(column=column)
    of_rows = log["kind"].is_in(_WHOLE_ROWS)
    changed, others = log.filter(~of_rows), int(of_rows.sum())
    last = f"; the last is version {changed['version'][0]:,}" if len(changed) else ""
    more = f" {counted(others, 'other')} added or removed whole rows." if others else ""
    own = changed.filter(pl.col("branch").eq_missing(table.branch))
    return _answer(
        f"{counted(len(changed), 'commit')} can have changed values of `{column}`{last}.{more}",
        _commit_lines(own, table.branch),
        call("table.log", column=column),
        Place("log", words="Open Log", filters={"column": column}),
    )


def _on_branch(table: Table, name: str) -> Answer | None:
    if name not in table.branches:
        return None
    branch = Table(table._view.on_branch(name))
    log = branch.log(all_branches=False)
    fork = table.branches[name]
    parent = fork.parent_branch or "main"
    counts = branch.changes(int(log["version"].min() or 0)).summary().row(0, named=True)  # type: ignore[arg-type]
    sentence = (
        f"Branch {name} left {parent} at version {fork.parent_version:,} and has "
        f"{counted(len(log), 'commit')} of its own: {_events(counts)}."
    )
    own = call("lx.open_table", table.uri, branch=name)
    code = f"{own}.changes({counts['begin_version']}).summary()"
    latest = {"version": counts["end_version"], "compared_version": counts["begin_version"]}
    place = Place("changes", latest, name, f"Switch to {name}")
    return _answer(sentence, _commit_lines(log, name), code, place)


def _merge_of(table: Table, name: str) -> Answer | None:
    if name not in table.branches and name != "main":
        return None
    preview = table.merge_preview(name)
    first, *rest = preview.words()
    counts = preview.summary().row(0, named=True)
    first_words = rest[:2] if counts["conflicts"] else rest[:1]
    place = {"version": counts["version"], "compared_version": counts["fork_version"]}
    lines = [Line(words) for words in [first, *rest[len(first_words) :]]]
    cells = preview.cells()
    for row in cells.head(MOST_LINES - len(lines)).iter_rows(named=True):
        ours, theirs = [_became(row[f"change_{side}"], row[side]) for side in ("ours", "theirs")]
        words = (
            f"row {row['_rowid']:,}, `{row['column']}`: was {value_words(row['base'])}; "
            f"{ours} here, {theirs} on {name}"
        )
        lines.append(Line(words, Place("row", {"row_id": row["_rowid"]}, table.branch)))
    return _answer(
        " ".join(first_words),
        lines,
        f"{call('table.merge_preview', name)}.summary()",
        Place("changes", place, None if name == "main" else name, f"Switch to {name}"),
    )


def _undo(table: Table, version: str) -> Answer:
    return table.plan_revert(_version_of(version)).answer


def _put_back(table: Table, where: str, at: str) -> Answer:
    ref = _version_of(at)
    then = resolve(table._view, ref)
    schema = then.view.version(then.version).records[0].schema
    if match := re.fullmatch(r"(?:the )?row (\d+)", where, re.IGNORECASE):
        where = row_filter(table, int(match[1]), then.version)
    else:
        where = filter_for(where, schema, is_word=is_word(where, [schema])) or where
    return table.plan_restore_rows(where, ref).answer


def _damaged(table: Table) -> Answer:
    return table.damage().answer


def _recover(table: Table) -> Answer:
    return table.plan_recovery().answer


def _how_to_merge(table: Table, name: str) -> Answer | None:
    if name not in table.branches and name != "main":
        return None
    return table.merge_preview(name).plan().answer


def _became(change: str, value: str | None) -> str:
    return "deleted" if change == "deleted" else f"is {value_words(value)}"


def _column_since(table: Table, column: str, since: str) -> Answer | None:
    if column not in table.latest.schema.names:
        return None
    ref = _version_of(since)
    changes = table.changes(ref, columns=[column], images="both")
    counts = changes.summary().row(0, named=True)
    begin, end = counts["begin_version"], counts["end_version"]
    log = table.log(column=column, all_branches=False)
    log = log.filter((pl.col("version") > begin) & (pl.col("version") <= end))
    parts = [f"{counted(len(log), 'commit')} can have changed `{column}`"]
    rewritten = (counts["updated"] or 0) + (counts["column_rewritten"] or 0)
    if rewritten <= _MOST_COMPARED:
        rows = changes.to_polars().filter(
            (pl.col("_change_type") == "update_postimage")
            & pl.col("changed_columns").list.contains(pl.lit(column))
        )
        parts = [f"`{column}` changed in {counted(len(rows), 'row')}", *parts]
    added = f", and {counted(counts['inserted'], 'row')} came with it" if counts["inserted"] else ""
    start = "the empty table" if begin == 0 else f"version {begin:,}"
    return _answer(
        f"From {start} to version {end:,}, {'; '.join(parts)}{added}.",
        _commit_lines(log, table.branch),
        f"{call('table.changes', ref, columns=[column], images='both')}.to_polars()",
        Place("changes", {"version": end, "compared_version": begin}, words="Open Changes"),
    )


def _over_time(table: Table, column: str) -> Answer | None:
    name = _column_named(table, column)
    if name is None:
        return None
    profiled = table.profile(name, max_bytes=_MOST_BYTES)
    return _profiled(profiled, f"{call('table.profile', name)}.shifts()")


def _drifted(table: Table, word: str, since: str | None) -> Answer | None:
    name = _column_named(table, word)
    names = _vectors(table) if name is None and _VECTORS.fullmatch(word) else [name]
    if not names or names == [None]:
        return None
    if since is not None and len(names) == 1:
        return table.changes(_version_of(since)).drift(str(names[0])).answer
    profiled = table.profile([str(one) for one in names], max_bytes=_MOST_BYTES)
    answer = _profiled(profiled, f"{call('table.profile', names)}.shifts()")
    largest = profiled.shifts(1)
    if largest.is_empty() or not profiled.is_complete:
        return answer
    column, begin, end = largest.select("column", "from_version", "version").row(0)
    drift = table.changes(begin, end).drift(column)
    return replace(
        answer,
        sentence=f"{answer.sentence} {drift.sentence}",
        code=f"{call('table.changes', begin, end)}.drift({column!r}).summary()",
    )


def _profiled(profiled: Profile, code: str) -> Answer:
    shifts = profiled.shifts(MOST_LINES).filter(pl.col("shift") >= _LEAST_SHIFT)
    lines = [
        Line(
            f"version {row['version']:,}{on_time(row['timestamp'])}: `{row['column']}` moved by "
            f"{percent(row['shift'])}: {_with_message(row)}",
            Place("columns", {"version": row["version"]}),
        )
        for row in shifts.iter_rows(named=True)
    ]
    chosen = {"version": shifts["version"][0]} if len(shifts) else {}
    return _answer(profiled.sentence, lines, code, Place("columns", chosen, words="Open Columns"))


def _with_message(row: Mapping[str, Any]) -> str:
    """Return what a commit did, and its message."""
    message = f" “{row['message']}”" if row["message"] else ""
    who = row["author"] or row["job"]
    return f"{row['what']}{message}" + (f" ({who})" if who else "")


def _column_named(table: Table, word: str) -> str | None:
    """Return the column with this name, or its singular; None if there is none."""
    names = table.latest.schema.names
    return next((one for one in (word, word.removesuffix("s")) if one in names), None)


def _vectors(table: Table) -> list[str | None]:
    return [
        one.name
        for one in table.latest.fields
        if one.parent_id == NO_PARENT and one.logical_type.startswith("fixed_size_list")
    ]


def _answer(sentence: str, lines: list[Line], code: str, place: Place | None) -> Answer:
    return Answer(sentence, (Section("lines", "", tuple(lines)),), code, place=place)


def _view_of(topic: str) -> Place | None:
    view = VIEWS_OF_TOPICS.get(topic)
    return None if view is None else Place(view)


def _version_of(words: str) -> int | str:
    number = re.fullmatch(r"v(?:ersion)?\s*(\d+)", words, re.IGNORECASE)
    return int(number[1]) if number else int(words) if words.isdecimal() else words


def _events(counts: Mapping[str, Any]) -> str:
    parts = [
        f"{counted(counts[name], 'row')} {words}" for name, words in _EVENTS.items() if counts[name]
    ]
    return ", ".join(parts) or "no row changed"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _was(count: int) -> str:
    return "was" if count == 1 else "were"


def _question(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_IT = "(?:it|this|the table)"
_WHEN = "yesterday|today|last week|this week"

_ASKED: tuple[tuple[re.Pattern[str], Callable[..., Answer | None]], ...] = (
    (_question(r"(?:who|what) (?:deleted|removed)\s+(.+)"), _who_deleted),
    (_question(r"what(?: has)? changed since\s+(.+)"), _changed_since),
    (
        _question(r"what(?: has)? changed in\s+(?:column\s+)?(\S+)\s+since\s+(.+)"),
        _column_since,
    ),
    (
        _question(
            rf"what(?: has| was)? changed(?:\s+(?:lately|recently|({_WHEN})))?"
            r"|(last week|this week)"
        ),
        lambda table, when, alone: _changed_lately(table, when or alone),
    ),
    (
        _question(
            r"(?:who|what) (?:changed|updated|wrote)\s+(?!\S+\s+(?:of|in|where|for)\b)(.+[=<>].+)"
        ),
        _who_changed_row,
    ),
    (
        _question(
            r"(?:who|what) (?:changed|updated|wrote)\s+(?:column\s+)?"
            r"(\S+?)(?:\s+(?:of|in|where|for)\s+(.+))?"
        ),
        _who_changed,
    ),
    (
        _question(
            r"how (?:did|has)\s+(?:column\s+)?(\S+)\s+changed?(?:\s+over time)?|profile\s+(\S+)"
        ),
        lambda table, changed, profiled: _over_time(table, changed or profiled),
    ),
    (
        _question(r"(?:did|have|has)\s+(?:the\s+)?(\S+)\s+drift(?:ed)?(?:\s+since\s+(.+))?"),
        _drifted,
    ),
    (
        _question(r"drift\s+(?:of\s+)?(\S+)"),
        lambda table, word: _drifted(table, word, None),
    ),
    (
        _question(rf"why is {_IT} (?:so )?(?:big|large)|how (?:big|large) is {_IT}|size|du"),
        _why_big,
    ),
    (
        _question(
            r"what (?:should|has|is) (?:be|to be|to) (?:done|do)|what to do|health|check"
            rf"|what(?: is|'s) wrong(?: with {_IT})?|is {_IT} (?:healthy|ok|sick)"
        ),
        _what_to_do,
    ),
    (
        _question(rf"why (?:is|are) (?:{_IT}|queries|reads|scans|searches) (?:so )?slow|slow"),
        _why_slow,
    ),
    (
        _question(
            r"what can (?:i|we|be) (?:deleted?|freed?|removed?|clean(?:ed)?)(?: up)?"
            r"|clean ?up"
        ),
        _what_frees,
    ),
    (_question(r"compact(?:ion)?"), _compaction),
    (_question(r"duplicates?\s+(?:of\s+|in\s+|by\s+)?(\S+)"), _duplicates),
    (_question(r"help|\?+|what can i (?:ask|type|do)(?: here)?"), _help),
    (_question(r"(?:what|who) touched\s+(?:column\s+)?(\S+)"), _touched),
    (
        _question(
            r"(?:what (?:would|does)\s+)?(?:a\s+)?merge (?:of\s+)?(?:branch\s+)?(\S+?)"
            r"(?:\s+bring)?"
        ),
        _merge_of,
    ),
    (
        _question(r"(?:undo|revert|restore)(?:\s+(?:the\s+)?(?:last|latest)(?:\s+commit)?)?"),
        lambda table: _undo(table, str(table._view.latest_version)),
    ),
    (_question(r"(?:undo|revert)\s+(?:commit\s+|version\s+)?v?(.+)"), _undo),
    (
        _question(r"put\s+(.+?)\s+back(?:\s+as)?\s+(?:in|at|of)\s+(?:version\s+)?(.+)"),
        _put_back,
    ),
    (_question(r"what is (?:damaged|broken|lost)"), _damaged),
    (_question(r"(?:how to\s+)?(?:recover|repair)(?:\s+(?:it|this|the table))?"), _recover),
    (_question(r"how to merge\s+(?:branch\s+)?(\S+)"), _how_to_merge),
    (
        _question(r"what is on\s+(?:branch\s+)?(.+?)(?:\s+(?:that|and|but) is not on\s+.+)?"),
        _on_branch,
    ),
)

_FRAME = _question(r"(?:inspect|show(?: the| all)?)\s+(\w[\w ]*)")


def _a_value(table: Table) -> tuple[str | None, str, str | None]:
    """Return a column, one of its values as SQL, and another column."""
    try:
        schema = table.latest.schema
        named = [part for part in schema if re.fullmatch(r"[A-Za-z_]\w*", part.name)]
        keys = [part.name for part in named if _is_plain(str(part.type))]
        keys.sort(key=lambda name: "id" not in name.lower())
        value = table.latest.head(1).get_column(keys[0])[0] if keys else None
    except (LanceExplorerError, IndexError, pl.exceptions.PolarsError):
        return None, "", None
    if value is None or len(str(value)) > LONGEST_VALUE:
        return None, "", None
    literal = "'{}'".format(value.replace("'", "''")) if isinstance(value, str) else str(value)
    others = [part.name for part in reversed(named) if part.name != keys[0]]
    return keys[0], literal, (others or keys)[0]


def _is_plain(kind: str) -> bool:
    return kind in ("string", "large_string") or kind.startswith(("int", "uint"))
