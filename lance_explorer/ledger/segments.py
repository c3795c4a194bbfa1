"""Segments: the results of recordings, as Parquet files named by the digest of their content.

The same content has the same name, so two recorders never disturb each other, and a truncated or
replaced file is noticed. The file of versions is written last; it names the others.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from io import BytesIO
from typing import Any

import polars as pl
from polars.exceptions import PolarsError

from lance_explorer.errors import CorruptFileError, UnsupportedFeatureError
from lance_explorer.ledger.kinds import FORMAT, KINDS
from lance_explorer.ledger.places import Place
from lance_explorer.storage import FileInfo

__all__ = ["About", "Segment", "digest", "open_segment", "segment_names", "write_segment"]

_ABOUT = "lance_explorer.ledger"
_NAME = re.compile(r"(versions|fragments|sections|files|refs)-([0-9a-f]{32})\.parquet")
_LONGEST_ABOUT = 1 << 26


@dataclass(frozen=True, slots=True)
class About:
    """The description of a segment.

    Attributes
    ----------
    uri : str
        Root of the table, without user and query.
    branch : str or None
        The branch; None is the main one.
    recorded_at : str
        When it was written, in UTC.
    release : str
        The release of lance_explorer that decoded it.
    files : dict of str to str
        The other files of the segment, by their kinds.
    replaces : list of str
        The files of older segments that are all in here, as far as they were still there.
    left_out : list of str
        What was not to be recorded: ``words``, or ``files`` beside the manifests.
    num_rows : int
        Rows of versions and of changes of fragments.
    after : tuple of int and str, optional
        A version of the same table that was recorded before, and its digest: nothing else may tell
        whose refs these are, or detached versions.
    """

    uri: str
    branch: str | None
    recorded_at: str
    release: str
    files: dict[str, str] = field(default_factory=dict)
    replaces: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    num_rows: int = 0
    after: tuple[int, str] | None = None
    format: int = FORMAT


@dataclass(frozen=True)
class Segment:
    """One segment.

    Attributes
    ----------
    place : Place
        Where the ledger lies.
    folder : str
        The folder of the branch in it.
    file : str
        Name of the file of versions.
    about : About
        Its description.
    versions : DataFrame
        The columns of ``kinds.VERSIONS``.
    """

    place: Place
    folder: str
    file: str
    about: About
    versions: pl.DataFrame
    _read: dict[str, pl.DataFrame] = field(default_factory=dict, repr=False)

    def check(self) -> None:
        """Read the content about versions, which is kept.

        Raises
        ------
        FileNotFoundError
            If a file is missing.
        """
        for kind in ("fragments", "sections"):
            self._read[kind] = self._load(kind)

    @property
    def names(self) -> set[str]:
        """The names of all its files."""
        return {self.file, *self.about.files.values()}

    def read(self, kind: str) -> pl.DataFrame:
        """Return another kind; empty if the segment has none of it.

        Raises
        ------
        CorruptFileError
            If the file is missing, too.
        """
        if kind in self._read:
            return self._read[kind]
        try:
            return self._load(kind)
        except FileNotFoundError as error:
            path = f"{self.folder}/{self.about.files[kind]}"
            raise CorruptFileError("the file is missing", path) from error

    def _load(self, kind: str) -> pl.DataFrame:
        if kind not in self.about.files:
            return KINDS[kind].polars_schema.to_frame()
        path = f"{self.folder}/{self.about.files[kind]}"
        return _frame(kind, _checked(self.place, path), path)


def digest(data: bytes) -> str:
    """Return the name of a content, in hexadecimal."""
    return sha256(data).hexdigest()[:32]


def segment_names(files: list[FileInfo]) -> list[str]:
    """Return the names of files of versions, the last written first."""
    infos = [
        info for info in files if (match := _NAME.fullmatch(info.name)) and match[1] == "versions"
    ]
    return [info.name for info in sorted(infos, key=lambda info: (-info.modified_ns, info.name))]


def write_segment(
    place: Place, folder: str, frames: Mapping[str, pl.DataFrame], about: About
) -> Segment:
    """Write the files of a segment, the versions last.

    Parameters
    ----------
    place : Place
        Where the ledger lies.
    folder : str
        The folder of the branch.
    frames : mapping of str to DataFrame
        The frames by their kinds; ``versions`` must be among them.
    about : About
        Its description; ``files`` is filled in.
    """
    files = dict[str, str]()
    for kind, frame in frames.items():
        if kind != "versions" and len(frame):
            data = _parquet(frame, {})
            files[kind] = f"{kind}-{digest(data)}.parquet"
            place.write(f"{folder}/{files[kind]}", data)
    num_rows = sum(len(frames[kind]) for kind in frames if kind in ("versions", "fragments"))
    about = replace(about, files=files, num_rows=num_rows)
    data = _parquet(frames["versions"], {_ABOUT: json.dumps(asdict(about), sort_keys=True)})
    file = f"versions-{digest(data)}.parquet"
    place.write(f"{folder}/{file}", data)
    return Segment(place, folder, file, about, frames["versions"])


def open_segment(place: Place, folder: str, file: str) -> Segment:
    """Open a segment by its file of versions.

    Raises
    ------
    FileNotFoundError
        If it no longer exists.
    CorruptFileError
        If its content does not match its name.
    UnsupportedFeatureError
        If a newer release wrote it.
    """
    path = f"{folder}/{file}"
    data = _checked(place, path)
    about = _about(data, path)
    return Segment(place, folder, file, about, _frame("versions", data, path))


def _parquet(frame: pl.DataFrame, metadata: dict[str, str]) -> bytes:
    buffer = BytesIO()
    frame.write_parquet(buffer, compression="zstd", statistics=True, metadata=metadata)
    return buffer.getvalue()


def _checked(place: Place, path: str) -> bytes:
    """Return a file whose content matches its name."""
    name = path.rpartition("/")[2]
    match = _NAME.fullmatch(name)
    if match is None:
        raise CorruptFileError(f"{name!r} is no name of a file of a ledger", path)
    data = place.read(path)
    if digest(data) != match[2]:
        raise CorruptFileError("the file is not what its name says: cut short, or changed", path)
    return data


def _about(data: bytes, path: str) -> About:
    try:
        text = pl.read_parquet_metadata(BytesIO(data))[_ABOUT]
        if len(text) > _LONGEST_ABOUT:
            raise ValueError(f"{len(text)} characters")
        said: dict[str, Any] = json.loads(text)
        number = said["format"]
        if number > FORMAT:
            raise UnsupportedFeatureError(
                f"it was written by lance_explorer {said['release']}, whose format {number} this "
                f"release does not know: update lance_explorer",
                path,
            )
        about = About(**{name: said[name] for name in About.__slots__})
        if about.after is not None:
            version, known = about.after
            about = replace(about, after=(int(version), str(known)))
        names = [*about.files.values(), *about.replaces]
        if not all(_NAME.fullmatch(name) for name in names) or not isinstance(about.uri, str):
            raise ValueError("its files have other names")
    except UnsupportedFeatureError:
        raise
    except (PolarsError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorruptFileError(f"it does not say what it is: {error}", path) from error
    return about


def _frame(kind: str, data: bytes, path: str) -> pl.DataFrame:
    """Return a frame; columns of later releases are left out."""
    schema = KINDS[kind].polars_schema
    try:
        frame = pl.read_parquet(BytesIO(data)).select(schema.names()).cast(schema)
    except (PolarsError, OSError, BaseException) as error:
        if not isinstance(error, Exception) and "panic" not in type(error).__name__.lower():
            raise
        raise CorruptFileError(f"it is no file of {kind}: {error}", path) from error
    for column in KINDS[kind].columns:
        if not column.nullable and frame[column.name].null_count():
            raise CorruptFileError(f"it is no file of {kind}: {column.name} is null", path)
    return frame
