"""What each commit did, in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import Any, assert_never

import polars as pl

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.format.column_operations import DataOverlay, DataReplacement, Merge, Project
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.format.layout_operations import CreateIndex, ReserveFragments, Rewrite
from lance_explorer.format.operations import Operation
from lance_explorer.format.row_operations import Append, Delete, Overwrite, Update
from lance_explorer.format.schema import NO_PARENT, field_paths
from lance_explorer.format.table_operations import (
    Clone,
    Restore,
    Unknown,
    UpdateBases,
    UpdateConfig,
    UpdateMap,
    UpdateMemWalState,
)
from lance_explorer.frames.sizes import listed
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.memories import remembered
from lance_explorer.history.progress import with_progress
from lance_explorer.history.update_kinds import writes_in_place
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.schema_changes import FieldChange, schema_changes
from lance_explorer.inspect.versions import versions

__all__ = ["Commit", "commit_words", "commits", "describe_commits", "words_at"]

_ALL = slice(None)
_MOST_NAMED = 3
_LONGEST_NAME = 40
_LONGEST_VALUE = 120

_NO_CHANGE = "nothing differs from the version before"


@dataclass(frozen=True, slots=True)
class Commit:
    """What is known of one commit.

    Attributes
    ----------
    counts : mapping
        Its row of ``versions()``.
    record : VersionRecord
        The version.
    operation : Operation or None
        What the transaction says; None if there is none, or it cannot be read.
    fields : sequence of FieldChange
        What it did to the schema.
    columns : int
        How many columns the table has after it.
    paths : mapping of int to str
        The paths of the fields by their ids.
    indices_before : frozenset of str
        The names of the indices of the version before.
    """

    counts: Mapping[str, Any]
    record: VersionRecord
    operation: Operation | None = None
    fields: Sequence[FieldChange] = ()
    columns: int = 0
    paths: Mapping[int, str] = field(default_factory=dict)
    indices_before: frozenset[str] = frozenset()


def commits(view: HistoryView, last: int | None = None) -> list[Commit]:
    """Return what is known of the commits of kept versions, oldest first; optionally only the last.

    Raises
    ------
    StorageError
        If a manifest cannot be read. An unreadable transaction is reported as such.
    """
    frame = versions(view, last)
    kept = view.listing.versions
    part = None
    if last is not None and last < len(kept):
        part = view.part(range(kept[-last - 1].version, kept[-1].version + 1))
    return _commits(view, part or view, frame)


def _commits(view: HistoryView, read: HistoryView, frame: pl.DataFrame) -> list[Commit]:
    """Return what is known of the commits of some versions; ``read`` has their predecessors."""
    records = read.history.records
    if not len(frame):
        return []
    first = read.history.position(frame["version"][0])
    shown = records[first : first + len(frame)]
    changes = _schema_changes(read)
    paths = cache(field_paths)
    commits = list[Commit]()
    before = records[first - 1] if first else None
    with view.reading_transactions(shown):
        with_transactions = with_progress(shown, "Reading transactions", "versions")
        for counts, record in zip(frame.to_dicts(), with_transactions, strict=True):
            commits.append(
                Commit(
                    counts,
                    record,
                    _operation(view, record),
                    changes.get(record.version, ()),
                    sum([field.parent_id == NO_PARENT for field in record.schema]),
                    paths(record.schema),
                    frozenset([i.name for i in before.indices]) if before else frozenset(),
                )
            )
            before = record
    return commits


def describe_commits(view: HistoryView, some: slice = _ALL) -> list[str]:
    """Return what the commit of each kept version did, oldest first; or of some of them."""
    return [commit_words(commit) for commit in _commits(view, view, versions(view)[some])]


def words_at(view: HistoryView, positions: Iterable[int]) -> dict[int, str]:
    """Return what the commits of some kept versions did, by their positions."""
    frame = versions(view)
    return {
        place: commit_words(commit)
        for place in dict.fromkeys(positions)
        for commit in _commits(view, view, frame[place : place + 1])
    }


@remembered
def _schema_changes(view: HistoryView) -> Mapping[int, Sequence[FieldChange]]:
    """Return the changes of the schema by version."""
    return schema_changes(view)


def commit_words(commit: Commit) -> str:
    """Return one sentence on what a commit did; names and values are in backticks.

    Examples
    --------
    >>> from lance_explorer.inspect.commit_words import describe_commits
    >>> describe_commits(table._view)[0]
    'Table created with 4 rows in 1 fragment and 3 columns.'
    """
    parts = [*_operation_words(commit), *_fragment_words(commit), *_lost_index_words(commit)]
    if commit.counts["is_noop"] and not isinstance(commit.operation, ReserveFragments):
        parts.append(_NO_CHANGE)
    if commit.counts["fragments_added"] is None and not isinstance(commit.operation, Clone):
        parts.append("the version before is not kept, so what else changed is unknown")
    sentence = "; ".join(parts)
    return f"{sentence[0].upper()}{sentence[1:]}."


def _operation(view: HistoryView, record: VersionRecord) -> Operation | None:
    try:
        transaction = view.transaction(record)
    except (FormatError, StorageError):
        return None
    return transaction.operation if transaction else None


def _operation_words(commit: Commit) -> list[str]:
    counts, operation = commit.counts, commit.operation
    match operation:
        case None:
            name = counts["operation"]
            if name is None:
                return [
                    "the transaction is lost, so what was done is unknown",
                    *_field_words(commit),
                ]
            return [f"{name}, but its transaction cannot be read", *_field_words(commit)]
        case Append():
            return [f"{_rows(counts['rows_added'])} added"]
        case Delete():
            where = f" where {_code(operation.predicate, _LONGEST_VALUE)}"
            return [
                f"{_rows(counts['rows_deleted'])} deleted{where if operation.predicate else ''}"
            ]
        case Overwrite():
            return _overwrite_words(commit)
        case CreateIndex():
            return _index_words(operation, commit.indices_before)
        case Rewrite():
            return _rewrite_words(operation, counts)
        case Merge():
            return [*_field_words(commit), *_rewritten_words(counts)] or ["schema rewritten"]
        case Restore():
            return _restore_words(operation, counts)
        case ReserveFragments():
            ids = _plural(operation.num_fragments, "fragment ID")
            return [f"{ids} reserved for a coming compaction"]
        case Update():
            return _update_words(operation, commit)
        case Project():
            return _field_words(commit) or ["schema rewritten"]
        case UpdateConfig():
            return _config_words(operation, commit.paths)
        case DataReplacement():
            fields = _field_list(operation.writes().fields, commit.paths)
            rows = _rows(counts["rows_column_rewritten"])
            return [f"values of {rows} replaced{fields}"]
        case UpdateMemWalState():
            pieces = _plural(len(operation.compacted_sstables), "piece")
            return [f"{pieces} of the write-ahead log merged"]
        case Clone():
            return [_clone_words(operation)]
        case UpdateBases():
            paths = _named([_code(base.path, _LONGEST_VALUE) for base in operation.new_bases])
            return [f"{_plural(len(operation.new_bases), 'base path')} added: {paths}"]
        case DataOverlay():
            fields = _field_list(operation.writes().fields, commit.paths)
            return [f"{_rows(counts['rows_updated'])} updated{fields}, as overlays"]
        case Unknown():
            return [f"operation number {operation.number}, which is not known here"]
        case _:
            assert_never(operation)


def _overwrite_words(commit: Commit) -> list[str]:
    counts = commit.counts
    added = _rows(counts["rows_added"])
    if counts["kind"] == "create":
        fragments = _plural(counts["num_fragments"], "fragment")
        content = f"{added} in {fragments}" if counts["rows_added"] != 0 else "no rows"
        return [f"table created with {content} and {_plural(commit.columns, 'column')}"]
    replaced = _rows(counts["rows_overwritten"])
    return [f"{replaced} replaced by {added}", *_field_words(commit)]


def _rewrite_words(rewrite: Rewrite, counts: Mapping[str, Any]) -> list[str]:
    old = sum([len(group.old_fragments) for group in rewrite.groups])
    new = sum([len(group.new_fragments) for group in rewrite.groups])
    moved = _rows(counts["rows_moved"])
    words = [f"{moved} compacted from {_plural(old, 'fragment')} into {new:,}"]
    if rewrite.rewritten_indices:
        words.append(f"{_plural(len(rewrite.rewritten_indices), 'index segment')} rewritten")
    return words


def _restore_words(restore: Restore, counts: Mapping[str, Any]) -> list[str]:
    what = {
        "rows_restored": "brought back",
        "rows_deleted": "deleted",
        "rows_reverted": "set to other values",
        "rows_moved": "at another place",
    }
    unknown = all(counts[name] is None for name in what)
    parts = [f"{_rows(counts[name])} {verb}" for name, verb in what.items() if counts[name]]
    rows = "which rows were added and removed is unknown" if unknown else ", ".join(parts)
    detached = "detached " if restore.version >= FIRST_DETACHED else ""
    return [f"{detached}version {restore.version} restored", *([rows] if rows else [])]


def _update_words(update: Update, commit: Commit) -> list[str]:
    counts = commit.counts
    fields = update.writes().fields & commit.paths.keys()
    what = (
        *("rows_column_rewritten", "rows_column_added"),
        *("rows_updated", "rows_added", "rows_deleted"),
    )
    changed = [name for name in what if counts[name]]
    if not changed and any(counts[name] is None for name in what):
        return _unclear_update(counts["rows_in"], counts["rows_out"])
    if not changed:
        return ["no row changed"]
    is_named = len(changed) == 1 and len(fields) < len(commit.paths)
    named = _field_list(fields, commit.paths) if is_named else ""
    place = " in place" if writes_in_place(update) else ""
    words = {
        "rows_column_rewritten": ("values of ", f"{named} written{place}"),
        "rows_column_added": ("values of ", f"{named} added{place}"),
        "rows_updated": ("", f" updated{named}{place}"),
        "rows_added": ("", " added"),
        "rows_deleted": ("", " deleted"),
    }
    rows = [(*words[name], _rows(counts[name])) for name in changed]
    return [", ".join([f"{before}{count}{after}" for before, after, count in rows])]


def _unclear_update(written: int | None, masked: int | None) -> list[str]:
    if written is None or masked is None:
        return ["rows updated, added or deleted, how many of each is unknown"]
    rows = f"{_rows(written)} written and {_rows(masked)} masked"
    return [f"{rows}; how many of them were updated, inserted or deleted is unknown"]


def _index_words(operation: CreateIndex, before: frozenset[str]) -> list[str]:
    new = {index.name: index for index in operation.new_indices}
    removed = {index.name for index in operation.removed_indices}
    parts = (
        ("built", [name for name in new if name not in before]),
        ("rebuilt", [name for name in new if name in before and name in removed]),
        ("extended", [name for name in new if name in before and name not in removed]),
        ("dropped", sorted(removed - new.keys())),
    )
    return [
        f"{'index' if len(names) == 1 else 'indices'} {_named(map(_code, names))} {verb}"
        for verb, names in parts
        if names
    ] or ["no index changed"]


def _lost_index_words(commit: Commit) -> list[str]:
    """Name indices that a commit of another purpose removed."""
    is_known = commit.counts["fragments_added"] is not None
    if not is_known or isinstance(commit.operation, CreateIndex | Clone):
        return []
    there = {segment.name for segment in commit.record.indices} | SYSTEM_INDICES
    gone = sorted(commit.indices_before - there)
    noun = "index" if len(gone) == 1 else "indices"
    return [f"{noun} {_named(map(_code, gone))} gone with it"] if gone else []


def _field_words(commit: Commit) -> list[str]:
    """Say how fields changed; parts of a field added or dropped as a whole are left out."""
    added_or_dropped = {
        change.path for change in commit.fields if change.change in ("added", "dropped")
    }
    words: dict[str, list[str]] = {}
    for change in commit.fields:
        if change.path.rpartition(".")[0] not in added_or_dropped:
            words.setdefault(change.change, []).append(_field_change(change))
    return [
        f"{_noun('field', len(changed))} {_named(changed)}{_FIELD_VERBS.get(change, '')}"
        for change, changed in words.items()
    ]


_FIELD_VERBS = {"added": " added", "dropped": " dropped", "altered": " altered"}


def _field_change(change: FieldChange) -> str:
    before, after = change.before, change.after
    if after and change.change == "added":
        return f"{_code(after['path'])} ({_code(after['logical_type'])})"
    if before and after and change.change == "renamed":
        return f"{_code(before['path'])} renamed to {_code(after['path'])}"
    if before and after and change.change == "cast":
        types = f"{_code(before['logical_type'])} to {_code(after['logical_type'])}"
        return f"{_code(change.path)} cast from {types}"
    return _code(change.path)


def _rewritten_words(counts: Mapping[str, Any]) -> list[str]:
    what = {"rows_added": "added", "rows_deleted": "deleted"}
    words = [f"{_rows(counts[name])} {verb}" for name, verb in what.items() if counts[name]]
    if counts["rows_column_rewritten"]:
        words.insert(0, f"values of {_rows(counts['rows_column_rewritten'])} written")
    if counts["rows_column_added"]:
        words.insert(0, f"filled in {_rows(counts['rows_column_added'])}")
    return words


def _config_words(operation: UpdateConfig, paths: Mapping[int, str]) -> list[str]:
    maps = (
        ("config", operation.config),
        ("table metadata", operation.table_metadata),
        ("schema metadata", operation.schema_metadata),
        *[
            (f"metadata of field {_code(paths.get(key, str(key)))}", update)
            for key, update in operation.field_metadata
        ],
    )
    words = [f"{name}: {_map_words(update)}" for name, update in maps if update]
    more = len(words) - _MOST_NAMED
    return words if more <= 0 else [*words[:_MOST_NAMED], f"{more:,} more maps changed"]


def _map_words(update: UpdateMap) -> str:
    changes = [
        f"{_code(key)} removed" if value is None else f"{_code(key)} set to {_code(value)}"
        for key, value in sorted(update.entries, key=itemgetter(0))
    ]
    all_else = ", all others removed" if update.replace else ""
    return f"{_named(changes) if changes else 'no entry set'}{all_else}"


def _clone_words(clone: Clone) -> str:
    origin = f"version {clone.ref_version:,}"
    if clone.ref_name:
        origin += f" of branch {_code(clone.ref_name)}"
    if clone.branch_name is not None:
        return f"branch {_code(clone.branch_name)} created from {origin}"
    how = "shallow clone" if clone.is_shallow else "clone"
    return f"{how} of {origin} of {_code(clone.ref_path, _LONGEST_VALUE)}"


def _fragment_words(commit: Commit) -> list[str]:
    counts = commit.counts
    if counts["kind"] == "create" or isinstance(commit.operation, Rewrite):
        return []
    new, changed, removed = [counts[f"fragments_{how}"] for how in ("added", "changed", "removed")]
    words = [f"{_plural(new, 'new fragment')}"] if new else []
    for count, verb in ((changed, "changed"), (removed, "removed")):
        if count:
            words.append(f"{count:,} {verb}" if words else f"{_plural(count, 'fragment')} {verb}")
    return [", ".join(words)] if words else []


def _named(items: Iterable[str]) -> str:
    return listed(items, _MOST_NAMED)


def _field_list(ids: Iterable[int], paths: Mapping[int, str]) -> str:
    named = [_code(paths.get(key, f"field {key}")) for key in sorted(ids)]
    return f" in {_named(named)}" if named else ""


def _rows(count: int | None) -> str:
    if count is None:
        return "an unknown number of rows"
    return "no row" if count == 0 else _plural(count, "row")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {_noun(noun, count)}"


def _noun(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _code(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return text of a file between backticks: on one line, cut, and without backticks itself."""
    cut = text[: longest + 1]
    shown = "".join([c if c.isprintable() else repr(c)[1:-1] for c in cut.replace("`", "'")])
    return f"`{shown[:longest]}...`" if len(shown) > longest else f"`{shown}`"
