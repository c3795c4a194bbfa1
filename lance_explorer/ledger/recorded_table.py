"""The recordings of one table in a ledger, joined with the table itself."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from hashlib import sha256

import polars as pl

from lance_explorer.errors import FormatError, LanceExplorerError
from lance_explorer.findings import Cause, Finding, Subject
from lance_explorer.format.manifest import fragment_messages
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.listing import FIRST_DETACHED, VersionFile, VersionListing
from lance_explorer.history.recorded import KeptCells, Note
from lance_explorer.history.refs import branch_root
from lance_explorer.ledger.checksums import Digests, read_checksums
from lance_explorer.ledger.kept_values import KeptValues
from lance_explorer.ledger.kinds import DERIVED, REFS
from lance_explorer.ledger.lives import Life, file_names, lives
from lance_explorer.ledger.places import Place
from lance_explorer.ledger.recorded_history import recorded_history
from lance_explorer.ledger.recorded_storage import RecordedStorage
from lance_explorer.ledger.segments import Segment, open_segment, segment_names
from lance_explorer.ledger.sidecars import root_key
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.storage import FileInfo, Storage

__all__ = ["RecordedTable"]

_MOST_TRIES = 5
"""Segments that were merged since they were listed are found by listing the folder again."""


class RecordedTable:
    """The recorded versions of a table, branch by branch.

    Parameters
    ----------
    place : Place
        Where the ledger lies.
    folder : str
        The folder of the table in it.
    uri : str
        Root of the table.
    is_alone : bool
        Whether the table itself is not asked: then the life that was recorded last counts.
    """

    def __init__(self, place: Place, folder: str, uri: str, *, is_alone: bool = False) -> None:
        self._place = place
        self._is_alone = is_alone
        self._folder = folder
        self._uri = uri
        self._names: dict[str | None, list[str]] = {}
        self._lives: dict[str | None, list[Life]] = {}
        self._chosen: dict[str | None, Life] = {}
        self._damage: dict[str | None, list[Finding]] = defaultdict(list)
        self._doubts: dict[str | None, list[Finding]] = defaultdict(list)
        self._contents: dict[int, dict[tuple[str, str], bytes]] = {}
        self._verdicts: dict[tuple[int, VersionFile], bool | None] = {}
        self._kept: dict[str | None, KeptValues] = {}
        self._gone: dict[str, dict[str, FileInfo]] = defaultdict(dict)

    def over(self, storage: Storage) -> Storage:
        """Return a storage that has the recorded files, where ``storage`` has them no more."""
        root = root_key(storage.uri, self._uri)
        return RecordedStorage(storage, lambda path: self._file(root, path), self._gone[root])

    def joined(self, storage: Storage, branch: str | None, live: VersionListing) -> VersionListing:
        """Return the versions that are kept, and those that are recorded of the same table."""
        if segment_names(self._place.files(self.folder(branch))) != self._names.get(branch):
            self.forget(branch)
        self._kept.pop(branch, None)
        gone = self._gone[branch_root(branch) if branch else ""]
        gone.clear()  # missing files may exist: another table, under the same names
        is_gone = branch is None and not live.versions and not self._is_alone
        life = None if is_gone else self.known(storage, branch, live)
        if life is None:
            return live
        listed = {file.version for file in (*live.versions, *live.detached)}
        latest = live.versions[-1].version if live.versions else FIRST_DETACHED
        recorded = [file for file in _files(life) if file.version not in listed]
        later = [file.version for file in recorded if latest < file.version < FIRST_DETACHED]
        if later:
            self._doubts[branch].append(_went_back(later, latest))
        recorded = [file for file in recorded if not latest < file.version < FIRST_DETACHED]
        gone.update({file.path: FileInfo(file.path, *file[2:5]) for file in recorded})
        return VersionListing(
            tuple(sorted([*live.versions, *[f for f in recorded if f.version < FIRST_DETACHED]])),
            tuple(sorted([*live.detached, *[f for f in recorded if f.version >= FIRST_DETACHED]])),
        )

    def history(self, storage: Storage, branch: str | None, listing: VersionListing) -> History:
        """Return what is known of these versions without reading them; the rest is read."""
        life = self._chosen.get(branch)
        if life is None:
            return EMPTY_HISTORY
        try:
            return recorded_history(life.log, listing.versions)
        except FormatError as error:
            self._damage[branch].append(_damaged(error))
            return EMPTY_HISTORY

    def noting(
        self, storage: Storage, branch: str | None, files: Sequence[VersionFile]
    ) -> AbstractContextManager[Note | None]:
        """Return a context in which nothing is recorded: recording has its own call."""
        return nullcontext(None)

    def findings(self, branch: str | None) -> list[Finding]:
        """Return what is wrong with what is recorded of a branch."""
        return [*self._damage[branch], *self._doubts[branch]]

    def digests(self) -> Digests:
        """Return the digests of data files, by root and path, of all branches."""
        return read_checksums(self._place, self._folder)

    def kept_cells(
        self, branch: str | None, version: int, before: int, column: str, addresses: Uint64Array
    ) -> KeptCells | None:
        """Return what was kept of a column before the commit of a version ended its values."""
        life = self._chosen.get(branch)
        digest = life.digests.get(version) if life is not None else None
        if digest is None:
            return None
        kept = self.kept_values(branch)
        cells = kept.cells(version, digest, before, column, addresses)
        while kept.damage:
            self._damage[branch].append(_damaged(kept.damage.pop()))
        return cells

    def kept_values(self, branch: str | None) -> KeptValues:
        """Return the values that are kept of a branch."""
        if branch not in self._kept:
            self._kept[branch] = KeptValues(self._place, self.folder(branch))
        return self._kept[branch]

    def lives(self, branch: str | None) -> list[Life]:
        """Return the tables that were at this place, as far as they are recorded."""
        if branch not in self._lives:
            self._lives[branch] = lives(self._segments(branch))
        return self._lives[branch]

    def is_whole(self, branch: str | None) -> bool:
        """Return whether all segments of a branch could be opened."""
        return not self._damage[branch]

    @property
    def uri(self) -> str:
        """Root of the table."""
        return self._uri

    @property
    def place(self) -> Place:
        """Where the ledger lies."""
        return self._place

    def recorded_uri(self) -> str | None:
        """Return the last recorded table of the folder; None if there is none."""
        for branch in self.branches():
            folder = self.folder(branch)
            for name in segment_names(self._place.files(folder)):
                with suppress(FormatError, FileNotFoundError):
                    return open_segment(self._place, folder, name).about.uri
        return None

    def known(self, storage: Storage, branch: str | None, live: VersionListing) -> Life | None:
        """Return the recordings of the current table; None if none is certain."""
        self._doubts[branch].clear()
        self._chosen.pop(branch, None)
        life = self._life(storage, branch, live)
        if life is not None:
            self._chosen[branch] = life
        return life

    def life_with(self, branch: str | None, version: int, digest: str) -> Life | None:
        """Choose the life that has a version with a digest; None if none has it."""
        for life in self.lives(branch):
            if life.digests.get(version) == digest:
                self._chosen[branch] = life
                return life
        return None

    def chosen(self, branch: str | None) -> Life | None:
        """Return the life of the current table."""
        return self._chosen.get(branch)

    def refs(self) -> dict[str, bytes]:
        """Return the last recorded files of tags and branches, by their paths."""
        life = self._chosen.get(None)
        if life is None and self._is_alone:
            life = max(self.lives(None), key=_last_recorded, default=None)
        seen = self._seen_refs([life] if life is not None else [])
        latest = seen.sort("seen_at").unique("path", keep="last")
        return dict(latest.select("path", "content").iter_rows())

    def seen_refs(self) -> pl.DataFrame:
        """Return tags and branches for each recording, as ``kinds.REFS``."""
        return self._seen_refs(self.lives(None))

    def _seen_refs(self, lives: Iterable[Life]) -> pl.DataFrame:
        frames = [REFS.polars_schema.to_frame()]
        for segment in (one for life in lives for one in life.segments):
            try:
                frames.append(segment.read("refs"))
            except FormatError as error:
                self._damage[None].append(_damaged(error))
        return pl.concat(frames).unique(["path", "seen_at"])

    def branches(self) -> list[str | None]:
        """Return the branches that are recorded; None is the main one."""
        names: list[str | None] = []
        folders = [self._folder]
        while folders:
            folder = folders.pop(0)
            below = folder.removeprefix(self._folder).removeprefix("/")
            if segment_names(self._place.files(folder)):
                names.append(below.removeprefix(branch_root("")) or None)
            folders += [f"{folder}/{name}" for name in self._place.folders(folder)]
        return names

    def forget(self, branch: str | None) -> None:
        """Read the segments of a branch again on the next request."""
        self._lives.pop(branch, None)
        self._chosen.pop(branch, None)
        self._kept.pop(branch, None)
        self._verdicts.clear()
        self._contents.clear()

    def folder(self, branch: str | None) -> str:
        """Return the folder of a branch in the ledger."""
        return f"{self._folder}/{branch_root(branch)}" if branch else self._folder

    def _segments(self, branch: str | None) -> list[Segment]:
        """Return the segments that count: those with versions that no other one has."""
        folder, missing = self.folder(branch), set[str]()
        for _ in range(_MOST_TRIES):
            segments, replaced, vanished = list[Segment](), set[str](), False
            self._damage[branch].clear()
            self._names[branch] = segment_names(self._place.files(folder))
            for name in self._names[branch]:
                if name in replaced:
                    continue
                try:
                    segment = open_segment(self._place, folder, name)
                    segment.check()
                except FileNotFoundError as error:  # merged and deleted since it was listed?
                    vanished |= name not in missing
                    missing.add(name)
                    self._damage[branch].append(_damaged(f"{error} is missing"))
                except FormatError as error:
                    self._damage[branch].append(_damaged(error))
                else:
                    segments.append(segment)
                    replaced.update(segment.about.replaces)
            if not vanished:
                break
        return [segment for segment in segments if segment.file not in replaced]

    def _life(self, storage: Storage, branch: str | None, live: VersionListing) -> Life | None:
        """Return the recorded life of the current table; None if none is certain."""
        every = self.lives(branch)
        if not live.versions:
            return max(every, key=_last_recorded, default=None)
        unknown = list[Life]()
        for life in sorted(every, key=_last_recorded, reverse=True):
            verdict = self._verdict(life, storage, live)
            if verdict:
                return life
            if verdict is None:
                unknown.append(life)
        if unknown:
            self._doubts[branch].append(_unknown(unknown))
        return None

    def _read_files(self, life: Life) -> dict[tuple[str, str], bytes]:
        """Return the recorded files besides manifests, by their roots and paths."""
        contents = dict[tuple[str, str], bytes]()
        for segment in life.segments:
            try:
                frame = segment.read("files").select("root", "path", "content")
            except FormatError as error:
                self._damage[segment.about.branch].append(_damaged(error))
                continue
            contents.update({(root, path): data for root, path, data in frame.iter_rows()})
        return contents

    def _verdict(self, life: Life, storage: Storage, live: VersionListing) -> bool | None:
        """Tell whether the table is the recorded one; None if unknown."""
        common = [file for file in live.versions if file.version in life.digests]
        # Across a hole, the oldest version has most in common with earlier ones.
        for file in common[-1:] or (live.versions[0], live.versions[-1]):
            if (id(life), file) not in self._verdicts:
                self._verdicts[id(life), file] = _is_same(life, storage, file)
            verdict = self._verdicts[id(life), file]
            if verdict is not None:
                return verdict
        return None

    def _file(self, root: str, path: str) -> bytes | None:
        """Return a recorded file: a rebuilt manifest, or one besides the manifests."""
        branch = next((b for b in self._chosen if (branch_root(b) if b else "") == root), None)
        life = self._chosen.get(branch)
        if life is not None and (branch is not None or not root):
            version = life.manifests.get(path)
            if version is not None:
                return life.log.manifest(version)
            transaction = life.transactions.get(path)
            if transaction is not None:
                return transaction
        for life in self._chosen.values():
            if id(life) not in self._contents:
                self._contents[id(life)] = self._read_files(life)
            data = self._contents[id(life)].get((root, path))
            if data is not None:
                return data
        return None


def _files(life: Life) -> list[VersionFile]:
    columns = ["version", "path", "size_bytes", "modified_ns", "etag"]
    rows = life.log.versions.select(columns).iter_rows()
    return [VersionFile(*row)._replace(is_recorded=True) for row in rows]


def _last_recorded(life: Life) -> str:
    return max(segment.about.recorded_at for segment in life.segments)


def _is_same(life: Life, storage: Storage, newest: VersionFile) -> bool | None:
    """Tell whether a version is of the recorded table, by its digest or else its data files."""
    try:
        data = storage.get(newest.path)
    except FileNotFoundError:
        return None
    digest = life.digests.get(newest.version, DERIVED)
    if not digest.startswith(DERIVED):  # whose maps may be in another order
        return sha256(data).hexdigest() == digest
    try:
        names = file_names(fragment_messages(data))
    except LanceExplorerError:
        return None
    return None if names.isdisjoint(life.data_files) else True


def _damaged(error: FormatError | str) -> Finding:
    return Finding(
        "damaged_ledger", f"a file of the ledger is not read: {error}", subject=Subject("ledger")
    )


def _unknown(some: Iterable[Life]) -> Finding:
    versions = [version for life in some for version in life.digests]
    return Finding(
        "unknown_recording",
        f"the ledger has versions {min(versions)} to {max(versions)} of a table at this place, "
        "which has no version and no data file in common with this one",
        subject=Subject("ledger"),
        versions=(min(versions), max(versions)),
    )


def _went_back(later: list[int], latest: int) -> Finding:
    return Finding(
        "table_went_back",
        f"the ledger has versions up to {max(later)} of this table, whose latest version is "
        f"{latest}",
        subject=Subject("ledger"),
        versions=(min(later), max(later)),
        causes=(
            Cause("it was restored from a copy"),
            Cause("its latest versions were deleted"),
        ),
    )
