"""Whether the values in data files can be read, and whether compactions kept them.

Data files have no checksums. So damaged values that can still be read are found only if something
repeats them: the files before a compaction do, as long as their version is kept.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from lance_explorer.changes.diff import content_of_both
from lance_explorer.checks.data_file_ends import read_end
from lance_explorer.disk.file_digests import differing, file_digests
from lance_explorer.disk.named_data_files import NamedDataFile, named_data_files
from lance_explorer.errors import (
    FormatError,
    LanceExplorerError,
    UnreachableError,
    UnsupportedFeatureError,
)
from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.data_footer import LEGACY_VERSIONS
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import NO_PARENT, column_fields
from lance_explorer.frames.sizes import counted
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.file_roots import checked_uri, data_file
from lance_explorer.history.memories import notes
from lance_explorer.history.progress import with_progress
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.sidecars import root_key
from lance_explorer.values.file_columns import read_columns, read_payloads
from lance_explorer.values.rows import row_batches

__all__ = ["UnreadableValues", "value_findings"]

_FEWEST_ROWS = 1_024
_MOST_PARTS = 64
"""Damaged rows are narrowed down to ranges of this many rows, or to this part of the file."""


@dataclass(frozen=True, slots=True)
class UnreadableValues(Finding):
    """A finding on values that cannot be read.

    Attributes
    ----------
    parts : tuple of pairs of int
        From which row of the file to before which one.
    counts_live : bool
        Whether only live rows are counted: of legacy files, and of payloads of blobs.
    """

    parts: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)
    counts_live: bool = field(default=False, kw_only=True)


_files_read = notes(dict[tuple[str, int | None], Sequence[Finding]], are_carried=True)
"""Findings by file. They are kept until all files are read, so that a check can be continued."""

_compared = notes(dict[int, Sequence[Finding]], are_carried=True)
"""Findings by the version of a compaction, kept in the same way."""


def value_findings(view: HistoryView) -> Iterator[Finding]:
    """Yield a finding for each column of a file with values that cannot be read, or were changed.

    Each column of each data file of all kept versions is read once, and the rows that compactions
    rewrote once more, before and after. Another process reads, since damage may end it.

    Raises
    ------
    UnreachableError
        If a file cannot be reached; the next check continues there.
    """
    view.storage.io.values_apart = True
    known = _files_read(view)
    digests = view.recorded.digests() if view.recorded is not None else {}
    for named in with_progress([*named_data_files(view)], "Reading data files"):
        key = named.file.path, named.file.base_id
        if key not in known:
            known[key] = [*_unreadable(view, named), *_other_bytes(view, named, digests)]
        yield from known[key]
    compactions = [
        record.version
        for record in view.history.records
        if record.operation == OperationName.REWRITE and not record.file.is_recorded
    ]
    for version in with_progress(compactions, "Comparing compactions", "versions"):
        if version not in _compared(view):
            _compared(view)[version] = [*_changed(view, version)]
        yield from _compared(view)[version]
    known.clear()  # the next check compares with this one
    _compared(view).clear()


def _unreadable(view: HistoryView, named: NamedDataFile) -> Iterator[Finding]:
    """Yield a finding for each column of a file with unreadable rows."""
    subject = Subject("fragment", str(named.fragment.id), named.file.path)
    try:
        for columns in _columns_of(view, named):
            yield from _of_columns(view, named, subject, columns)
    except (FormatError, UnsupportedFeatureError) as error:
        yield Finding(
            "not_checked",
            f"the values of {named.file.path} were not read: {error}",
            subject=subject,
            versions=named.versions,
            is_mild=True,
        )
    except UnreachableError:
        raise
    except LanceExplorerError as error:
        why = f"{named.file.path}: {error}"
        yield Finding("corrupt_data_file", why, subject=subject, versions=named.versions)


def _other_bytes(
    view: HistoryView, named: NamedDataFile, digests: Mapping[tuple[str, str], Mapping[int, str]]
) -> Iterator[Finding]:
    """Yield a finding if a file differs from its digests in a ledger."""
    try:
        root, path = data_file(named.file, named.bases, view.storage)
        recorded = digests.get((root_key(root.uri, view.on_branch(None).uri), path))
        info = None if recorded is None else root.find(path)
        if recorded is None or info is None:
            return
        found = file_digests(root, path, info.size_bytes)
    except FormatError:
        return  # which reading it tells
    numbers = {*differing(recorded, found)}
    if not numbers:
        return
    fields = {
        field
        for field, number in zip(named.file.fields, named.file.column_indices, strict=True)
        if number in numbers
    }
    schema = view.history.records[view.history.position(named.versions[1])].schema
    columns = [
        name
        for name, parts in column_fields(schema).items()
        if any(part.id in fields for part in parts)
    ]
    what = f"column {', '.join(columns)}" if columns else "what describes its columns"
    yield Finding(
        "data_file_changed",
        f"{what} of {named.file.path}, of fragment {named.fragment.id}, is not what it was when "
        "the ledger took its digest",
        subject=Subject("fragment", str(named.fragment.id), named.file.path),
        versions=named.versions,
        columns=tuple(columns),
    )


def _columns_of(view: HistoryView, named: NamedDataFile) -> Iterator["_Columns"]:
    """Yield the columns of a file by their reader; none if the file is missing."""
    if (named.file.major_version, named.file.minor_version) in LEGACY_VERSIONS:
        yield _through_fragment(view, named)
        return
    root, path = data_file(named.file, named.bases, view.storage)
    info = root.find(path)
    if info is None:
        return  # which the survey of the folder reports
    end = read_end(root, path, info.size_bytes)
    names = [name for name, _ in end.columns if name not in end.described]
    uri, options = checked_uri(root, path), view.storage.options
    yield _Columns(names, end.num_rows or 0, partial(read_columns, uri, storage_options=options))
    if end.described:
        yield _through_fragment(view, named, end.described)


def _of_columns(
    view: HistoryView, named: NamedDataFile, subject: Subject, columns_read: "_Columns"
) -> Iterator[Finding]:
    """Yield a finding for each of some columns of a file with unreadable rows."""
    columns, count, read, counts_live, fewest = columns_read

    def why_not(some: list[str], begin: int, end: int) -> str:
        try:
            read(some, begin, end - begin)
        except (UnreachableError, FormatError):
            raise
        except LanceExplorerError as error:
            return str(error)
        return ""

    together = why_not(columns, 0, count) if count and columns else ""
    if not together:
        return
    names, alone = _names_now(view, named), [(name, why_not([name], 0, count)) for name in columns]
    wrong = [(name, why) for name, why in alone if why] or [(", ".join(columns), together)]
    for one_name, why in wrong:
        some = columns if why is together else [one_name]
        parts = _parts(partial(why_not, some), count, fewest)
        rows = sum([end - begin for begin, end in parts])
        spans = [f"{begin:,}" + f" to {end - 1:,}" * (end - begin > 1) for begin, end in parts]
        which = f"{'live ' * counts_live}{'row' if rows == 1 else 'rows'} {', '.join(spans)}"
        yield UnreadableValues(
            "unreadable_values",
            f"column {one_name} cannot be read in {counted(rows, 'row')} of {named.file.path} "
            f"({which} of fragment {named.fragment.id}): {why}",
            subject=subject,
            versions=named.versions,
            rows=rows,
            columns=tuple([names.get(column, column) for column in some]),
            parts=tuple(parts),
            counts_live=counts_live,
        )


class _Columns(NamedTuple):
    """Some columns of a file, the number of rows, and the reader of their rows.

    ``read`` takes columns, the first row and a number of rows, and raises an error if they cannot
    be read. If ``counts_live``, only live rows are counted. Unreadable values are narrowed down to
    ``fewest`` rows.
    """

    names: list[str]
    num_rows: int
    read: Callable[[list[str], int, int], object]
    counts_live: bool = False
    fewest: int = _FEWEST_ROWS


def _through_fragment(
    view: HistoryView, named: NamedDataFile, described: Container[str] | None = None
) -> _Columns:
    """Return columns that are read through the fragment: its live rows.

    Legacy files are read like that, and the payloads of blobs of other files.
    """
    version, fragment = named.versions[1], named.fragment
    history = view.version(version)
    check_blob = check_values(view, version)
    begin = view.history.records[view.history.position(named.versions[0])]
    in_file = {field.id: field.name for field in begin.schema}
    columns = [
        field.name
        for field in history.records[0].schema
        if field.parent_id == NO_PARENT
        and field.id in named.file.fields
        and (described is None or in_file.get(field.id, field.name) in described)
    ]
    live = history.live_rows[history.states.ids == fragment.id]
    root, options = value_root(view, version), view.storage.options

    def read(some: list[str], begin: int, count: int) -> None:
        if described is not None:
            read_payloads(root, version, [fragment.id], some, begin, count, options, check_blob)
            return
        for _ in row_batches(
            root,
            version,
            [fragment.id],
            some,
            offset=begin,
            limit=count,
            storage_options=options,
        ):
            pass

    fewest = _FEWEST_ROWS if described is None else 1  # a payload may be a file of its own
    return _Columns(columns, max(int(live.sum()), 0), read, True, fewest)


def _parts(why_not: Callable[[int, int], str], count: int, fewest: int) -> list[tuple[int, int]]:
    """Return the unreadable rows: pairs of a first row and the row after the last."""
    least = max(fewest, count // _MOST_PARTS)
    stretches, waiting = list[tuple[int, int]](), [(0, count)]
    while waiting:
        begin, end = waiting.pop()
        if (begin or end < count) and not why_not(begin, end):
            continue
        if end - begin > least:
            middle = (begin + end) // 2
            waiting += [(middle, end), (begin, middle)]
        elif stretches and stretches[-1][1] == begin:
            stretches[-1] = stretches[-1][0], end
        else:
            stretches.append((begin, end))
    return stretches or [(0, count)]  # each part can be read, but not all at once


def _names_now(view: HistoryView, named: NamedDataFile) -> dict[str, str]:
    """Return the names of a file's columns in the last version that has it."""
    history = view.history
    before, after = [
        {
            field.id: field.name
            for field in history.records[history.position(version)].schema
            if field.parent_id == NO_PARENT
        }
        for version in named.versions
    ]
    return {before[one]: after[one] for one in before if one in after and one in named.file.fields}


