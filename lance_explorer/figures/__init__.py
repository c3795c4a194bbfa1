"""Pictures of a table, of a version, of changes and of lineage: an object in, a plotly Figure out.

The functions here read from the object what the figure needs. The drawing itself is a pure function
of frames, with the same name, in a module of this package; views and the report call that one with
their frames.
"""

from typing import TYPE_CHECKING

import plotly.graph_objects as go
import polars as pl

from lance_explorer.changes.change_feed import Changes
from lance_explorer.disk.usage import disk_usage as read_disk_usage
from lance_explorer.figures.changes import changes_over_time as draw_changes_over_time
from lance_explorer.figures.changes import churn as draw_churn
from lance_explorer.figures.disk_usage import disk_growth as draw_disk_growth
from lance_explorer.figures.disk_usage import disk_usage as draw_disk_usage
from lance_explorer.figures.encoding_words import encoding_words as say_encodings
from lance_explorer.figures.encodings import encoding_bytes as draw_encoding_bytes
from lance_explorer.figures.encodings import encoding_growth as draw_encoding_growth
from lance_explorer.figures.file_sizes import file_sizes as draw_file_sizes
from lance_explorer.figures.fragment_map import fragment_map as draw_fragment_map
from lance_explorer.figures.history import history as draw_history
from lance_explorer.figures.lineage import lineage as draw_lineage
from lance_explorer.figures.lineage_graph import lineage_graph as draw_lineage_graph
from lance_explorer.figures.manifest_bytes import manifest_bytes as draw_manifest_bytes
from lance_explorer.figures.profile import drift as draw_drift
from lance_explorer.figures.profile import profile as draw_profile
from lance_explorer.figures.row_ages import row_ages as draw_row_ages
from lance_explorer.figures.schema_history import schema_history as draw_schema_history
from lance_explorer.figures.subjects import (
    checked_changes,
    events_of,
    node_named,
    of_values,
    read_lineage,
    read_table,
    read_version,
    version_span,
    whole_number,
)
from lance_explorer.history.live import LiveTable
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.data_files import data_files
from lance_explorer.inspect.fields import all_fields
from lance_explorer.inspect.fragment_health import compaction_settings
from lance_explorer.inspect.fragments import all_fragments, fragments
from lance_explorer.inspect.inherited_versions import inherited_versions
from lance_explorer.inspect.manifests import manifests
from lance_explorer.inspect.row_id_encodings import all_row_id_encodings, row_id_encodings
from lance_explorer.inspect.row_id_segments import row_id_segments
from lance_explorer.inspect.row_id_totals import row_id_totals
from lance_explorer.inspect.version_runs import version_runs
from lance_explorer.inspect.versions import versions
from lance_explorer.lineage.nodes import FragmentNode
from lance_explorer.lineage.row import Row
from lance_explorer.profiles.drift import Drift
from lance_explorer.profiles.profile import Profile

if TYPE_CHECKING:
    from lance_explorer.lineage.graph import Lineage
    from lance_explorer.snapshot import Snapshot
    from lance_explorer.table import Table

__all__ = [
    "changes_over_time",
    "churn",
    "disk_growth",
    "disk_usage",
    "drift",
    "encoding_bytes",
    "encoding_growth",
    "encoding_words",
    "file_sizes",
    "fragment_map",
    "history",
    "lineage",
    "lineage_graph",
    "manifest_bytes",
    "profile",
    "row_ages",
    "schema_history",
]

_NARROWEST = 100  # pixels
_SHIFTS_MARKED = 100


def __dir__() -> list[str]:
    return list(__all__)


# ------------------------------------------------------------------------------------ of a table


