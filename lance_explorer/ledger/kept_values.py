"""Values that commits ended, in a ledger: for one branch, in files of their own.

Files of values and files that describe them (``kinds.KEPT``) are written once, and named by the
digest of their content. A file of values that no description names does not count: its recording
was interrupted.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.errors import CorruptFileError
from lance_explorer.history.recorded import KeptCells
from lance_explorer.ledger.kinds import KEPT
from lance_explorer.ledger.places import Place
from lance_explorer.ledger.segments import digest
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.storage import FileInfo

__all__ = ["KeptCommit", "KeptValues", "ValuesFile", "values_folder"]

_NAME = re.compile(r"(kept|values)-([0-9a-f]{32})\.parquet")

_MOST_OPEN = 8
"""Files of values that are held in memory."""

_UNFINISHED_FOR = timedelta(hours=24)
"""After this time, an unnamed file belongs to an interrupted recording."""


class ValuesFile(NamedTuple):
    """Values of one file: of some commits, ascending by version and address."""

    versions: Uint64Array
    addresses: Uint64Array
    values: pl.DataFrame

    def of(self, version: int) -> "ValuesFile":
        """Return the values that one commit ended."""
        begin, end = (
            int(np.searchsorted(self.versions, np.uint64(version), side=side))
            for side in ("left", "right")
        )
        here = slice(begin, end)
        return ValuesFile(self.versions[here], self.addresses[here], self.values[here])

    def where(self, chosen: NDArray[np.bool_]) -> "ValuesFile":
        """Return some of them."""
        return ValuesFile(
            self.versions[chosen], self.addresses[chosen], self.values.filter(pl.Series(chosen))
        )


class KeptCommit(NamedTuple):
    """The values of a commit in one file: a row of ``kinds.KEPT``."""

    version: int
    sha256: str
    version_before: int
    asked: list[str]
    file: str | None = None
    columns: list[str] = []  # noqa: RUF012 - it is never changed
    num_rows: int = 0
    num_lost: int = 0
    forgotten: list[int] = []  # noqa: RUF012


def values_folder(folder: str) -> str:
    """Return the place of a branch's values in a ledger, given the folder of the branch."""
    return f"{folder}/values"


