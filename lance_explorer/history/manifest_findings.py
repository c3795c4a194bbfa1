"""Problems of a manifest, or facts worth knowing, which the loader finds."""

from lance_explorer.errors import FormatError, UnsupportedFeatureError
from lance_explorer.findings import Cause, Finding, Remedy, Subject
from lance_explorer.format.fragments import Fragment
from lance_explorer.history.listing import VersionFile

__all__ = [
    "corrupt_transaction",
    "duplicates",
    "is_overfull",
    "miscounted",
    "not_counted",
    "too_many_deleted",
    "unreadable",
]


def unreadable(file: VersionFile, error: FormatError) -> Finding:
    """Return the finding that a manifest cannot be decoded, and is left out."""
    is_newer = isinstance(error, UnsupportedFeatureError)
    return Finding(
        "unreadable_manifest",
        str(error),
        subject=_subject(file),
        versions=_only(file),
        consequence=f"Version {file.version} is left out.",
        remedy=Remedy("A newer release of lance_explorer may read it.") if is_newer else None,
    )


def duplicates(file: VersionFile) -> Finding:
    """Return the finding that two fragments of a version have one ID."""
    return Finding(
        "duplicate_fragment_ids",
        f"two fragments of version {file.version} have the same ID: the first such version",
        subject=_subject(file),
        versions=_only(file),
    )


def not_counted(file: VersionFile, fragment: Fragment) -> Finding:
    """Return the finding that fragments do not store how many rows they have."""
    return Finding(
        "rows_not_counted",
        f"fragment {fragment.id} does not store how many rows it has; version {file.version} is "
        "the first with such fragments",
        subject=Subject("fragment", str(fragment.id)),
        versions=_only(file),
        causes=(Cause("a writer up to 0.7"),),
        is_mild=bool(fragment.row_ids),
    )


def miscounted(file: VersionFile, fragment: Fragment) -> Finding:
    """Return the finding that fragments may count their deleted rows twice."""
    return Finding(
        "rows_miscounted",
        f"fragment {fragment.id} says that it has {fragment.physical_rows} rows, some of them "
        f"deleted, in a manifest that names no writer; version {file.version} is the first with "
        "such fragments",
        subject=Subject("fragment", str(fragment.id)),
        versions=_only(file),
        causes=(Cause("such writers (0.8.0) may have stored the number of live rows"),),
    )


def is_overfull(fragment: Fragment) -> bool:
    """Whether more rows of a fragment are deleted than it has."""
    file, rows = fragment.deletion_file, fragment.physical_rows
    return file is not None and rows is not None and (file.num_deleted_rows or 0) > rows


def too_many_deleted(file: VersionFile, fragment: Fragment) -> Finding:
    """Return the finding that more rows of a fragment are deleted than it has."""
    deleted = fragment.deletion_file.num_deleted_rows if fragment.deletion_file else 0
    return Finding(
        "too_many_deleted",
        f"the manifest says that {deleted} of {fragment.physical_rows} rows of fragment "
        f"{fragment.id} are deleted",
        subject=Subject("fragment", str(fragment.id)),
        versions=_only(file),
    )


def corrupt_transaction(file: VersionFile, error: FormatError) -> Finding:
    """Return the finding that the transaction of a version cannot be decoded."""
    return Finding("corrupt_transaction", str(error), subject=_subject(file), versions=_only(file))


def _subject(file: VersionFile) -> Subject:
    return Subject("version", str(file.version), file.path)


def _only(file: VersionFile) -> tuple[int, int]:
    return file.version, file.version