def history(table: "Table") -> go.Figure:
    """Draw rows, bytes, fragments and commits over the versions of a table.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.

    Returns
    -------
    plotly.graph_objects.Figure
        Four panels over the version number: live rows, bytes of the data files, number of
        fragments, and the commits in the colour of their kind, with the latest 12 tags above.
        With more than 400 versions a bar stands for several commits, and the panel says how many.

    Examples
    --------
    >>> figure = lx.figures.history(table)
    >>> [axis.title.text for axis in figure.select_yaxes()]
    ['rows', 'data', 'fragments', 'commits']
    """
    return draw_history(read_table(table, versions))


def schema_history(table: "Table") -> go.Figure:
    """Draw every column as a lane over the versions that have it, with a mark where it changed.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.

    Returns
    -------
    plotly.graph_objects.Figure
        A lane for each column, nested ones too. A column that was renamed or cast stays in its
        lane, which has its latest name. With more than 60 lanes those that changed most are shown,
        and the figure says how many there are.

    Examples
    --------
    >>> figure = lx.figures.schema_history(table)
    >>> list(figure.layout.yaxis.ticktext)
    ['id', 'city', 'score']
    """
    return draw_schema_history(read_table(table, all_fields))


def manifest_bytes(table: "Table") -> go.Figure:
    """Draw the size of each manifest, divided into its parts.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.

    Returns
    -------
    plotly.graph_objects.Figure
        A stacked bar for each version; parts that no manifest has are left out. With more than 400
        versions only the last of each few is drawn, and the figure says of how many.

    Examples
    --------
    >>> figure = lx.figures.manifest_bytes(table)
    >>> figure.data[0].name
    'fragments'
    """
    return draw_manifest_bytes(read_table(table, manifests))


def disk_usage(table: "Table") -> go.Figure:
    """Draw how much is on disk of each kind of object, in parts by whose they are.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.

    Returns
    -------
    plotly.graph_objects.Figure
        A bar for each kind of object; its parts are what the latest version needs, what tags,
        branches and detached versions keep, what only older versions need, and the rest.

    Examples
    --------
    >>> figure = lx.figures.disk_usage(table)
    >>> figure.data[0].name
    'the latest version'
    """
    return draw_disk_usage(read_table(table, lambda view: read_disk_usage(view).summary()))


def disk_growth(table: "Table") -> go.Figure:
    """Draw what is on disk now by the version that wrote it.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.

    Returns
    -------
    plotly.graph_objects.Figure
        Areas that add up, over versions: data files, deletion files, index files, manifests and
        everything else. What no kept version of the branch needs is left out.

    Examples
    --------
    >>> figure = lx.figures.disk_growth(table)
    >>> figure.data[0].name
    'data files and blobs'
    """
    return draw_disk_growth(read_table(table, lambda view: read_disk_usage(view).versions()))


def encoding_growth(table: "Table") -> go.Figure:
    """Draw how the size of row IDs and row versions grew over the versions of a table.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.

    Returns
    -------
    plotly.graph_objects.Figure
        Four panels over the version number: bytes of row IDs, with a dotted line at their size in
        the best encoding; bytes of row versions; bytes of row IDs for each live row; and the
        segments and runs that they are stored in.

    Examples
    --------
    >>> figure = lx.figures.encoding_growth(table)
    >>> [axis.title.text for axis in figure.select_yaxes()]
    ['row IDs', 'row versions', 'bytes a row', 'count']
    """
    return draw_encoding_growth(
        *read_table(table, lambda view: (row_id_totals(view), all_row_id_encodings(view)))
    )


# ---------------------------------------------------------------------------------- of a version


