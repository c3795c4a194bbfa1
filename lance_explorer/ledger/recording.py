"""Record the versions of a branch that the ledger lacks."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from urllib.parse import unquote

import polars as pl

from lance_explorer.errors import FormatError
from lance_explorer.format.refs import decode_branch, decode_tag
from lance_explorer.format.without_words import without_words
from lance_explorer.history.listing import VersionFile
from lance_explorer.history.progress import reading_versions
from lance_explorer.history.refs import BRANCHES_FOLDER, TAGS_FOLDER
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.kinds import REFS
from lance_explorer.ledger.places import Place
from lance_explorer.ledger.recorded_table import RecordedTable
from lance_explorer.ledger.recorder import Base, Recorder, operation_of
from lance_explorer.ledger.segments import About, write_segment
from lance_explorer.ledger.sidecars import read_sidecars
from lance_explorer.storage import FilePart, Storage, given

__all__ = [
    "Added",
    "base_of",
    "new_files",
    "now",
    "record_branch",
    "record_files",
    "with_transactions",
]

_MOST_BYTES = 64 << 20
_MOST_VERSIONS = 20_000
"""The most bytes of one segment: an interrupted recording loses no more."""


class Added(NamedTuple):
    """What was added to a ledger."""

    versions: list[int]
    bytes_read: int
    segments: list[str]


def record_branch(
    view: HistoryView,
    place: Place,
    table: RecordedTable,
    release: str,
    *,
    words: bool = True,
) -> Added:
    """Record the versions of a branch that the ledger lacks, and changed refs.

    Versions that are removed while they are read are left out. Without ``words``, predicates,
    messages and other properties of transactions are left out, too.
    """
    files = new_files(view, table)
    known = table.chosen(view.branch)
    refs = _changed_refs(view, table)
    base = base_of(table, view.branch, files[0].version) if files else None
    after = max(known.digests.items(), default=None) if known else None
    left_out = [] if words else ["words"]
    about = About(table.uri, view.branch, now(), release, after=after, left_out=left_out)
    return record_files(view.storage, place, table, files, about, base, refs)


def new_files(
    view: HistoryView, table: RecordedTable, same: tuple[int, str] | None = None
) -> list[VersionFile]:
    """Return the unrecorded manifest files of a branch, detached ones last.

    ``same`` is a version that is known to be of this table, and its digest: saves to look.
    """
    if same is None or (known := table.life_with(view.branch, *same)) is None:
        known = table.known(view.storage, view.branch, view.listing)
    recorded = set(known.log.versions["version"].to_list()) if known else set()
    every = (*view.listing.versions, *view.listing.detached)
    return [file for file in every if not file.is_recorded and file.version not in recorded]


def record_files(
    storage: Storage,
    place: Place,
    table: RecordedTable,
    files: Sequence[VersionFile],
    about: About,
    base: Base | None = None,
    refs: pl.DataFrame | None = None,
) -> Added:
    """Record some manifest files of a branch, relative to a recorded base.

    Parameters
    ----------
    storage : Storage
        Root of the branch.
    place : Place
        The place of the ledger.
    table : RecordedTable
        What it has of the table.
    files : sequence of VersionFile
        The manifest files, in the order of their versions.
    about : About
        The description of the segments.
    base : Base, optional
        The version before the first of them.
    refs : DataFrame, optional
        Tags and branches that changed, as ``kinds.REFS``.
    """
    added = Added([], 0, [])
    recorder = Recorder(storage, base, words="words" not in about.left_out)
    sizes = [file.size_bytes for file in files]
    contents = storage.get_many([file.path for file in files], sizes)
    shown = reading_versions(files, is_remote=storage.in_flight > 1)
    num_bytes = 0
    for file, data in zip(shown, contents, strict=True):
        if data is None or isinstance(data, FormatError):  # removed, or not a file: a pipe, say
            continue
        num_bytes += len(data)
        if not recorder.add(file, data):
            continue
        added.versions.append(file.version)
        if recorder.num_bytes > _MOST_BYTES or len(recorder) >= _MOST_VERSIONS:
            added.segments.append(_write(recorder, storage, place, table, about, None))
    if len(recorder) or (refs is not None and len(refs)):
        added.segments.append(_write(recorder, storage, place, table, about, refs))
    return added._replace(bytes_read=num_bytes)


def _write(
    recorder: Recorder,
    storage: Storage,
    place: Place,
    table: RecordedTable,
    about: About,
    refs: pl.DataFrame | None,
) -> str:
    frames, sidecars = recorder.take()
    frames["files"] = read_sidecars(sidecars, table.uri)
    words = "words" not in about.left_out
    frames["versions"] = with_transactions(frames["versions"], storage, words=words)
    if refs is not None:
        frames["refs"] = refs
    return write_segment(place, table.folder(about.branch), frames, about).file


def base_of(table: RecordedTable, branch: str | None, version: int) -> Base | None:
    """Return the recorded predecessor of a new version; None if there is none."""
    life = table.chosen(branch)
    if life is None:
        return None
    before = life.log.versions.filter(
        pl.col("layout").is_not_null() & (pl.col("version") < version)
    )
    if not len(before):
        return None
    last, digest = before.select("version", "sha256").row(-1)
    try:
        data = life.log.manifest(last)
    except (FormatError, FileNotFoundError):
        return None
    return None if data is None else Base(last, digest, data)


def with_transactions(versions: pl.DataFrame, storage: Storage, *, words: bool) -> pl.DataFrame:
    """Fill in the transactions that are in files of their own."""
    paths: list[str | None] = versions["transaction_path"].to_list()
    wanted = [path for path in paths if path is not None]
    if not wanted:
        return versions
    contents = dict[str, bytes]()
    with storage.reading_ahead([FilePart(path) for path in wanted]):
        for path in wanted:
            try:
                data = storage.get(path)
                contents[path] = data if words else without_words(data)
            except (FileNotFoundError, FormatError):
                continue
    transactions = [
        contents.get(path) if path is not None else inline
        for path, inline in zip(paths, versions["transaction"].to_list(), strict=True)
    ]
    operations = [
        operation_of(contents[path]) if path in contents else operation
        for path, operation in zip(paths, versions["operation"].to_list(), strict=True)
    ]
    return versions.with_columns(
        transaction=pl.Series(transactions, dtype=pl.Binary()),
        operation=pl.Series(operations, dtype=pl.String()),
    )


def _changed_refs(view: HistoryView, table: RecordedTable) -> pl.DataFrame:
    """Return tags and branches that changed since the last recording."""
    if view.branch is not None:
        return REFS.build({name: [] for name in REFS.names})
    known = table.refs()
    rows = [row for row in _refs(view.main_storage) if known.get(row[-2]) != row[-1]]
    return pl.DataFrame(rows, schema=REFS.polars_schema, orient="row")


def _refs(storage: Storage) -> Iterator[tuple[str, str, str | None, int, datetime, str, bytes]]:
    now = datetime.now(UTC)
    for folder in (TAGS_FOLDER, BRANCHES_FOLDER):
        names = sorted(
            info.name for info in storage.list_files(folder) if info.name.endswith(".json")
        )
        paths = [f"{folder}/{name}" for name in names]
        for path, contents in zip(paths, storage.get_many(paths), strict=True):
            if contents is None:
                continue
            try:
                data = given(contents)
                name = unquote(path.rpartition("/")[2].removesuffix(".json"))
                if folder == TAGS_FOLDER:
                    tag = decode_tag(data, name)
                    yield "tag", tag.name, tag.branch, tag.version, now, path, data
                else:
                    branch = decode_branch(data, name)
                    parent, version = branch.parent_branch, branch.parent_version
                    yield "branch", branch.name, parent, version, now, path, data
            except FormatError:
                continue


def now() -> str:
    """Return the time in the form of a segment."""
    return datetime.now(UTC).isoformat(timespec="microseconds")
