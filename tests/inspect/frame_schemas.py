"""The schemas of all public frames as text.

They are stored beside this file. After a change that is meant, write them anew:

    python -m tests.inspect.frame_schemas
"""

from pathlib import Path

from lance_explorer.checks.frame import CHECKS
from lance_explorer.disk import cleanup_preview, compaction_frames
from lance_explorer.disk import usage as disk_usage
from lance_explorer.disk.cleanup_losses import LOSSES
from lance_explorer.disk.conflicts import CONFLICTS
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.followed import FOLLOWED, FOLLOWED_ADDRESSES, ROW_HISTORY
from lance_explorer.inspect.catalogue import FRAMES
from lance_explorer.inspect.log import LOG
from lance_explorer.lineage.blame_frame import BLAME
from lance_explorer.lineage.found_rows import FOUND
from lance_explorer.lineage.nodes import EDGES, FRAGMENTS, STATES

STORED_SCHEMAS = Path(__file__).with_name("frame_schemas.txt")

OF_LINEAGE = (
    LOG,
    FOUND,
    BLAME,
    ROW_HISTORY,
    FOLLOWED,
    FOLLOWED_ADDRESSES,
    FRAGMENTS,
    EDGES,
    STATES,
)
"""Frames of commits, of rows and of the lineage graph, which are in no catalogue."""


OF_DISK = (
    disk_usage.USAGE,
    disk_usage.USAGE_BY_VERSION,
    cleanup_preview.FILES,
    cleanup_preview.VERSIONS,
    cleanup_preview.SUMMARY,
    cleanup_preview.HELD,
    LOSSES,
    compaction_frames.TASKS,
    compaction_frames.NEW_FRAGMENTS,
    compaction_frames.FRAGMENTS,
    compaction_frames.SUMMARY,
    CHECKS,
    CONFLICTS,
)
"""Frames of what is on disk, and of what a cleanup or a compaction would do."""


def schemas_text() -> str:
    """Return all frames, each with one line a column."""
    return "\n".join([_text(schema) for schema in (*FRAMES.values(), *OF_LINEAGE, *OF_DISK)])


def _text(schema: FrameSchema) -> str:
    lines = [
        f"    {column.name}: {column.dtype}"
        + (f", {column.unit}" if column.unit else "")
        + (", nullable" if column.nullable else "")
        for column in schema.columns
    ]
    return "\n".join([schema.name, *lines, ""])


if __name__ == "__main__":
    STORED_SCHEMAS.write_text(schemas_text())
