"""Whether the version of a lock still exists, and if not, why.

The manifest decides: a manifest with the locked bytes is the version, wherever the table is now.
Everything else explains why those bytes are missing, or what happened since.
"""

import os
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple

from lance_explorer.arguments import flag
from lance_explorer.errors import (
    CorruptFileError,
    FormatError,
    RefNotFoundError,
    TableNotFoundError,
    UnsupportedFeatureError,
)
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.live import LiveTable
from lance_explorer.history.refs import Refs
from lance_explorer.history.table_input import reopened
from lance_explorer.history.view import HistoryView
from lance_explorer.locks.lock_text import (
    Lock,
    branch_id,
    read_lock,
    schema_columns,
    schema_digest,
)
from lance_explorer.locks.verification import Check, Status, Verification
from lance_explorer.locks.version_files import VersionFiles, find_files
from lance_explorer.locks.words import (
    as_sentence,
    digest_words,
    files_words,
    lost_words,
    place_words,
    plural,
    ranges_words,
    schema_words,
)
from lance_explorer.storage import Options
from lance_explorer.storage.secrets import hiding_arguments

__all__ = ["verify"]


class _Verdict(NamedTuple):
    """What happened to a version, and a sentence that says it."""

    status: Status
    words: str


@hiding_arguments
def verify(
    lock: str | os.PathLike[str],
    table: Any = None,
    storage_options: Mapping[str, str] | None = None,
    allow_bases: Iterable[str | os.PathLike[str]] = (),
    check_files: bool = True,
) -> Verification:
    """Return whether a locked version still exists, and if not, why.

    The manifest is read and its digest is compared with the one in the lock. Data files and
    deletion files are not opened: each folder is listed once to see whether they exist and have the
    size in the manifest. Indices are not checked.

    Parameters
    ----------
    lock : str or os.PathLike
        Path of a lock file, or its text, as :func:`lock` returns it.
    table : str, os.PathLike, Table, lance.LanceDataset or lancedb table, optional
        Where the table is now; by default where the lock says. The state of a given Table is read
        again.
    storage_options, allow_bases
        As for :func:`open_table`. A table whose files are elsewhere, as a clone, needs the same
        ``allow_bases`` as to open it.
    check_files : bool, default True
        Whether to look for the files of the version; otherwise only its manifest is compared.

    Returns
    -------
    Verification

    Raises
    ------
    InvalidArgumentError
        If ``lock`` is not a lock, or its format is newer.
    StorageError
        If the storage does not answer: then nothing is known.
    UnsupportedFeatureError
        If files are in a location that is not allowed.

    Examples
    --------
    >>> text = lx.lock(table.at(4))
    >>> lx.verify(text).ok, lx.verify(text, table).ok
    (True, True)
    >>> lx.verify(text, table="moved/people.lance").status
    'table_gone'
    """
    locked = read_lock(lock)
    is_wanted = flag("check_files", check_files)
    storage_options = None if storage_options is None else Options(storage_options)
    place = locked.uri if table is None else table
    try:
        opened = reopened(place, storage_options, allow_bases)
        return LiveTable(opened).answer(lambda view: _verified(view, locked, is_wanted))
    except TableNotFoundError as error:
        uri = str(getattr(place, "uri", place))
        gone = Check("table", locked.uri, None, is_same=False)
        return Verification("table_gone", as_sentence(str(error)), uri, locked, (gone,))


