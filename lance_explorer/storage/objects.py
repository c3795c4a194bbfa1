"""Object stores: S3, Google Cloud Storage and Azure, with many requests in flight."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import obstore
from obstore.exceptions import (
    BaseError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnknownConfigurationKeyError,
)
from obstore.store import AzureStore, GCSStore, S3Store

from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.storage.base import FileInfo, IoCounts, Storage

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

__all__ = ["ObjectStorage"]

_R = TypeVar("_R")
_Kind = type[S3Store | GCSStore | AzureStore]

_REQUESTS_IN_FLIGHT = 64
_BYTES_IN_FLIGHT = 256 << 20

_RETRIES: "RetryConfig" = {"max_retries": 5, "retry_timeout": timedelta(seconds=30)}
_CLIENT: "ClientConfig" = {"connect_timeout": "5s", "timeout": "60s"}

_SECRET = re.compile(r"secret|token|key|password|credential|sas|signature", re.IGNORECASE)
_QUERY = re.compile(r"\?[^\s,)\"']*")


class ObjectStorage(Storage):
    """Objects below a prefix of a bucket.

    Parameters
    ----------
    uri : str
        Such as ``s3://bucket/folder/table.lance``.
    options : mapping of str to str, optional
        Where the store is and how to be let in, under the names that pylance takes. What they leave
        out comes from the environment. Options of pylance alone are passed over.
    io : IoCounts, optional
        What counts; shared by all storage of one table.

    Raises
    ------
    InvalidArgumentError
        If the URI or an option cannot be used.
    """

    def __init__(
        self, uri: str, options: Mapping[str, str] | None = None, io: IoCounts | None = None
    ) -> None:
        super().__init__(uri.rstrip("/"), options, io)
        try:
            self._store = _connected(_kind(self.uri), self.uri, self.options)
        except (BaseError, ValueError) as error:
            raise InvalidArgumentError(f"{self.uri}: {self._told(error)}") from None

    def list_files(self, folder: str) -> list[FileInfo]:
        return [
            FileInfo(
                name=found["path"].rpartition("/")[2],
                size_bytes=found["size"],
                modified_ns=_nanoseconds(found["last_modified"]),
                etag=found["e_tag"],
            )
            for found in self._list(folder)["objects"]
        ]

    def list_folders(self, folder: str) -> list[str]:
        return [
            path.rstrip("/").rpartition("/")[2] for path in self._list(folder)["common_prefixes"]
        ]

    def get(self, path: str) -> bytes:
        return self._counted(self._get(path))

    def get_range(self, path: str, offset: int, length: int) -> bytes:
        if length <= 0:
            return b""
        try:
            return self._counted(self._get_range(path, offset, length))
        except StorageError:
            if 0 <= offset < self._size(path):
                raise
            return b""

    def get_many(self, paths: Iterable[str]) -> Iterator[bytes | None]:
        """Yield whole files in the order of ``paths``, None for one that is missing.

        Up to 64 requests are in flight, fewer where files are so large that they would fill memory.
        """
        waiting: deque[Future[bytes]] = deque()
        largest, rest = 1, iter(paths)
        try:
            while True:
                most = max(2, min(_REQUESTS_IN_FLIGHT, _BYTES_IN_FLIGHT // largest))
                while len(waiting) < most and (path := next(rest, None)) is not None:
                    waiting.append(self._threads.submit(self._get, path))
                if not waiting:
                    return
                try:
                    data = self._counted(waiting.popleft().result())
                    largest = max(largest, len(data))
                except FileNotFoundError:
                    self.io.requests += 1
                    yield None
                else:
                    yield data
        finally:
            for future in waiting:
                future.cancel()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_REQUESTS_IN_FLIGHT, "lance_explorer-storage")

    def _list(self, folder: str) -> Any:
        self.io.requests += 1
        try:
            return self._call(
                lambda: obstore.list_with_delimiter(self._store, _safe(folder) or None), folder
            )
        except FileNotFoundError:
            return {"objects": [], "common_prefixes": []}

    def _get(self, path: str) -> bytes:
        return self._call(lambda: bytes(obstore.get(self._store, _safe(path)).bytes()), path)

    def _get_range(self, path: str, offset: int, length: int) -> bytes:
        place = _safe(path)
        return self._call(
            lambda: bytes(obstore.get_range(self._store, place, start=offset, length=length)), path
        )

    def _size(self, path: str) -> int:
        self.io.requests += 1
        return self._call(lambda: obstore.head(self._store, _safe(path))["size"], path)

    def _counted(self, data: bytes) -> bytes:
        self.io.requests += 1
        self.io.bytes_read += len(data)
        return data

    def _call(self, request: Callable[[], _R], path: str) -> _R:
        """Make a request; a missing file is FileNotFoundError, all else a StorageError."""
        try:
            return request()
        except FileNotFoundError:
            raise FileNotFoundError(path) from None
        except (BaseError, OverflowError, ValueError) as error:
            raise StorageError(f"cannot read {self.uri}/{path}: {self._told(error)}") from None

    def _told(self, error: Exception) -> str:
        """Return what an error says, in one line and without anything that lets somebody in."""
        text = _QUERY.sub("?...", str(error).partition("\n")[0].strip())
        for name, value in self.options.items():
            if value and _SECRET.search(name):
                text = text.replace(value, "***")
        hint = _hint(error)
        return f"{text}; {hint}" if hint else text


def _kind(uri: str) -> _Kind:
    scheme = uri.partition("://")[0].lower()
    if scheme.startswith("s3"):
        return S3Store
    return GCSStore if scheme == "gs" else AzureStore


def _connected(
    kind: _Kind, uri: str, options: Mapping[str, str]
) -> S3Store | GCSStore | AzureStore:
    config: dict[str, str] = {}
    client: dict[str, str] = {}
    for name, value in options.items():
        key = name.lower()
        if _is_client_option(key):
            client[key] = value
        elif _is_config(kind, uri, key):
            config[key] = value
    settings: Any = {
        "config": config,
        "client_options": {**_CLIENT, **client},
        "retry_config": _retries(options),
    }
    return kind.from_url(uri, **settings)


def _is_client_option(key: str) -> bool:
    """Whether an option is about HTTP; the library is asked, with a value that fits no duration."""
    options: Any = {key: ""}
    try:
        S3Store("any", client_options=options)
    except ValueError as error:
        return not str(error).startswith("Invalid key")
    except BaseError:
        return True
    return True


def _is_config(kind: _Kind, uri: str, key: str) -> bool:
    """Whether an option is one of this kind of store."""
    options: Any = {key: ""}
    try:
        kind.from_url(uri, config=options)
    except UnknownConfigurationKeyError:
        return False
    except (BaseError, ValueError):
        return True
    return True


def _retries(options: Mapping[str, str]) -> "RetryConfig":
    """Return how often to try again: fewer times than for writing, unless options tell."""
    retries = dict(_RETRIES)
    if "client_max_retries" in options:
        retries["max_retries"] = int(options["client_max_retries"])
    if "client_retry_timeout" in options:
        retries["retry_timeout"] = timedelta(seconds=float(options["client_retry_timeout"]))
    return retries  # type: ignore[return-value]


def _safe(path: str) -> str:
    """Return a path that leads nowhere but below the root; all else is missing."""
    if path and not {"", ".", ".."}.isdisjoint(path.split("/")):
        raise FileNotFoundError(path)
    return path


def _nanoseconds(time: datetime) -> int:
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(microseconds=1) * 1000


def _hint(error: Exception) -> str:
    if isinstance(error, (PermissionDeniedError, UnauthenticatedError)):
        return "look at the credentials in storage_options or in the environment"
    return ""
