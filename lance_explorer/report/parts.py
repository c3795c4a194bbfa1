"""What a report consists of, part by part; each reads what it shows, and nothing else."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import plotly.graph_objects as go
import polars as pl

from lance_explorer import figures
from lance_explorer.changes.change_feed import changes
from lance_explorer.display import table_facts
from lance_explorer.figures.labels import plural
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.all_index_coverage import ALL_INDEX_COVERAGE
from lance_explorer.inspect.catalogue import FRAMES, frame
from lance_explorer.inspect.commit_words import describe_commits
from lance_explorer.inspect.old_files import old_files
from lance_explorer.inspect.versions import versions
from lance_explorer.lineage.graph import lineage
from lance_explorer.report.growth import GROWTH, growth
from lance_explorer.report.markup import definitions, frame_table, items, paragraph
from lance_explorer.report.story import landmarks, story

__all__ = ["PARTS", "Block", "Part"]

Block: TypeAlias = "str | go.Figure"
"""HTML, or a picture."""

_MOST_COMMITS = 200
_MOST_ROWS = 100
_SAID = "what it did"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a report: its title, and the function that makes its blocks one by one."""

    title: str
    blocks: Callable[[TableSource], Iterator[Block]]

    @property
    def anchor(self) -> str:
        """What a link to the part ends in."""
        return self.title.lower().replace(" ", "-")


def _facts(source: TableSource) -> Iterator[Block]:
    yield definitions(table_facts(source))


def _story(source: TableSource) -> Iterator[Block]:
    for text in story(source):
        yield paragraph(text)
    yield items(landmarks(source))


def _growth(source: TableSource) -> Iterator[Block]:
    yield figures.history(versions(source))


def _commits(source: TableSource) -> Iterator[Block]:
    every = versions(source).with_columns(pl.Series(_SAID, describe_commits(source), pl.String))
    last = every.tail(_MOST_COMMITS)
    shown = last.select(
        "version",
        "timestamp",
        "operation",
        _SAID,
        "num_rows",
        "num_fragments",
        "data_bytes",
        "tags",
        "message",
    ).reverse()
    caption = f"{_share(len(last), len(every), 'commit', 'The last')}, the latest first"
    yield frame_table(shown, caption, FRAMES["versions"], sentences=_SAID)


def _sizes(source: TableSource) -> Iterator[Block]:
    grown = growth(source)
    caption = f"The {plural(len(grown), 'commit')} that added most data"
    yield frame_table(grown, caption, GROWTH, sentences=_SAID)
    caption = "Files of the latest version, and old ones that only versions before it need"
    yield frame_table(old_files(source), caption)
    yield figures.manifest_bytes(frame(source, "manifests"))


def _findings(source: TableSource) -> Iterator[Block]:
    yield _found(frame(source, "findings"), "Nothing was found to be wrong.")
    yield _found(frame(source, "health"), "There is nothing that its owner should do.")


def _fragments(source: TableSource) -> Iterator[Block]:
    fragments = frame(source, "fragments")
    yield figures.fragment_map(fragments, frame(source, "all_fragments"), versions(source))
    shown = fragments.select(
        "fragment_id",
        "num_rows",
        "physical_rows",
        "num_deleted_rows",
        "num_data_files",
        "data_bytes",
        "deletion_file_type",
    )
    yield _cut(shown, "fragment", FRAMES["fragments"])


def _files(source: TableSource) -> Iterator[Block]:
    yield figures.file_sizes(frame(source, "data_files"), frame(source, "fragments"))


def _schema(source: TableSource) -> Iterator[Block]:
    fields = frame(source, "fields").drop("version", "branch", "name", "parent_id")
    told = fields.with_columns(pl.col("metadata", "encoding").replace("{}", None))
    some = [column.name for column in told if column.null_count() < len(told)]
    yield _cut(told.select(some), "field", FRAMES["fields"])
    yield figures.schema_history(frame(source, "all_fields"))


def _indices(source: TableSource) -> Iterator[Block]:
    indices = frame(source, "indices")
    if indices.is_empty():
        yield paragraph("The latest version has no index.")
        return
    shown = indices.select(
        "name",
        "index_type",
        "fields",
        "dataset_version",
        "num_fragments",
        "size_bytes",
        "created_at",
        "is_system",
    )
    yield _cut(shown, "index segment", FRAMES["indices"])
    coverage = frame(source, "all_index_coverage").filter("is_current")
    yield _cut(coverage.select(ALL_INDEX_COVERAGE.names[1:9]), "index name", ALL_INDEX_COVERAGE)


def _lineage(source: TableSource) -> Iterator[Block]:
    yield paragraph(
        "A lane is a fragment, as thick as it has rows; a ribbon is rows that went from one "
        "fragment into another."
    )
    yield figures.lineage(*lineage(source).frames, versions(source))


def _encodings(source: TableSource) -> Iterator[Block]:
    segments, encodings = frame(source, "row_id_segments"), frame(source, "row_id_encodings")
    yield items(figures.encoding_advice(segments, encodings))
    every = frame(source, "all_row_id_encodings")
    if len(encodings):
        yield figures.encoding_bytes(segments, encodings)
    if len(every):
        yield figures.encoding_growth(frame(source, "row_id_totals"), every)


def _changes(source: TableSource) -> Iterator[Block]:
    yield figures.changes_over_time(changes(source, 0, mode="per_commit").summary())


PARTS = (
    Part("Facts", _facts),
    Part("The story in words", _story),
    Part("Growth and operations", _growth),
    Part("Commits", _commits),
    Part("What made it big", _sizes),
    Part("Findings and advice", _findings),
    Part("Fragments", _fragments),
    Part("File sizes", _files),
    Part("Schema", _schema),
    Part("Indices", _indices),
    Part("Lineage", _lineage),
    Part("Row ID encodings", _encodings),
    Part("Changes over time", _changes),
)
"""The parts in the order of a report."""


def _found(findings: pl.DataFrame, nothing: str) -> str:
    """Return findings as a table, the worst first; or, if there are none, a sentence."""
    if findings.is_empty():
        return paragraph(nothing)
    worst_first = findings.sort("severity", maintain_order=True)
    shown = worst_first.select("severity", "version", "fragment_id", "message", "advice")
    return _cut(shown, "finding", FRAMES["findings"])


def _cut(rows: pl.DataFrame, noun: str, schema: FrameSchema) -> str:
    """Return the first rows of a frame, and of how many."""
    shown = rows.head(_MOST_ROWS)
    return frame_table(shown, _share(len(shown), len(rows), noun, "The first"), schema)


def _share(shown: int, total: int, noun: str, which: str) -> str:
    """Return how many of how many are shown.

    Examples
    --------
    >>> _share(2, 2, "commit", "The last"), _share(2, 3, "commit", "The last")
    ('2 commits', 'The last 2 of 3 commits')
    """
    return plural(total, noun) if shown == total else f"{which} {shown:,} of {plural(total, noun)}"
