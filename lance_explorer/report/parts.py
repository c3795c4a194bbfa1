"""The parts of a report; each reads only what it shows."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import polars as pl

from lance_explorer.answers import Answer, Content, Section, lines, said
from lance_explorer.checks.advice import NOTHING_TO_DO, SEVERITY_WORDS
from lance_explorer.disk.plans import plans
from lance_explorer.disk.usage import DiskUsage
from lance_explorer.display import table_facts
from lance_explorer.figures.changes import changes_over_time
from lance_explorer.figures.disk_usage import disk_growth, disk_usage
from lance_explorer.figures.encoding_words import encoding_words
from lance_explorer.figures.encodings import encoding_bytes, encoding_growth
from lance_explorer.figures.file_sizes import file_sizes
from lance_explorer.figures.fragment_map import fragment_map
from lance_explorer.figures.history import history
from lance_explorer.figures.labels import plural
from lance_explorer.figures.lineage import lineage as draw_lineage
from lance_explorer.figures.manifest_bytes import manifest_bytes
from lance_explorer.figures.schema_history import schema_history
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.findings import FINDINGS
from lance_explorer.frames.sizes import percent
from lance_explorer.inspect.all_index_coverage import ALL_INDEX_COVERAGE
from lance_explorer.inspect.catalogue import FRAMES, frame
from lance_explorer.inspect.inherited_versions import inherited_versions
from lance_explorer.inspect.size_origins import SIZE_ORIGINS
from lance_explorer.inspect.size_words import headline, origin_note
from lance_explorer.lineage.graph import lineage
from lance_explorer.report.facts import WHAT_IT_DID, Facts
from lance_explorer.report.story import landmarks, story

__all__ = ["PARTS", "Block", "Part", "sentence", "table_of"]

Block: TypeAlias = "Section | Answer"
"""What a part shows: a sentence, rows, a picture, or an answer with its sections."""

_MOST_COMMITS = 200
_MOST_ROWS = 100
_MOST_ORIGINS = 10


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a report: its title, and the function that makes its blocks one by one."""

    title: str
    blocks: Callable[[Facts], Iterator[Block]]


def _facts(facts: Facts) -> Iterator[Block]:
    yield Section("facts", "", table_facts(facts.view))


def _disk(facts: Facts) -> Iterator[Block]:
    usage = DiskUsage(facts.on_disk)
    yield sentence(said(usage.sentence))
    yield _picture(lambda: disk_usage(usage.summary()))
    yield _picture(lambda: disk_growth(usage.versions()))
    for title, plan in plans(facts.on_disk).items():
        yield replace(plan, sentence=f"{title}: {plan.sentence}")


def _story(facts: Facts) -> Iterator[Block]:
    for text in story(facts):
        yield sentence(text)
    yield Section("lines", "", lines(landmarks(facts)))


def _growth(facts: Facts) -> Iterator[Block]:
    yield _picture(lambda: history(facts.versions))


def _commits(facts: Facts) -> Iterator[Block]:
    every = facts.versions
    last = every.tail(_MOST_COMMITS)
    shown = last.select(
        "version",
        "timestamp",
        "operation",
        WHAT_IT_DID,
        "num_rows",
        "num_fragments",
        "data_bytes",
        "tags",
        "message",
    ).reverse()
    caption = f"{_share(len(last), len(every), 'commit', 'The last')}, the latest first"
    yield table_of(shown, caption, FRAMES["versions"], WHAT_IT_DID)


def _sizes(facts: Facts) -> Iterator[Block]:
    origins = facts.size_origins
    summary = headline(origins)
    if summary is not None:
        yield sentence(str(summary))
    words = dict(facts.versions.select("version", WHAT_IT_DID).iter_rows())
    ordered = origins.sort("size_bytes", "num_rows", descending=True, maintain_order=True)
    largest = ordered.head(_MOST_ORIGINS)
    notes = [origin_note(row) for row in largest.iter_rows(named=True)]
    did = [words[version] for version in largest["version"]]
    told_by = [f"{what} ({note})" if note else what for what, note in zip(did, notes, strict=True)]
    shown = largest.select(
        "version",
        pl.Series(WHAT_IT_DID, told_by, pl.String),
        pl.col("size_share").map_elements(percent, pl.String),
        "size_bytes",
        "data_bytes",
        "deletion_bytes",
        "index_bytes",
        "num_rows",
    )
    which = "What the latest version needs, by the version that wrote it: the largest"
    caption = _share(len(shown), len(origins), "version", which)
    yield table_of(shown, caption, SIZE_ORIGINS, WHAT_IT_DID)
    yield _picture(lambda: manifest_bytes(frame(facts.view, "manifests")))