def _verified(view: HistoryView, lock: Lock, is_wanted: bool) -> Verification:
    """Return what happened to a version of an existing table."""
    checks = [Check("table", lock.uri, view.uri, view.uri == lock.uri or None)]
    branch = _branch(view, lock)
    if branch is None:
        checks.append(Check("branch", lock.branch, None, is_same=False))
        status, sentence = _Verdict("branch_gone", f"branch {lock.branch} was deleted")
    else:
        status, sentence = _look(branch, lock, checks, is_wanted)
    tags = _tag_checks(view, lock)
    moved = [check for check in tags if check.is_same is False]
    if moved and status == "unmoved":
        status = "tag_moved"
        sentence += "".join(
            [f"; the {tag.what}, which pointed to it, {_went(tag)}" for tag in moved]
        )
    checks += tags
    if branch is not None:
        if status not in ("rewritten", "another_branch") and lock.version < FIRST_DETACHED:
            later = branch.latest_version - lock.version
            actual = f"{later:,}, up to {branch.latest_version}" if later else "none"
            checks.append(Check("later versions", None, actual, None))
        checks.append(_schema_check(branch, lock))
    return Verification(status, as_sentence(sentence), view.uri, lock, tuple(checks))


def _branch(view: HistoryView, lock: Lock) -> HistoryView | None:
    """Return the present state of the branch of a lock; None if no branch has its name."""
    if lock.branch is None:
        return view.on_branch(None)
    refs = Refs(view.main_storage)
    if lock.branch not in refs.branches:
        unreadable = [ref for ref in refs.unreadable if ref.kind == "branch"]
        if unreadable:
            raise CorruptFileError(
                f"whether branch {lock.branch!r} exists is unknown: {unreadable[0].problem}"
            )
        return None
    try:
        return view.on_branch(lock.branch)
    except RefNotFoundError:
        return None


def _look(branch: HistoryView, lock: Lock, checks: list[Check], is_wanted: bool) -> _Verdict:
    """Return what happened to a version of an existing branch, and add the checks."""
    is_other_branch = False
    if lock.branch is not None:
        now = branch_id(branch, lock.branch)
        is_other_branch = None not in (now, lock.branch_id) and now != lock.branch_id
        expected, actual = [f"{lock.branch} {id_ or ''}".strip() for id_ in (lock.branch_id, now)]
        checks.append(Check("branch", expected, actual, not is_other_branch))
    every = (*branch.listing.versions, *branch.listing.detached)
    file = next((file for file in every if file.version == lock.version), None)
    number = str(lock.version)
    checks.append(Check("version", number, number if file else None, file is not None))
    if file is None:
        return _missing(branch, lock, is_other_branch)
    try:
        data = branch.storage.get(file.path)
    except (FileNotFoundError, CorruptFileError) as error:
        return _Verdict("damaged", f"the manifest of version {number} is listed, but lost: {error}")
    digest = sha256(data).hexdigest()
    is_same = digest == lock.manifest_sha256
    expected = digest_words(lock.manifest_bytes, lock.manifest_sha256)
    checks.append(Check("manifest", expected, digest_words(len(data), digest), is_same))
    if not is_same:
        return _another(branch, lock, is_other_branch)
    try:
        history = branch.version(lock.version)
    except CorruptFileError as error:
        return _Verdict("damaged", f"the manifest of version {number} is damaged: {error}")
    since = _committed_since(branch, lock)
    if not is_wanted:
        why = f"the manifest of version {number} is still there{since}; its files were not sought"
        return _Verdict("unmoved", why)
    files = find_files(history, branch.storage)
    checks += _file_checks(files)
    if files.lost:
        return _Verdict("damaged", f"version {number} is kept, but {lost_words(files.lost)}")
    why = f"version {number} is still there, with its {files_words(files)}{since}"
    return _Verdict("unmoved", why)


def _missing(branch: HistoryView, lock: Lock, is_other_branch: bool) -> _Verdict:
    """Return why a branch does not have a version."""
    version, latest = lock.version, branch.latest_version
    if is_other_branch:
        why = f"branch {lock.branch} was deleted and recreated, and has no version {version} now"
        return _Verdict("another_branch", why)
    if latest < version < FIRST_DETACHED:
        why = (
            f"there is no version {version}: the latest is {latest}, so the table was dropped and "
            "recreated, or replaced by an older copy"
        )
        return _Verdict("rewritten", why)
    kept = [file.version for file in branch.listing.versions]
    remain = f"{plural(len(kept), 'version')} remain{'s' if len(kept) == 1 else ''}"
    why = f"version {version} was cleaned up; {remain}, {ranges_words(kept)}; "
    return _Verdict("cleaned_up", why + _protection(branch, lock))