def fragment_map(snapshot: "Snapshot | Table") -> go.Figure:
    """Draw the fragments of a version side by side, each as wide as its rows.

    Parameters
    ----------
    snapshot : Snapshot or Table
        The version; the latest one of a table.

    Returns
    -------
    plotly.graph_objects.Figure
        One column for each fragment in the order of a scan: live rows in the colour of the kind of
        commit that created the fragment, deleted rows hatched above them. With more than 400
        fragments a column stands for several, and the figure says how many. Fragments with an
        unknown number of rows are as narrow as those with one row.

    Examples
    --------
    >>> figure = lx.figures.fragment_map(table)
    >>> [trace.name for trace in figure.data]
    ['create', 'append', 'update', 'deleted']
    >>> lx.figures.fragment_map(table.at(2)).layout.title.text
    'Version 2: 2 fragments, 6 rows'
    """

    def read(view: HistoryView, version: int) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        return fragments(view, version), all_fragments(view), versions(view)

    return draw_fragment_map(*read_version(snapshot, read))


def file_sizes(snapshot: "Snapshot | Table", small_rows: int | None = None) -> go.Figure:
    """Draw how many data files and fragments there are of each size, and mark the small ones.

    Parameters
    ----------
    snapshot : Snapshot or Table
        The version; the latest one of a table.
    small_rows : int, optional
        A fragment with fewer rows is small, and its files are; by default what a compaction of this
        version aims at.

    Returns
    -------
    plotly.graph_objects.Figure
        Two panels: files by bytes, and fragments by rows. What is of unknown size is left out, and
        the figure says how many that are.

    Examples
    --------
    >>> figure = lx.figures.file_sizes(table, small_rows=3)
    >>> [axis.title.text for axis in figure.select_xaxes()]
    ['size of a file', 'rows of a fragment']
    >>> figure.layout.title.text
    '3 files, 1 of them small'
    """
    if small_rows is not None:
        small_rows = whole_number("small_rows", small_rows, 0)

    def read(view: HistoryView, version: int) -> tuple[pl.DataFrame, pl.DataFrame, int]:
        settings = compaction_settings(view.version(version))
        aim = settings.target_rows_per_fragment if small_rows is None else small_rows
        return data_files(view, version), fragments(view, version), aim

    return draw_file_sizes(*read_version(snapshot, read))


def row_ages(snapshot: "Snapshot | Table") -> go.Figure:
    """Draw how many rows of a version each version created, and how many it last updated.

    Parameters
    ----------
    snapshot : Snapshot or Table
        The version; the latest one of a table.

    Returns
    -------
    plotly.graph_objects.Figure
        Two panels over the version number, with bars in the colour of the kind of commit. Deleted
        rows are counted, too, since the sequences of row versions include them. With more than 400
        versions a bar stands for several, and the figure says how many. Without stable row IDs no
        row versions are stored, and there are no bars.

    Examples
    --------
    >>> figure = lx.figures.row_ages(table)
    >>> [axis.title.text for axis in figure.select_yaxes()]
    ['rows created', 'rows last updated']
    """

    def read(view: HistoryView, version: int) -> tuple[pl.DataFrame, pl.DataFrame]:
        return version_runs(view, version), versions(view)

    return draw_row_ages(*read_version(snapshot, read))


def encoding_bytes(snapshot: "Snapshot | Table") -> go.Figure:
    """Draw how many bytes the row IDs of each fragment take, by encoding, and could take.

    Parameters
    ----------
    snapshot : Snapshot or Table
        The version; the latest one of a table.

    Returns
    -------
    plotly.graph_objects.Figure
        A bar for each fragment, in bytes, and a mark at the size of its row IDs in the best
        encoding. With more than 25 fragments, those that would save most are shown. Spilled row IDs
        have no bytes in the manifest, and no bar.

    Examples
    --------
    >>> figure = lx.figures.encoding_bytes(table)
    >>> [trace.name for trace in figure.data]
    ['range', 'range with bitmap', 'at best']
    """
    return draw_encoding_bytes(*read_version(snapshot, _row_id_frames))


