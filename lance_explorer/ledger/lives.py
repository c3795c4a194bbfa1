"""Which segments tell of one table, and which of another that stood at the same place.

A table may be dropped and made again, or exchanged for a copy that went another way. Manifests
tell: a version with the same digest is of the same table, with another digest of another one. Where
two recordings have no version in common, data files tell, since their names are never given twice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl

from lance_explorer.errors import FormatError
from lance_explorer.format.fragments import decode_fragment
from lance_explorer.ledger.branch_log import BranchLog
from lance_explorer.ledger.segments import Segment

__all__ = ["Life", "file_names", "lives"]


@dataclass
class Life:
    """What is recorded of one table, or one branch of it.

    Attributes
    ----------
    segments : list of Segment
        The recordings, oldest first.
    digests : dict of int to str
        The digest of the manifest of each version.
    """

    segments: list[Segment] = field(default_factory=list)
    digests: dict[int, str] = field(default_factory=dict)

    @cached_property
    def log(self) -> BranchLog:
        """The versions, united."""
        return BranchLog(tuple(self.segments))

    @cached_property
    def data_files(self) -> set[str]:
        """The names of all data files that a version had."""
        found = set[str]()
        for segment in self.segments:
            messages = segment.read("fragments")["message"].drop_nulls()
            found.update(file_names(messages))
        return found

    def add(self, segment: Segment) -> None:
        """Add a recording of the same table."""
        self.segments.append(segment)
        self.digests.update(_digests(segment.versions))

    def agrees(self, digests: dict[int, str]) -> bool | None:
        """Tell whether versions are of this table; None if it has none of them."""
        common = digests.keys() & self.digests.keys()
        return all(digests[one] == self.digests[one] for one in common) if common else None


def lives(segments: Iterable[Segment]) -> list[Life]:
    """Return the lives that segments tell of, in the order in which they were first recorded."""
    found = list[Life]()
    rest = sorted(segments, key=lambda one: (one.about.recorded_at, one.file))
    waiting = list[Segment]()
    for segment in rest:
        if not _add_where_it_belongs(found, segment):
            waiting.append(segment)
            life = Life()
            life.add(segment)
            found.append(life)
    return _joined_by_files(found)


def file_names(messages: Iterable[bytes]) -> set[str]:
    """Return the names of the data files of fragments, given as undecoded messages."""
    names = set[str]()
    for message in messages:
        try:
            names.update([file.path for file in decode_fragment(message).all_files])
        except FormatError:
            continue
    return names


def _add_where_it_belongs(found: Sequence[Life], segment: Segment) -> bool:
    own = _digests(segment.versions)
    bases = segment.versions.select("base_version", "base_sha256").drop_nulls()
    told_from = dict(bases.iter_rows())
    for life in found:
        agrees = life.agrees(own)
        if agrees or (agrees is None and life.agrees(told_from)):
            life.add(segment)
            return True
    return False


def _joined_by_files(found: list[Life]) -> list[Life]:
    """Join what has no version in common, but a data file."""
    joined = found[:1]
    for life in found[1:]:
        for other in joined:
            if other.agrees(life.digests) is None and not other.data_files.isdisjoint(
                life.data_files
            ):
                for segment in life.segments:
                    other.add(segment)
                other.__dict__.pop("data_files", None)
                other.__dict__.pop("log", None)
                break
        else:
            joined.append(life)
    return joined


def _digests(versions: pl.DataFrame) -> dict[int, str]:
    return dict(versions.select("version", "sha256").iter_rows())
