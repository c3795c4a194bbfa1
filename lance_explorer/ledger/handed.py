"""Versions that one process has read, sent to others, which then open no manifest.

What is sent are segments of a ledger without a place: those of a ledger that has the versions, and
one of what was read.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version as release_of
from io import BytesIO

import polars as pl
from propcache.api import cached_property

from lance_explorer.findings import Finding
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.listing import VERSIONS_FOLDER, VersionFile, VersionListing
from lance_explorer.history.recorded import Note
from lance_explorer.history.refs import branch_root
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.kinds import KINDS
from lance_explorer.ledger.lives import Life
from lance_explorer.ledger.places import Place
from lance_explorer.ledger.recorded_history import recorded_history
from lance_explorer.ledger.recorded_storage import RecordedStorage
from lance_explorer.ledger.recorded_table import RecordedTable
from lance_explorer.ledger.recorder import Base, Recorder
from lance_explorer.ledger.recording import base_of, with_transactions
from lance_explorer.ledger.segments import About, Segment
from lance_explorer.ledger.sidecars import root_key, sidecar_names
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.storage import FileInfo, Storage

__all__ = ["Handed", "HandedTable", "Handing"]

_Frames = dict[str, pl.DataFrame]

_Part = tuple[tuple[str, bytes], ...]
"""Frames as Parquet, by their kinds."""


@dataclass(frozen=True)
class Handed:
    """Versions of one branch; they compare by content.

    Parameters
    ----------
    uri : str
        Root of the table.
    branch : str or None
        The branch.
    listing : VersionListing
        The versions.
    segments : tuple
        What is known of them: frames as Parquet, by their kinds.
    findings : tuple of Finding
        What was wrong with where they were recorded.
    """

    uri: str
    branch: str | None
    listing: VersionListing
    segments: tuple[_Part, ...] = field(repr=False)
    findings: tuple[Finding, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handed) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @cached_property
    def digest(self) -> str:
        """What distinguishes it from others."""
        hashed = sha256(repr((self.uri, self.branch, self.listing, self.findings)).encode())
        for kind, data in (part for segment in self.segments for part in segment):
            hashed.update(kind.encode() + len(data).to_bytes(8, "little") + data)
        return hashed.hexdigest()

    @property
    def num_bytes(self) -> int:
        """How large it is."""
        return sum([len(data) for segment in self.segments for _, data in segment])


class Handing:
    """A :class:`~lance_explorer.history.recorded.Recorded` that keeps what is read, to send it.

    Parameters
    ----------
    view : HistoryView
        The branch, with its recordings; none of its history may be read yet.
    """

    def __init__(self, view: HistoryView) -> None:
        inner = view.recorded
        self._inner = inner if isinstance(inner, RecordedTable) else None
        self.over: Callable[[Storage], Storage] = view.main_storage.bases.over
        self._noted: dict[str | None, list[tuple[int, _Part]]] = defaultdict(list)
        self._oldest: dict[str | None, int] = {}
        self._newest: dict[str | None, int] = {}
        self._known: dict[str | None, int] = {}

    def joined(self, storage: Storage, branch: str | None, live: VersionListing) -> VersionListing:
        """Return the known versions."""
        return self._inner.joined(storage, branch, live) if self._inner else live

    def history(self, storage: Storage, branch: str | None, listing: VersionListing) -> History:
        """Return the recordings of these versions, forgetting what was read so far."""
        self._forget(branch)
        if self._inner is None:
            return EMPTY_HISTORY
        history = self._inner.history(storage, branch, listing)
        if history.versions_read:
            self._oldest[branch] = history.versions_read[0]
            self._known[branch] = self._newest[branch] = history.versions_read[-1]
        return history

    @contextmanager
    def noting(
        self, storage: Storage, branch: str | None, files: Sequence[VersionFile]
    ) -> Iterator[Note | None]:
        """Keep the manifests that are read in this context."""
        if files[0].version <= self._oldest.get(branch, -1):  # another table may be there now
            self._forget(branch)
        recorder = Recorder(storage, self._base(branch, files[0].version))
        yield recorder.add
        frames, _ = recorder.take()
        frames["versions"] = with_transactions(frames["versions"], storage, words=True)
        self._noted[branch].append((files[-1].version, _part(frames)))
        self._oldest.setdefault(branch, files[0].version)
        self._newest[branch] = files[-1].version

    def findings(self, branch: str | None) -> list[Finding]:
        """Return problems of the recordings."""
        return self._inner.findings(branch) if self._inner else []

    def digests(self) -> dict[tuple[str, str], dict[int, str]]:
        """Return nothing: none are kept here."""
        return {}

    def kept_cells(
        self, branch: str | None, version: int, before: int, column: str, addresses: Uint64Array
    ) -> None:
        """Return nothing: no values are kept here."""

    def handed(self, view: HistoryView) -> Handed:
        """Return the versions of a view that uses this, after reading them.

        Records of earlier versions are dropped: nothing refers to them.
        """
        last = view.history.versions_read[-1]  # reads the rest
        assert self._newest.get(view.branch, -1) >= last, "it was read before"
        first, noted = view.listing.versions[0].version, self._noted[view.branch]
        noted[:] = [(newest, part) for newest, part in noted if newest >= first]
        return Handed(
            view.uri,
            view.branch,
            view.listing,
            (*map(_part, self._recorded(view)), *[part for _, part in noted]),
            tuple(self.findings(view.branch)),
        )

    def _forget(self, branch: str | None) -> None:
        for known in (self._noted, self._oldest, self._newest, self._known):
            known.pop(branch, None)

    def _base(self, branch: str | None, version: int) -> Base | None:
        """Return the base of the first version that was read, if it is sent, too."""
        known = self._known.get(branch)
        if known is None or self._noted[branch] or self._inner is None:
            return None
        base = base_of(self._inner, branch, version)
        return base if base is not None and base.version == known else None

    def _recorded(self, view: HistoryView) -> list[_Frames]:
        life = self._inner.chosen(view.branch) if self._inner else None
        if life is None:
            return []
        kept = view.listing.versions
        versions, fragments = life.log.from_version_on(kept[0].version)
        # Besides manifests that were read since: they may be recorded.
        named = fragments.filter(pl.col("version") <= kept[-1].version)["message"].drop_nulls()
        is_known = pl.col("version") <= self._known.get(view.branch, -1)
        versions, fragments = versions.filter(is_known), fragments.filter(is_known)
        keys = [*versions["schema_key"].to_list(), *versions["indices_key"].to_list()]
        parts = {
            kind: pl.concat([one.read(kind) for one in life.segments]).unique(maintain_order=True)
            for kind in ("sections", "files")
        }
        names = {name for message in named for name in sidecar_names(message)}
        is_named = pl.col("path").str.split("/").list.last().is_in(list(names))
        parts["files"] = parts["files"].filter(is_named | (pl.col("kind") == "reuse"))
        parts["sections"] = parts["sections"].filter(pl.col("key").is_in(keys))
        return [{"versions": versions, "fragments": fragments, **parts}]


class HandedTable:
    """A :class:`~lance_explorer.history.recorded.Recorded` of received versions."""

    def __init__(self, handed: Handed) -> None:
        self._handed = handed
        self._root = branch_root(handed.branch) if handed.branch else ""
        self._life = Life()
        place = Place(handed.uri)
        for parts in handed.segments:
            frames = {kind: schema.polars_schema.to_frame() for kind, schema in KINDS.items()}
            frames |= {kind: _frame(kind, data) for kind, data in parts}
            about = About(handed.uri, handed.branch, "", release_of("lance-explorer"))
            self._life.add(Segment(place, "", "", about, frames.pop("versions"), frames))

    def over(self, storage: Storage) -> Storage:
        """Return a storage whose manifests are here."""
        root = root_key(storage.uri, self._handed.uri)
        if root != self._root:
            return RecordedStorage(storage, lambda path: self._sidecars.get((root, path)), {})
        files = (*self._handed.listing.versions, *self._handed.listing.detached)
        known = self._life.manifests
        gone = {f.path: FileInfo(f.path, *f[2:5]) for f in files if f.path in known}
        return _HandedStorage(storage, self._file, gone)

    def joined(self, storage: Storage, branch: str | None, live: VersionListing) -> VersionListing:
        """Return the received versions."""
        return self._handed.listing if branch == self._handed.branch else live

    def history(self, storage: Storage, branch: str | None, listing: VersionListing) -> History:
        """Return their history."""
        if branch != self._handed.branch:
            return EMPTY_HISTORY
        return recorded_history(self._life.log, listing.versions)

    def noting(
        self, storage: Storage, branch: str | None, files: Sequence[VersionFile]
    ) -> AbstractContextManager[Note | None]:
        """Return a context in which nothing is kept."""
        return nullcontext(None)

    def findings(self, branch: str | None) -> list[Finding]:
        """Return problems of the original recordings."""
        return list(self._handed.findings) if branch == self._handed.branch else []

    def digests(self) -> dict[tuple[str, str], dict[int, str]]:
        """Return nothing: none are kept here."""
        return {}

    def kept_cells(
        self, branch: str | None, version: int, before: int, column: str, addresses: Uint64Array
    ) -> None:
        """Return nothing: no values are kept here."""

    def _file(self, path: str) -> bytes | None:
        version = self._life.manifests.get(path)
        if version is not None:
            return self._life.log.manifest(version)
        return self._life.transactions.get(path) or self._sidecars.get((self._root, path))

    @cached_property
    def _sidecars(self) -> dict[tuple[str, str], bytes]:
        contents = dict[tuple[str, str], bytes]()
        for segment in self._life.segments:
            rows = segment.read("files").select("root", "path", "content").iter_rows()
            contents.update({(root, path): data for root, path, data in rows})
        return contents


class _HandedStorage(RecordedStorage):
    """The root of a branch whose versions are known, so that no listing is needed."""

    def list_files(self, folder: str) -> list[FileInfo]:
        return [] if folder == VERSIONS_FOLDER else super().list_files(folder)


def _part(frames: _Frames) -> _Part:
    return tuple((kind, _parquet(frame)) for kind, frame in frames.items())


def _parquet(frame: pl.DataFrame) -> bytes:
    buffer = BytesIO()
    frame.write_parquet(buffer, compression="zstd", compression_level=1)
    return buffer.getvalue()


def _frame(kind: str, data: bytes) -> pl.DataFrame:
    return pl.read_parquet(BytesIO(data)).cast(KINDS[kind].polars_schema)
