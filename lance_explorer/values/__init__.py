"""Everything that is read from data files, through pylance."""

from lance_explorer.values.files import read_hidden_column, read_row_map
from lance_explorer.values.matching import (
    IndexAnswer,
    Matching,
    check_filter,
    matching_by_index,
    matching_rows,
    matching_values,
)
from lance_explorer.values.rows import (
    ROW_VERSIONS,
    SYSTEM_COLUMNS,
    arrow_schema,
    content_batches,
    read_rows,
    row_batches,
    row_schema,
    row_types,
    scan_rows,
    take_rows,
)
from lance_explorer.values.rows_at import read_rows_at, refused_blobs

__all__ = [
    "ROW_VERSIONS",
    "SYSTEM_COLUMNS",
    "IndexAnswer",
    "Matching",
    "arrow_schema",
    "check_filter",
    "content_batches",
    "matching_by_index",
    "matching_rows",
    "matching_values",
    "read_hidden_column",
    "read_row_map",
    "read_rows",
    "read_rows_at",
    "refused_blobs",
    "row_batches",
    "row_schema",
    "row_types",
    "scan_rows",
    "take_rows",
]