def _protection(branch: HistoryView, lock: Lock) -> str:
    """Return what protected a cleaned-up version, or what would have protected it."""
    tags = Refs(branch.main_storage).tags.values()
    place = lock.branch, lock.version
    still = [tag.name for tag in tags if (tag.branch, tag.version) == place]
    if still:
        return f"the tag {still[0]} still points to it"
    if lock.tags:
        return f"the tag {lock.tags[0]}, which protected it, was moved or deleted before"
    return "a tag would have protected it"


def _another(branch: HistoryView, lock: Lock, is_other_branch: bool) -> _Verdict:
    """Return why the manifest of a version changed."""
    try:
        now = branch.version(lock.version).records[0].manifest.timestamp
    except CorruptFileError as error:
        return _Verdict("damaged", f"the manifest of version {lock.version} is damaged: {error}")
    except UnsupportedFeatureError:  # written by a later release, so it has changed
        now = None
    times = [_time_words(time) for time in (now, lock.committed_at)]
    what = "table was dropped"
    if lock.branch is not None:
        what = "branch was deleted" if is_other_branch else "table or the branch was deleted"
    why = (
        f"version {lock.version} is another one, committed {times[0]} and not {times[1]}: "
        f"the {what} and recreated"
    )
    return _Verdict("another_branch" if is_other_branch else "rewritten", why)


def _file_checks(files: VersionFiles) -> list[Check]:
    words = files_words(files)
    if not files.lost:
        return [Check("files", words, words, is_same=True)]
    summary = Check("files", words, f"{len(files.lost):,} of them lost", is_same=False)
    lost = [
        Check(
            file.path,
            "there" if file.size_bytes is None else f"{file.size_bytes:,} bytes",
            None if file.found_bytes is None else f"{file.found_bytes:,} bytes",
            is_same=False,
        )
        for file in files.lost
    ]
    return [summary, *lost]


def _tag_checks(view: HistoryView, lock: Lock) -> list[Check]:
    """Return where the tags of a lock point to now."""
    refs = Refs(view.main_storage)
    tags = refs.tags if lock.tags else {}
    expected = place_words(lock.branch, lock.version)
    checks = list[Check]()
    for name in lock.tags:
        tag = tags.get(name)
        actual = None if tag is None else place_words(tag.branch, tag.version)
        is_known = tag is not None or not any(ref.kind == "tag" for ref in refs.unreadable)
        checks.append(
            Check(f"tag {name}", expected, actual, actual == expected if is_known else None)
        )
    return checks


def _schema_check(branch: HistoryView, lock: Lock) -> Check:
    """Return how the latest schema differs from the locked schema."""
    what, expected = "schema of the latest version", plural(len(lock.columns), "field")
    try:
        schema = branch.version(branch.latest_version).records[0].schema
    except FormatError as error:
        return Check(what, expected, f"cannot be read: {error}", None)
    if schema_digest(schema) == lock.schema_sha256:
        return Check(what, expected, "the same", is_same=True)
    actual = schema_words(lock.columns, schema_columns(schema))
    return Check(what, expected, actual, is_same=False)


def _time_words(time: datetime | None) -> str:
    return f"at {time:%Y-%m-%d %H:%M:%S} UTC" if time else "at an unknown time"


def _went(tag: Check) -> str:
    return f"now points to {tag.found}" if tag.found else "was deleted"


def _committed_since(branch: HistoryView, lock: Lock) -> str:
    later = branch.latest_version - lock.version
    if later <= 0:
        return ""
    return f"; {plural(later, 'version')} {'was' if later == 1 else 'were'} committed since"
