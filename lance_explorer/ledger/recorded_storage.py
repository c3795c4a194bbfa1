"""The current files of a table, and behind them the recorded ones."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from lance_explorer.errors import FormatError
from lance_explorer.storage import Contents, FileInfo, FilePart, Storage

__all__ = ["NoStorage", "RecordedStorage"]


class RecordedStorage(Storage):
    """Files below one root: existing ones win, missing ones may be recorded.

    Parameters
    ----------
    live : Storage
        The files that are there.
    recorded : callable
        Returns the content of a recorded file by its path; None if it is not recorded.
    gone : mapping of str to FileInfo
        Recorded files that are known to be missing now, so that they are not requested.
    """

    def __init__(
        self,
        live: Storage,
        recorded: Callable[[str], bytes | None],
        gone: Mapping[str, FileInfo],
    ) -> None:
        super().__init__(live.uri, live.options, live.io)
        self.bases = live.bases
        self.commits = live.commits
        self.in_flight = live.in_flight
        self._live = live
        self._recorded = recorded
        self._gone = gone

    @property
    def live(self) -> Storage:
        return self._live

    def list_files(self, folder: str) -> list[FileInfo]:
        return self._live.list_files(folder)

    def list_folders(self, folder: str) -> list[str]:
        return self._live.list_folders(folder)

    def list_all(self) -> Iterator[FileInfo]:
        return self._live.list_all()

    def find(self, path: str) -> FileInfo | None:
        return self._gone.get(path) or self._live.find(path)

    def get(self, path: str) -> bytes:
        if path not in self._gone:
            try:
                return self._live.get(path)
            except FileNotFoundError:
                data = self._recorded(path)
                if data is None:
                    raise
                self.sessions.take_back(f"{self.uri}/{path}")
                return data
        return self._given(path)

    def get_range(self, path: str, offset: int, length: int) -> bytes:
        if path not in self._gone:
            try:
                return self._live.get_range(path, offset, length)
            except FileNotFoundError:
                data = self._recorded(path)
                if data is None:
                    raise
                self.sessions.take_back(f"{self.uri}/{path}")
                return data[offset : offset + length]
        return self._given(path)[offset : offset + length]

    def check_files(self, paths: Iterable[str]) -> None:
        self._live.check_files(paths)

    def check_folder(self, folder: str) -> None:
        self._live.check_folder(folder)

    def reading_ahead(self, parts: Iterable[FilePart]) -> AbstractContextManager[None]:
        return self._live.reading_ahead([one for one in parts if one.path not in self._gone])

    def get_many(self, paths: Iterable[str], sizes: Sequence[int] = ()) -> Iterator[Contents]:
        paths = list(paths)
        asked = [number for number, path in enumerate(paths) if path not in self._gone]
        live = self._live.get_many(
            [paths[number] for number in asked],
            [sizes[number] for number in asked] if sizes else (),
        )
        there = set(asked)
        for number, path in enumerate(paths):
            data = next(live) if number in there else None
            if data is None:
                try:
                    data = self._recorded(path)
                except FormatError as error:
                    data = error
            yield data

    def _given(self, path: str) -> bytes:
        data = self._recorded(path)
        if data is None:
            raise self.missing(path)
        return data


class NoStorage(Storage):
    """The place of a table that cannot be reached: it is known only from a ledger.

    Parameters
    ----------
    uri : str
        Where the table was.
    files : mapping of str to bytes
        What was there beside versions: tags and branches.
    """

    def __init__(self, uri: str, files: Mapping[str, bytes]) -> None:
        super().__init__(uri)
        self._files = files

    def list_files(self, folder: str) -> list[FileInfo]:
        return [
            FileInfo(path.rpartition("/")[2], len(data), 0)
            for path, data in self._files.items()
            if path.rpartition("/")[0] == folder
        ]

    def list_folders(self, folder: str) -> list[str]:
        return []

    def find(self, path: str) -> FileInfo | None:
        return None

    def get(self, path: str) -> bytes:
        if path in self._files:
            return self._files[path]
        raise self.missing(path)

    def get_range(self, path: str, offset: int, length: int) -> bytes:
        return self.get(path)[offset : offset + length]