def _changed(view: HistoryView, version: int) -> Iterator[Finding]:
    """Yield a finding if the rows of a compaction had other values before it."""
    history = view.history
    position = history.position(version)
    before = history.records[position - 1].version if position else None
    subject = Subject("version", str(version))
    if before is None or not history.follows_previous[position]:
        why = f"version {version - 1} is not kept"
    else:
        try:
            compared = content_of_both(BranchVersion(view, before), BranchVersion(view, version))
        except LanceExplorerError as error:
            why = str(error)
        else:
            if compared:
                return
            many = compared.num_compared_before != compared.num_compared_after
            what = (
                f"{counted(compared.num_compared_before, 'row')} became "
                f"{counted(compared.num_compared_after, 'row')}"
                if many
                else f"values of {', '.join(compared.columns) or 'rows'} differ from before"
            )
            yield Finding(
                "compaction_changed_values",
                f"the compaction of version {version} did not keep what it rewrote: {what}",
                subject=subject,
                versions=(version, history.records[-1].version),
                since=version,
                remedy=Remedy(
                    f"Version {before} has the values: keep it, and write them again from there",
                    f'dataset.tags.create("before-compaction-{version}", {before})',
                    f'dataset.tags.delete("before-compaction-{version}")',
                ),
                columns=compared.columns,
            )
            return
    yield Finding(
        "not_checked",
        f"whether the compaction of version {version} kept values is not known: {why}",
        subject=subject,
        versions=(version, version),
        is_mild=True,
    )