def _findings(facts: Facts) -> Iterator[Block]:
    advice = facts.advice
    if not advice:
        yield sentence(f"{NOTHING_TO_DO}: no check found anything.")
        return
    shown = pl.DataFrame(
        {
            "what it is": [SEVERITY_WORDS[one.severity] for one in advice],
            "what was seen": [one.statement for one in advice],
            "why": [one.why for one in advice],
            "what to do": [one.to_do for one in advice],
        }
    )
    yield _cut(shown, "finding", FINDINGS)


def _fragments(facts: Facts) -> Iterator[Block]:
    fragments = frame(facts.view, "fragments")
    yield _picture(
        lambda: fragment_map(fragments, frame(facts.view, "all_fragments"), facts.versions)
    )
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


def _files(facts: Facts) -> Iterator[Block]:
    yield _picture(
        lambda: file_sizes(frame(facts.view, "data_files"), frame(facts.view, "fragments"))
    )


def _schema(facts: Facts) -> Iterator[Block]:
    fields = frame(facts.view, "fields").drop("version", "branch", "name", "parent_id")
    shown = fields.with_columns(pl.col("metadata", "encoding").replace("{}", None))
    some = [column.name for column in shown if column.null_count() < len(shown)]
    yield _cut(shown.select(some), "field", FRAMES["fields"])
    yield _picture(lambda: schema_history(frame(facts.view, "all_fields")))


def _indices(facts: Facts) -> Iterator[Block]:
    indices = frame(facts.view, "indices")
    if indices.is_empty():
        yield sentence("The latest version has no index.")
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
    coverage = frame(facts.view, "all_index_coverage").filter("is_current")
    yield _cut(coverage.select(ALL_INDEX_COVERAGE.names[1:9]), "index name", ALL_INDEX_COVERAGE)


def _lineage(facts: Facts) -> Iterator[Block]:
    yield sentence(
        "Each lane is a fragment, as thick as its number of rows; a ribbon shows rows that moved "
        "from one fragment to another."
    )
    yield _picture(
        lambda: draw_lineage(*lineage(facts.view).frames, inherited_versions(facts.view))
    )


def _encodings(facts: Facts) -> Iterator[Block]:
    segments = frame(facts.view, "row_id_segments")
    encodings = frame(facts.view, "row_id_encodings")
    yield Section("lines", "", lines(encoding_words(segments, encodings)))
    every = frame(facts.view, "all_row_id_encodings")
    if len(encodings):
        yield _picture(lambda: encoding_bytes(segments, encodings))
    if len(every):
        yield _picture(lambda: encoding_growth(frame(facts.view, "row_id_totals"), every))


def _changes(facts: Facts) -> Iterator[Block]:
    yield _picture(lambda: changes_over_time(facts.changed_rows))


PARTS = (
    Part("Facts", _facts),
    Part("On disk", _disk),
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


def sentence(words: str) -> Section:
    """Return a sentence."""
    return Section("text", "", words)


def _picture(draw: "Content") -> Section:
    return Section("picture", "", draw)


def table_of(frame: pl.DataFrame, title: str, schema: FrameSchema, *words: str) -> Section:
    """Return rows under a title; ``words`` are columns of sentences."""
    return Section("rows", title, frame, words=words, schema=schema)


def _cut(rows: pl.DataFrame, noun: str, schema: FrameSchema) -> Section:
    """Return the first rows of a frame, and a note that says of how many."""
    shown = rows.head(_MOST_ROWS)
    return table_of(shown, _share(len(shown), len(rows), noun, "The first"), schema)


def _share(shown: int, total: int, noun: str, which: str) -> str:
    """Return a note that says how many rows of how many are shown.

    Examples
    --------
    >>> _share(2, 2, "commit", "The last"), _share(2, 3, "commit", "The last")
    ('2 commits', 'The last 2 of 3 commits')
    """
    return plural(total, noun) if shown == total else f"{which} {shown:,} of {plural(total, noun)}"
