"""What is wrong with a manifest, or worth knowing, as the loader finds it."""

from lance_explorer.errors import FormatError, UnsupportedFeatureError
from lance_explorer.findings import Finding
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
    """Return that a manifest cannot be understood, and so is left out."""
    return Finding(
        code="unreadable_manifest",
        severity="error",
        message=str(error),
        advice=f"Version {file.version} is left out; "
        + (
            "a newer release of lance_explorer may read it."
            if isinstance(error, UnsupportedFeatureError)
            else "restore its file from a backup."
        ),
        version=file.version,
    )


def duplicates(file: VersionFile) -> Finding:
    """Return that two fragments of a version have one ID."""
    return Finding(
        code="duplicate_fragment_ids",
        severity="error",
        message=f"two fragments of version {file.version} have the same ID: the first such version",
        advice="Counts of such versions are null, and reading their rows is an error, since two "
        "rows may have the same address. Copy the table into a new one with lance.write_dataset.",
        version=file.version,
    )


def not_counted(file: VersionFile, fragment: Fragment) -> Finding:
    """Return that fragments do not say how many rows they have."""
    return Finding(
        code="rows_not_counted",
        severity="info" if fragment.row_ids else "warning",
        message=f"fragment {fragment.id} does not store how many rows it has, as from writers up "
        f"to 0.7; version {file.version} is the first with such fragments",
        advice="Counts of such versions are null. Any commit of a newer release counts the rows.",
        version=file.version,
        fragment_id=fragment.id,
    )


def miscounted(file: VersionFile, fragment: Fragment) -> Finding:
    """Return that fragments may count the rows that are deleted from them twice."""
    return Finding(
        code="rows_miscounted",
        severity="warning",
        message=f"fragment {fragment.id} says that it has {fragment.physical_rows} rows, some of "
        "them deleted, in a manifest that names no writer: such writers (0.8.0) may have stored "
        f"the rows that were left; version {file.version} is the first with such fragments",
        advice="Counts of such versions are null; pylance reads the rows right. Any commit of a "
        "newer release counts them.",
        version=file.version,
        fragment_id=fragment.id,
    )


def is_overfull(fragment: Fragment) -> bool:
    """Whether more rows of a fragment are deleted than it has."""
    file, rows = fragment.deletion_file, fragment.physical_rows
    return file is not None and rows is not None and (file.num_deleted_rows or 0) > rows


def too_many_deleted(file: VersionFile, fragment: Fragment) -> Finding:
    """Return that more rows of a fragment are deleted than it has."""
    deleted = fragment.deletion_file.num_deleted_rows if fragment.deletion_file else 0
    return Finding(
        code="too_many_deleted",
        severity="error",
        message=f"the manifest says that {deleted} of {fragment.physical_rows} rows of fragment "
        f"{fragment.id} are deleted",
        advice="One of the two numbers is wrong, so live rows are null. Restore the manifest from "
        "a backup.",
        version=file.version,
        fragment_id=fragment.id,
    )


def corrupt_transaction(file: VersionFile, error: FormatError) -> Finding:
    """Return that the transaction of a version cannot be decoded."""
    return Finding(
        code="corrupt_transaction",
        severity="error",
        message=str(error),
        advice="The operation of this version is shown as unknown; its contents are not affected.",
        version=file.version,
    )
