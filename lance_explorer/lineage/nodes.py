"""The nodes and edges of the graph of fragments, and the frames that list them."""

from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from lance_explorer.frames.columns import (
    BYTES,
    COUNT,
    EVIDENCE,
    ID,
    KIND,
    MAYBE_KNOWN_FROM,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.history.evidence import Evidence

__all__ = [
    "EDGES",
    "EDGE_KINDS",
    "FRAGMENTS",
    "STATES",
    "Edge",
    "FragmentNode",
    "UnseenFragment",
]

EDGE_KINDS = ("rewrite", "update", "column_rewrite", "clone", "restore")


class FragmentNode(NamedTuple):
    """One life of a fragment: the key of a node.

    Attributes
    ----------
    table : str or None
        URI of the table that this one was cloned from; None for this table.
    branch : str or None
        Branch; None is the main branch.
    fragment_id : int
        The fragment.
    first_version : int
        The first version that has it, as far as that is known.

    Examples
    --------
    >>> str(FragmentNode(None, "dev", 7, 12))
    'dev:7@12'
    """

    table: str | None
    branch: str | None
    fragment_id: int
    first_version: int

    def __str__(self) -> str:
        table = f"{self.table}#" if self.table else ""
        branch = f"{self.branch}:" if self.branch else ""
        return f"{table}{branch}{self.fragment_id}@{self.first_version}"


@dataclass(frozen=True, slots=True)
class UnseenFragment:
    """A fragment that no kept version has, known only from other sources."""

    node: FragmentNode
    physical_rows: int | None
    num_deleted_rows: int | None
    operation: str | None = None
    is_exact: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """Rows that moved from one fragment to another; its fields are columns of EDGES."""

    start: FragmentNode
    end: FragmentNode
    kind: str
    version: int
    rows: int | None
    evidence: Evidence
    source: str
    group: int = 0
    group_rows: int | None = None

    @property
    def is_uncertain(self) -> bool:
        """Whether perhaps no row moved this way; the order of ``update()`` makes it sure."""
        if self.kind == "rewrite" and self.evidence is Evidence.INFERRED:
            return True
        return self.rows is None and self.kind in ("rewrite", "update")


_NODE = Column(
    "node",
    TEXT,
    "ID of the fragment's life: fragment@first version, on a branch prefixed with branch:",
)

FRAGMENTS = FrameSchema(
    "lineage_fragments",
    (
        _NODE,
        Column(
            "table",
            TEXT,
            "URI of the table that this one was cloned from; null is this table",
            nullable=True,
        ),
        Column("branch", TEXT, "branch of the fragment; null is the main branch", nullable=True),
        Column("fragment_id", ID, "fragment ID"),
        Column("first_version", ID, "first version that has it"),
        Column(
            "first_version_exact",
            pl.Boolean(),
            "false if the version before is not kept: the fragment may be older",
        ),
        Column(
            "last_version",
            ID,
            "last kept version that has it; null if none has",
            nullable=True,
        ),
        Column("is_current", pl.Boolean(), "whether the latest version has it"),
        Column("operation", TEXT, "operation that created it; null if unknown", nullable=True),
        Column("kind", KIND, "kind of commit that created it"),
        Column(
            "end_operation",
            TEXT,
            "operation that removed it; null if it is current, or if that is unknown",
            nullable=True,
        ),
        Column("num_rows_at_first", COUNT, "live rows in the first version", nullable=True),
        Column("num_rows", COUNT, "live rows in the last version", nullable=True),
        Column(
            "physical_rows",
            COUNT,
            "rows in the last version that has it, deleted rows included",
            nullable=True,
        ),
        Column("num_deleted_rows", COUNT, "masked rows in the last version", nullable=True),
        Column(
            "data_bytes",
            BYTES,
            "size of its data files in the last version that has it",
            nullable=True,
            unit="bytes",
        ),
    ),
)
"""The columns of ``lineage().fragments()``, which are the attributes of nodes."""

EDGES = FrameSchema(
    "lineage_edges",
    (
        Column("from_node", TEXT, "life of the fragment that the rows were in"),
        Column("to_node", TEXT, "life of the fragment that the rows moved to"),
        Column(
            "kind",
            pl.Enum(EDGE_KINDS),
            "how they moved; a column_rewrite leads from a life to itself",
        ),
        VERSION,
        Column("rows", COUNT, "number of rows that moved; null if unknown", nullable=True),
        Column("group", COUNT, "edges of a version with the same number belong together"),
        Column(
            "group_rows",
            COUNT,
            "live rows that the group wrote, for an upsert including inserted ones",
            nullable=True,
        ),
        Column(
            "is_uncertain",
            pl.Boolean(),
            "whether perhaps no row moved this way: versions are lost, or it is unknown which rows "
            "moved where",
        ),
        Column("evidence", EVIDENCE, "how the edge is known"),
        Column("source", TEXT, "where this comes from"),
        MAYBE_KNOWN_FROM,
    ),
)
"""The columns of ``lineage().edges()``; all except the node columns are edge attributes."""

STATES = FrameSchema(
    "lineage_states",
    (
        _NODE,
        Column("first_version", ID, "first version of the interval"),
        Column("last_version", ID, "last kept version of the interval"),
        Column("num_rows", COUNT, "live rows", nullable=True),
        Column("num_deleted_rows", COUNT, "masked rows", nullable=True),
        Column("data_bytes", BYTES, "size of the data files", nullable=True, unit="bytes"),
    ),
)
"""The columns of ``lineage().states()``: how the fragments changed during their lives."""