class KeptValues:
    """The values that are kept of one branch.

    Parameters
    ----------
    place : Place
        Where the ledger lies.
    folder : str
        The folder of the branch in it.

    Attributes
    ----------
    damage : list of CorruptFileError
        Files that could not be read.
    """

    def __init__(self, place: Place, folder: str) -> None:
        self._place, self._folder = place, values_folder(folder)
        self.damage = list[CorruptFileError]()
        self._open = dict[str, ValuesFile]()

    @cached_property
    def commits(self) -> Mapping[int, list[KeptCommit]]:
        """The kept values, by the version of the commit."""
        by_version = dict[int, list[KeptCommit]]()
        for name in self._names("kept"):
            for kept in self.named_by(name):
                by_version.setdefault(kept.version, []).append(kept)
        return by_version

    def kept_files(self) -> list[str]:
        """Return the descriptions of files of values."""
        return self._names("kept")

    def named_by(self, name: str) -> list[KeptCommit]:
        """Return the content of one description; empty if it is damaged."""
        frame = self._frame(name)
        if frame is None:
            return []
        try:
            frame = frame.select(KEPT.names).cast(KEPT.polars_schema)
        except pl.exceptions.PolarsError as error:
            self.damage.append(
                CorruptFileError(f"it is no file of kept: {error}", self._path(name))
            )
            return []
        return [KeptCommit(*row) for row in frame.iter_rows()]

    def cells(
        self, version: int, sha256: str, before: int, column: str, addresses: Uint64Array
    ) -> KeptCells | None:
        """Return the values of a column before a commit, of rows by their addresses."""
        parts, known = list[pl.Series](), np.zeros(len(addresses), dtype=np.bool_)
        place, count = np.zeros(len(addresses), dtype=np.int64), 0
        for kept in self.commits.get(version, ()):
            if (kept.sha256, kept.version_before) != (sha256, before) or kept.file is None:
                continue
            if column not in kept.columns:
                continue
            file = self.file(kept.file)
            if file is None:
                continue
            own = file.of(version)
            there = np.searchsorted(own.addresses, addresses)
            there[there == len(own.addresses)] = 0
            new = ~known & (own.addresses[there] == addresses) if len(own.addresses) else known
            place[new] = count + there[new]
            known = known | new
            parts.append(own.values[column].alias(""))
            count += len(own.addresses)
        if not parts or not known.any():
            return None
        joined = pl.concat(parts)
        return joined.gather(pl.Series(place).set(pl.Series(~known), None)), known

    def file(self, name: str) -> ValuesFile | None:
        """Return a file of values; None if it is damaged or gone."""
        if name not in self._open:
            frame = self._frame(name)
            if frame is None:
                return None
            while len(self._open) >= _MOST_OPEN:
                self._open.pop(next(iter(self._open)))
            try:
                self._open[name] = ValuesFile(
                    frame["version"].to_numpy(),
                    frame["_rowaddr"].to_numpy(),
                    frame["values"].struct.unnest(),
                )
            except pl.exceptions.PolarsError as error:
                self.damage.append(CorruptFileError(f"it has no values: {error}", self._path(name)))
                return None
        return self._open[name]

    def write_values(self, file: ValuesFile) -> str:
        """Write a file of values; return its name."""
        frame = pl.DataFrame(
            {
                "version": file.versions,
                "_rowaddr": file.addresses,
                "values": file.values.to_struct(),
            }
        )
        return self._write("values", frame.sort("version", "_rowaddr"))

    def write_kept(self, commits: Iterable[KeptCommit]) -> str:
        """Write the description of kept values; from then on they count."""
        columns = dict(zip(KEPT.names, map(list, zip(*commits, strict=True)), strict=True))
        name = self._write("kept", KEPT.build(columns))
        self.__dict__.pop("commits", None)
        return name

    def without(self, is_gone: Callable[[KeptCommit, ValuesFile], NDArray[np.bool_]]) -> int:
        """Remove rows for good; return how many.

        The rest is written again. What cannot be read is removed as a whole.

        Parameters
        ----------
        is_gone : callable
            Returns which rows of a commit in a file are removed.
        """
        num_gone, old = 0, [info.name for info in self.infos()]
        new = dict[str, str | None]()
        gone = dict[tuple[str, int], list[int]]()
        for name in {one.file for some in self.commits.values() for one in some if one.file}:
            file = self.file(name)
            if file is None:
                new[name] = None
                continue
            stays = np.ones(len(file.addresses), dtype=np.bool_)
            for one in (one for some in self.commits.values() for one in some if one.file == name):
                here = file.versions == np.uint64(one.version)
                doomed = is_gone(one, file.of(one.version))
                stays[np.flatnonzero(here)[doomed]] = False
                gone[name, one.version] = file.of(one.version).addresses[doomed].tolist()
            num_gone += int((~stays).sum())
            if not stays.all():
                new[name] = self.write_values(file.where(stays)) if stays.any() else None
        if new:
            every = [one for some in self.commits.values() for one in some]
            self.write_kept([_renewed(one, new, gone) for one in every])
            kept = [*filter(None, (new.get(one.file or "", one.file) for one in every))]
            newest = max(self.kept_files(), key=lambda name: (name not in old, name))
            self.delete([name for name in old if name not in {*kept, newest}])
        unfinished = [info.name for info in self._place.files(self._folder) if info.name[0] == "."]
        self.delete([*self.unnamed(None), *unfinished])
        return num_gone

    def only(self, commits: Collection[tuple[int, str]]) -> None:
        """Remove the values of other commits, given by version and digest, for good."""
        self.without(
            lambda one, file: np.full(
                len(file.addresses), (one.version, one.sha256) not in commits, dtype=np.bool_
            )
        )
        left = [
            one._replace(forgotten=[])
            for some in self.commits.values()
            for one in some
            if (one.version, one.sha256) in commits
        ]
        old = self.kept_files()
        new = self.write_kept(left) if left else None
        self.delete([name for name in old if name != new])

    def delete(self, names: Iterable[str]) -> None:
        """Delete files, descriptions first."""
        for name in sorted(names):  # "kept" comes before "values"
            self._open.pop(name, None)
            self._place.delete(self._path(name))
        self.__dict__.pop("commits", None)

    def unnamed(self, now: datetime | None) -> Iterator[str]:
        """Yield the files of values of interrupted recordings: old ones, or all."""
        named = {kept.file for some in self.commits.values() for kept in some}
        for info in self.infos():
            written = datetime.fromtimestamp(info.modified_ns / 1e9, UTC)
            is_old = now is None or now - written > _UNFINISHED_FOR
            if info.name.startswith("values-") and info.name not in named and is_old:
                yield info.name

    def infos(self) -> list[FileInfo]:
        """Return all files."""
        return [info for info in self._place.files(self._folder) if _NAME.fullmatch(info.name)]

    def copy_to(self, folder: str) -> None:
        """Copy the kept values to another place, too."""
        names = [info.name for info in self.infos()]
        for name in sorted(names, reverse=True):
            data = self._place.read(self._path(name))
            self._place.write(f"{values_folder(folder)}/{name}", data)

    def _names(self, kind: str) -> list[str]:
        return [info.name for info in self.infos() if info.name.startswith(f"{kind}-")]

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}"

    def _frame(self, name: str) -> pl.DataFrame | None:
        match = _NAME.fullmatch(name)
        try:
            data = self._place.read(self._path(name))
            if match is None or digest(data) != match[2]:
                words = "the file is not what its name says: cut short, or changed"
                raise CorruptFileError(words, self._path(name))
            return pl.read_parquet(BytesIO(data))
        except FileNotFoundError:
            self.damage.append(CorruptFileError("the file is missing", self._path(name)))
        except CorruptFileError as error:
            self.damage.append(error)
        except (pl.exceptions.PolarsError, OSError) as error:
            self.damage.append(CorruptFileError(f"it is no Parquet: {error}", self._path(name)))
        return None

    def _write(self, kind: str, frame: pl.DataFrame) -> str:
        data = as_parquet(frame)
        name = f"{kind}-{digest(data)}.parquet"
        self._place.write(self._path(name), data)
        return name


def _renewed(
    kept: KeptCommit, files: Mapping[str, str | None], gone: Mapping[tuple[str, int], list[int]]
) -> KeptCommit:
    """Return what is left of a commit's values after some rows were removed."""
    if kept.file is None:
        return kept
    forgotten = gone.get((kept.file, kept.version), [])
    file = files.get(kept.file, kept.file)
    left = kept.num_rows - len(forgotten)
    if file is None or not left:
        file, left, kept = None, 0, kept._replace(columns=[])
    return kept._replace(file=file, num_rows=left, forgotten=[*kept.forgotten, *forgotten])


def as_parquet(frame: pl.DataFrame) -> bytes:
    """Return a frame as a file."""
    buffer = BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=True)
    return buffer.getvalue()
