"""The content of a ledger: four kinds of Parquet files, and the columns of each.

A *segment* is the result of one recording: a file of each kind that is not empty. The file of
versions is written last and names the others; an unnamed file does not count.
"""

import polars as pl

from lance_explorer.frames.columns import BYTES, COUNT, ID, TEXT, TIME, Column, FrameSchema

__all__ = [
    "CHANGE",
    "CHECKSUMS",
    "DERIVED",
    "FILES",
    "FORMAT",
    "FRAGMENTS",
    "KEPT",
    "KINDS",
    "REFS",
    "SECTIONS",
    "VERSIONS",
]

FORMAT = 1
"""The format of the files that this release writes; later ones are refused."""

DERIVED = "derived "
"""What the cache writes before the digest of a manifest that was not read whole."""

_BINARY = pl.Binary()

CHANGE = pl.Enum(["added", "changed", "removed"])

VERSIONS = FrameSchema(
    "versions",
    (
        Column("version", ID, "version; those from 2^63 on are detached"),
        Column("committed_at", TIME, "when it was committed", nullable=True),
        Column("operation", TEXT, "operation as Lance names it; null if unknown", nullable=True),
        Column("writer", TEXT, "library that wrote it, and its version", nullable=True),
        Column("num_fragments", COUNT, "fragments in this version", nullable=True),
        Column("path", TEXT, "manifest file, from the root of the branch"),
        Column("size_bytes", BYTES, "size of the manifest file", unit="bytes"),
        Column("modified_ns", COUNT, "when the file was last modified", unit="ns since 1970"),
        Column("etag", TEXT, "the object store's tag of the file's content", nullable=True),
        Column("sha256", TEXT, "digest of the manifest file, in hexadecimal"),
        Column(
            "base_version",
            ID,
            "version that `fragments` tells the difference from; null: from no fragments",
            nullable=True,
        ),
        Column("base_sha256", TEXT, "digest of the manifest of that version", nullable=True),
        Column("layout", TEXT, "order of the parts in the manifest file", nullable=True),
        Column("rest", _BINARY, "bytes of the manifest file between its parts", nullable=True),
        Column("manifest", _BINARY, "manifest message, without schema, fragments", nullable=True),
        Column("schema_key", TEXT, "key of the schema in `sections`", nullable=True),
        Column("indices_key", TEXT, "key of the index section in `sections`", nullable=True),
        Column("fragment_bytes", BYTES, "bytes of the fragments", nullable=True, unit="bytes"),
        Column("transaction", _BINARY, "transaction message", nullable=True),
        Column(
            "transaction_path",
            TEXT,
            "file of the transaction, from the root of the branch; null if it is in the manifest",
            nullable=True,
        ),
        Column(
            "num_new_row_ids",
            COUNT,
            "of an Update with stable row IDs, rows that got new IDs; null for others",
            nullable=True,
            unit="rows",
        ),
        Column(
            "raw",
            _BINARY,
            "whole manifest file, where it could not be taken apart; then the parts are null",
            nullable=True,
        ),
    ),
)
"""One row for each recorded version."""

FRAGMENTS = FrameSchema(
    "fragments",
    (
        Column("version", ID, "version in which the fragment changed"),
        Column("fragment_id", ID, "fragment"),
        Column("change", CHANGE, "what became of it since `base_version`"),
        Column("physical_rows", COUNT, "rows with the deleted ones", nullable=True, unit="rows"),
        Column("num_deleted_rows", COUNT, "deleted rows", nullable=True, unit="rows"),
        Column("num_files", COUNT, "data files", nullable=True, unit="files"),
        Column("data_bytes", BYTES, "size of its data files", nullable=True, unit="bytes"),
        Column("message", _BINARY, "DataFragment message; null if removed", nullable=True),
    ),
)
"""One row for each fragment that a version added, changed or removed."""

SECTIONS = FrameSchema(
    "sections",
    (
        Column("key", TEXT, "digest of the content, in hexadecimal"),
        Column("kind", TEXT, "schema or indices"),
        Column("names", TEXT, "names of the columns or indices, joined by commas", nullable=True),
        Column("content", _BINARY, "Field records, or an IndexSection message"),
    ),
)
"""Schemas and lists of indices, which many versions share."""

FILES = FrameSchema(
    "files",
    (
        Column("root", TEXT, "root it is below: empty for the table, a branch's folder, or a URI"),
        Column("path", TEXT, "path from there; with # and the name, a hidden column of that file"),
        Column("kind", TEXT, "deletions, sequences or reuse"),
        Column("size_bytes", BYTES, "size of the content", unit="bytes"),
        Column("content", _BINARY, "the file, or the column as 64-bit numbers, little-endian"),
    ),
)
"""Files of metadata besides the manifests: cleanup removes them, too."""

REFS = FrameSchema(
    "refs",
    (
        Column("kind", TEXT, "tag or branch"),
        Column("name", TEXT, "its name"),
        Column("branch", TEXT, "branch that it points to; null: main", nullable=True),
        Column("version", ID, "version that it points to"),
        Column("seen_at", TIME, "when it was recorded so"),
        Column("path", TEXT, "its file, from the root of the table"),
        Column("content", _BINARY, "that file"),
    ),
)
"""Tags and branches at the time of recording, if they changed."""

CHECKSUMS = FrameSchema(
    "checksums",
    (
        Column("root", TEXT, "root it is below: empty for the table, a branch's folder, or a URI"),
        Column("path", TEXT, "data file, from there"),
        Column("column", COUNT, "number of the column in the file; -1: what is not of one column"),
        Column("sha256", TEXT, "digest of its bytes, in hexadecimal"),
    ),
)
"""Digests of data files, in files of their own."""

KEPT = FrameSchema(
    "kept",
    (
        Column("version", ID, "version whose commit ended values"),
        Column("sha256", TEXT, "digest of the manifest of that version, in hexadecimal"),
        Column("version_before", ID, "version that had them"),
        Column("asked", pl.List(pl.String()), "requested columns of the version before"),
        Column("file", TEXT, "file of values of these columns; null if none", nullable=True),
        Column("columns", pl.List(pl.String()), "columns that it has of this commit"),
        Column("num_rows", COUNT, "rows of this commit in the file", unit="rows"),
        Column("num_lost", COUNT, "rows of which a value was gone", unit="rows"),
        Column(
            "forgotten", pl.List(pl.UInt64()), "addresses of rows that are not to be kept again"
        ),
    ),
)
"""The commits whose values were kept, and the files with these values.

A file of values has ``version``, ``_rowaddr`` (the address of the row in the previous version) and
``values``, a struct of the columns with their names in that version.
"""

KINDS = {schema.name: schema for schema in (VERSIONS, FRAGMENTS, SECTIONS, FILES, REFS)}
