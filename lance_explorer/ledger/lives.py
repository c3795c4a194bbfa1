"""Which segments belong to one table, and which to another that was at the same place.

A table may be dropped and created again, or replaced by a copy with another history. Manifests
decide: a version with the same digest belongs to the same table, with another digest to another
one. If two recordings have no common version, data files decide, since their names are never used
twice.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl
from propcache.api import cached_property

from lance_explorer.errors import FormatError
from lance_explorer.format.fragments import decode_fragment
from lance_explorer.ledger.branch_log import BranchLog
from lance_explorer.ledger.segments import Segment

__all__ = ["Life", "file_names", "lives"]


@dataclass
class Life:
    """The recordings of one table, or of one branch of it.

    Attributes
    ----------
    segments : list of Segment
        The recordings, oldest first.
    digests : dict of int to str
        The digest of the manifest of each version.
    known_before : dict of int to str
        Versions that others had recorded of it before, with their digests.
    """

    segments: list[Segment] = field(default_factory=list)
    digests: dict[int, str] = field(default_factory=dict)
    known_before: dict[int, str] = field(default_factory=dict)

    @cached_property
    def log(self) -> BranchLog:
        """The versions, united."""
        return BranchLog(tuple(self.segments))

    @cached_property
    def data_files(self) -> set[str]:
        """The names of all data files that a version had."""
        names = set[str]()
        for segment in self.segments:
            messages = segment.read("fragments")["message"].drop_nulls()
            names.update(file_names(messages))
        return names

    @cached_property
    def manifests(self) -> dict[str, int]:
        """The versions by the paths of their manifests."""
        return dict(self.log.versions.select("path", "version").iter_rows())

    @cached_property
    def transactions(self) -> dict[str, bytes]:
        """The transactions that were in files of their own, by the paths of these."""
        outside = self.log.versions.filter(pl.col("transaction_path").is_not_null())
        return dict(outside.select("transaction_path", "transaction").drop_nulls().iter_rows())

    def add(self, segment: Segment) -> None:
        """Add a recording of the same table."""
        self.segments.append(segment)
        self.digests.update(_digests(segment.versions))
        bases = segment.versions.select("base_version", "base_sha256").drop_nulls()
        self.known_before.update(bases.iter_rows())
        if segment.about.after is not None:
            self.known_before.update([segment.about.after])

    def join(self, other: "Life") -> None:
        """Add all recordings of a life that turned out to be the same table."""
        for segment in other.segments:
            self.add(segment)
        for made in ("data_files", "log", "manifests", "transactions"):
            self.__dict__.pop(made, None)

    def agrees(self, digests: dict[int, str]) -> bool | None:
        """Tell whether versions belong to this table; None if it has none of them."""
        common = digests.keys() & self.digests.keys()
        return all(digests[one] == self.digests[one] for one in common) if common else None


def lives(segments: Iterable[Segment]) -> list[Life]:
    """Return the lives in some segments, in the order in which they were first recorded."""
    every = list[Life]()
    for segment in sorted(segments, key=lambda one: (one.about.recorded_at, one.file)):
        life = Life()
        life.add(segment)
        every.append(life)
    return _joined(_joined(every, _continue), _have_files_in_common)


def file_names(messages: Iterable[bytes]) -> set[str]:
    """Return the names of the data files of fragments, given as undecoded messages."""
    names = set[str]()
    for message in messages:
        try:
            names.update([file.path for file in decode_fragment(message).all_files])
        except FormatError:
            continue
    return names


def _joined(lives: Sequence[Life], are_one: Callable[[Life, Life], bool]) -> list[Life]:
    """Merge equal lives until nothing changes."""
    joined = list[Life]()
    for life in lives:
        for other in joined:
            if are_one(other, life):
                other.join(life)
                break
        else:
            joined.append(life)
    return joined if len(joined) == len(lives) else _joined(joined, are_one)


def _continue(one: Life, other: Life) -> bool:
    """Tell whether two have a common version, or one was recorded on top of the other."""
    agree = one.agrees(other.digests)
    if agree is None:
        return bool(one.agrees(other.known_before) or other.agrees(one.known_before))
    return agree


def _have_files_in_common(one: Life, other: Life) -> bool:
    """Tell whether two without a common version have a common data file."""
    if one.agrees(other.digests) is not None:
        return False
    return not one.data_files.isdisjoint(other.data_files)


def _digests(versions: pl.DataFrame) -> dict[int, str]:
    return dict(versions.select("version", "sha256").iter_rows())