def encoding_words(snapshot: "Snapshot | Table") -> list[str]:
    """Say in words how many bytes row IDs take, and how many they could take.

    Parameters
    ----------
    snapshot : Snapshot or Table
        The version; the latest one of a table.

    Returns
    -------
    list of str
        Sentences: first on the size of all row IDs; then on up to five fragments that would save
        most, if that is a tenth of their bytes and 1 kB or a hundredth of all; then on the others.

    Examples
    --------
    >>> lx.figures.encoding_words(table)[1]
    'No fragment by itself would save much.'
    """
    return say_encodings(*read_version(snapshot, _row_id_frames))


def _row_id_frames(view: HistoryView, version: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    return row_id_segments(view, version), row_id_encodings(view, version)


# ------------------------------------------------------------------------------------ of changes


def changes_over_time(changes: Changes) -> go.Figure:
    """Draw how many rows each commit changed, by what happened to them.

    Parameters
    ----------
    changes : Changes
        The changes of each commit: ``table.changes(..., mode="per_commit")``. No data file is
        opened, except for the columns of a ``key``.

    Returns
    -------
    plotly.graph_objects.Figure
        Two panels over the version number. Above: rows created, restored, updated and rewritten
        point up, rows deleted and overwritten point down. Below, if there are any: rows that keep
        their values, but moved or got another column. With more than 400 versions a bar stands for
        several, and the line above says how many. A dotted line is where versions are not kept; the
        line above says what is missing from the figure because of that.

    Examples
    --------
    >>> figure = lx.figures.changes_over_time(table.changes(0, mode="per_commit"))
    >>> [axis.title.text for axis in figure.select_yaxes()]
    ['rows changed']
    """
    return draw_changes_over_time(checked_changes(changes, is_per_commit=True).summary())


def churn(changes: Changes) -> go.Figure:
    """Draw how many rows were added to each fragment and how many were removed from it.

    Parameters
    ----------
    changes : Changes
        Changes of either mode: ``table.changes(...)``. With ``include=["moved"]`` rows that a
        compaction moved count too. Without ``images`` no data file is opened.

    Returns
    -------
    plotly.graph_objects.Figure
        A bar up for each class of rows that were added to a fragment, or updated in place in it; a
        bar down for rows removed from it. With more than 60 fragments, those with the most rows
        added or removed are shown, and the line above says so.

    Examples
    --------
    >>> changes = table.changes(0, mode="per_commit", include=["moved"])
    >>> lx.figures.churn(changes).layout.xaxis.title.text
    'fragment'
    """
    return draw_churn(checked_changes(changes).without_values().to_polars())


# ------------------------------------------------------------------------------------- of values


def profile(profile: Profile) -> go.Figure:
    """Draw the values of columns over versions, and mark the commits that moved them.

    Parameters
    ----------
    profile : Profile
        What ``table.profile(...)`` gives.

    Returns
    -------
    plotly.graph_objects.Figure
        A panel for each column: the median, the middle half of all numbers and nine tenths of
        them; of texts and booleans that come again the shares of the most frequent ones, of other
        texts, lists and vectors how long they are; of vectors of one length how near their centroid
        is to the first one. A mark is at a version in which values moved,
        and says what the commit did. With more than 8 columns those are shown that moved furthest,
        and the line above says so.

    Examples
    --------
    >>> figure = lx.figures.profile(table.profile("id"))
    >>> figure.layout.title.text
    '1 column, in 7 versions'
    """
    profiled = of_values(profile, Profile, "a Profile (table.profile(...))")
    return draw_profile(profiled.to_polars(), profiled.shifts(_SHIFTS_MARKED))


def drift(drift: Drift) -> go.Figure:
    """Draw how far the vectors, or numbers, of rows moved between two versions.

    Parameters
    ----------
    drift : Drift
        What ``table.changes(a, b).drift(column)`` gives.

    Returns
    -------
    plotly.graph_objects.Figure
        How many rows moved how far, by distance, and of vectors by the cosine between both. Rows
        that did not move are left out; the line above counts them.

    Examples
    --------
    >>> lx.figures.drift(table.changes(2, 3).drift("id")).layout.title.text
    'id: 0 of 6 rows moved'
    """
    drifted = of_values(drift, Drift, "a Drift (table.changes(...).drift(...))")
    return draw_drift(
        drifted.column, drifted.histogram(), drifted.histogram("cosine"), drifted.summary()
    )


# ------------------------------------------------------------------------------------ of lineage


def lineage(
    table: "Table | Lineage",
    *,
    path: Row | pl.DataFrame | None = None,
    between: tuple[int, int] | None = None,
    fragment: FragmentNode | str | int | None = None,
    width: int | None = None,
) -> go.Figure:
    """Draw where the rows of each fragment of a table came from, and where they moved to.

    Parameters
    ----------
    table : Table or Lineage
        The table; or its lineage, ``table.lineage()``, or a part of that, such as
        ``table.lineage().between(0, 2)``.
    path : Row or polars.DataFrame, optional
        A row of the table whose path is drawn, ``table.row(2)``, or its history,
        ``table.row(2).history()``. Of the events of several rows, ``table.follow(ids)``, the paths
        of the first 12 rows are drawn.
    between : tuple of int, optional
        The first version and the last to show; all by default.
    fragment : FragmentNode, str or int, optional
        A node, its name, or a fragment ID for its latest life: show only its ancestors and
        descendants.
    width : int, optional
        Width in pixels, at least 100; by default that of the page, assumed to be 600.

    Returns
    -------
    plotly.graph_objects.Figure
        Versions run from left to right. A lane is a fragment: its thickness shows its number of
        rows, its colour the kind of commit that created it. Ribbons show rows moving from one lane
        into another; their width shows how many. With more than 200 fragments the smaller ones
        share one grey lane, and the line above says how many they are.

    Examples
    --------
    >>> lx.figures.lineage(table, path=table.row(2)).layout.title.text
    '3 fragments · versions 1 to 7'
    >>> lx.figures.lineage(table.lineage().between(0, 2), between=(1, 3)).layout.title.text
    '2 fragments · versions 1 to 3'
    """
    span, node = version_span(between), node_named(fragment)
    pixels = None if width is None else whole_number("width", width, _NARROWEST)
    frames, view = read_lineage(table)
    events = events_of(path, view)
    every = LiveTable(view).answer(inherited_versions)
    return draw_lineage(*frames, every, path=events, between=span, fragment=node, width=pixels)


def lineage_graph(
    lineage_or_table: "Lineage | Table", *, fragment: FragmentNode | str | int | None = None
) -> go.Figure:
    """Draw which fragments' rows moved into which others, as nodes and edges.

    This figure is for small graphs, and for parts of large ones: of one fragment, of one row
    (``table.row(2).graph()``), of the paths between two fragments (``table.lineage().between(0,
    2)``). For the history of a table, see :func:`lineage`.

    Parameters
    ----------
    lineage_or_table : Lineage or Table
        The table; or its lineage, ``table.lineage()``, or a part of that.
    fragment : FragmentNode, str or int, optional
        A node, its name, or a fragment ID for its latest life: show only its ancestors and
        descendants.

    Returns
    -------
    plotly.graph_objects.Figure
        Rows move from left to right. A node is a fragment: its size shows its number of rows, its
        colour the kind of commit that created it; a ring says that columns of it were rewritten.
        Edges are labelled with what was done in which version; their width shows how many rows
        moved, and edges that are neither recorded nor derived are dashed. With more than 200
        fragments the latest are drawn, and the line above says how many.

    Examples
    --------
    >>> lx.figures.lineage_graph(table).layout.title.text
    '3 fragments · 1 edge'
    >>> lx.figures.lineage_graph(table.row(2).graph()).layout.title.text
    '2 fragments · 1 edge'
    """
    node = node_named(fragment)
    (nodes, edges, _), _ = read_lineage(lineage_or_table)
    return draw_lineage_graph(nodes, edges, fragment=node)
