"""Pictures of a table: pure functions from frames to a plotly Figure, or to words beside one."""

from lance_explorer.figures.changes import changes_over_time, churn
from lance_explorer.figures.encoding_words import encoding_words
from lance_explorer.figures.encodings import encoding_bytes, encoding_growth
from lance_explorer.figures.file_sizes import file_sizes
from lance_explorer.figures.fragment_map import fragment_map
from lance_explorer.figures.history import history
from lance_explorer.figures.lineage import lineage
from lance_explorer.figures.lineage_graph import lineage_graph
from lance_explorer.figures.manifest_bytes import manifest_bytes
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.figures.row_ages import row_ages
from lance_explorer.figures.schema_history import schema_history

__all__ = [
    "KIND_COLORS",
    "changes_over_time",
    "churn",
    "encoding_bytes",
    "encoding_growth",
    "encoding_words",
    "file_sizes",
    "fragment_map",
    "history",
    "lineage",
    "lineage_graph",
    "manifest_bytes",
    "row_ages",
    "schema_history",
]
