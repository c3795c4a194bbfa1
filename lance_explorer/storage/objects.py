"""Object stores: S3, Google Cloud Storage and Azure, with many requests in flight."""

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError, UnknownConfigurationKeyError
from obstore.store import AzureStore, GCSStore, S3Store

from lance_explorer.errors import CorruptFileError, InvalidArgumentError, StorageError
from lance_explorer.storage.ahead import UNKNOWN_BYTES, ReadAhead, has_room
from lance_explorer.storage.base import Contents, FileInfo, FilePart, IoCounts, Storage, check_size
from lance_explorer.storage.secrets import without_secrets

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig

__all__ = ["ObjectStorage"]

_R = TypeVar("_R")
_Kind = type[S3Store | GCSStore | AzureStore]

_RETRIES: "RetryConfig" = {"max_retries": 5, "retry_timeout": timedelta(seconds=30)}
_CLIENT: "ClientConfig" = {"connect_timeout": "5s", "timeout": "60s"}

_CLIENT_OPTIONS = frozenset(
    "allow_http allow_invalid_certificates connect_timeout default_content_type http1_only "
    "http2_keep_alive_interval http2_keep_alive_timeout http2_keep_alive_while_idle http2_only "
    "pool_idle_timeout pool_max_idle_per_host proxy_url proxy_ca_certificate proxy_excludes "
    "randomize_addresses read_timeout timeout user_agent".split()
)
"""Options about HTTP, which are the same for every kind of store."""

_NO_NAME = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""Characters that the names of objects cannot have."""

_CUT_OFF = "Error getting list response body"
"""What is said of a listing that broke off, which the library does not ask for again."""

_ERROR_CODE = re.compile(r"<Code>(\w+)</Code>")


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

    in_flight = 64

    def __init__(
        self, uri: str, options: Mapping[str, str] | None = None, io: IoCounts | None = None
    ) -> None:
        super().__init__(uri.rstrip("/"), options, io)
        self._ahead: list[ReadAhead] = []
        try:
            self._max_retries = _retries(self.options)["max_retries"]
            self._store = _connected(_kind(self.uri), self.uri, self.options)
            return
        except (BaseError, TypeError, ValueError) as error:
            told = self._told(error)
        raise InvalidArgumentError(f"{self.uri}: {told}")  # out here no local is what failed

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(f"{self!r} is not pickled: open the table where it is needed")

    def list_files(self, folder: str) -> list[FileInfo]:
        return [_info(found) for found in self._list(folder)["objects"]]

    def list_folders(self, folder: str) -> list[str]:
        return [
            path.rstrip("/").rpartition("/")[2] for path in self._list(folder)["common_prefixes"]
        ]

    def find(self, path: str) -> FileInfo | None:
        self.io.requests += 1
        try:
            found = self._call(lambda: obstore.head(self._store, _safe(path)), path)
        except FileNotFoundError:
            return None
        return _info(found)

    def get(self, path: str) -> bytes:
        return self._counted(self._read(FilePart(path)))

    def get_range(self, path: str, offset: int, length: int) -> bytes:
        if length <= 0:
            return b""
        try:
            return self._counted(self._read(FilePart(path, offset, length)))
        except StorageError:
            if offset < self._size(path):
                raise
            return b""  # a range behind the end is an error of HTTP

    @contextmanager
    def reading_ahead(self, parts: Iterable[FilePart]) -> Iterator[None]:
        ahead = ReadAhead(self._submit, parts, self.in_flight)
        self._ahead.append(ahead)
        try:
            yield
        finally:
            self._ahead.remove(ahead)
            ahead.cancel()

    def get_many(self, paths: Iterable[str], sizes: Sequence[int] = ()) -> Iterator[Contents]:
        """Yield whole files in the order of ``paths``, None for one that is missing.

        Up to 64 requests are in flight, fewer where files are so large that they would fill memory.
        """
        rest = zip(paths, chain(sizes, repeat(UNKNOWN_BYTES)), strict=False)
        waiting: deque[Future[bytes]] = deque()
        data: Contents
        claimed: deque[int] = deque()
        try:
            while True:
                while has_room(claimed, self.in_flight) and (file := next(rest, None)) is not None:
                    waiting.append(self._submit(FilePart(file[0])))
                    claimed.append(file[1])
                if not waiting:
                    return
                try:
                    data = self._counted(waiting.popleft().result())
                except FileNotFoundError:
                    self.io.requests += 1
                    data = None
                except CorruptFileError as error:
                    data = error
                claimed.popleft()
                yield data
                data = None
        finally:
            for future in waiting:
                future.cancel()

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.in_flight, "lance_explorer-storage")

    def _list(self, folder: str) -> Any:
        self.io.requests += 1
        try:
            return self._call(
                lambda: obstore.list_with_delimiter(self._store, _safe(folder) or None), folder
            )
        except FileNotFoundError:
            return {"objects": [], "common_prefixes": []}

    def _read(self, part: FilePart) -> bytes:
        """Return a part of a file: what was read ahead, or what is read now."""
        for ahead in self._ahead:
            if (future := ahead.take(part)) is not None:
                return future.result()
        return self._fetch(part)

    def _submit(self, part: FilePart) -> Future[bytes]:
        return self._threads.submit(self._fetch, part)

    def _fetch(self, part: FilePart) -> bytes:
        path, start, length = part

        def request() -> bytes:
            if length is None:
                found = obstore.get(self._store, _safe(path))
                check_size(path, found.meta["size"])
                return bytes(found.bytes())
            check_size(path, length)
            return bytes(obstore.get_range(self._store, _safe(path), start=start, length=length))

        try:
            return self._call(request, path)
        except FileNotFoundError:
            self.io.missing += 1
            raise

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
            told = None
        except CorruptFileError:
            raise
        except MemoryError:
            told = "it does not fit into memory"
        except (BaseError, OverflowError, ValueError) as error:
            told = self._told(error)
        if told is None:  # out here no local is what failed, which may tell what lets in
            raise FileNotFoundError(path)
        raise StorageError(f"cannot read {self.uri}/{path}: {told}")

    def _told(self, error: Exception) -> str:
        """Return what an error says, in one line and without anything that lets somebody in."""
        said = str(error)
        text = said.partition("\n")[0].partition("<")[0].rstrip(": ")
        code = _ERROR_CODE.search(said)
        told = [without_secrets(text, self.options), code and code[1], _hint(error)]
        return "; ".join([part for part in told if part])


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
        _check(name, value)
        if key in _CLIENT_OPTIONS:
            client[key] = value
        elif _is_config(kind, key):  # type: ignore[arg-type]
            config[key] = value
    settings: Any = {
        "config": config,
        "client_options": {**_CLIENT, **client},
        "retry_config": _retries(options),
    }
    return kind.from_url(uri, **settings)


def _check(name: str, value: object) -> None:
    """Refuse what is no text, and URLs that are none: the library would break off without error."""
    if not isinstance(value, str):
        raise TypeError(f'expected text for {name}, such as "true"')
    if "endpoint" not in name.lower():
        return
    if not _is_url_without_password(value):
        raise ValueError(f"expected a URL without password for {name}, as http://127.0.0.1:9000")


def _is_url_without_password(value: str) -> bool:
    parts = urlsplit(value)
    is_url = parts.scheme in ("http", "https") and parts.hostname and " " not in value
    return bool(is_url) and parts.password is None


@lru_cache
def _is_config(kind: Callable[..., object], key: str) -> bool:
    """Whether an option is one of this kind of store."""
    try:
        kind("any", config={key: ""})
    except UnknownConfigurationKeyError:
        return False
    except (BaseError, ValueError):
        return True
    return True


def _retries(options: Mapping[str, str]) -> "RetryConfig":
    """Return how often to try again: fewer times than for writing, unless options tell."""
    retries = dict(_RETRIES)
    if "client_max_retries" in options:
        retries["max_retries"] = int(str(options["client_max_retries"]))
    if "client_retry_timeout" in options:
        retries["retry_timeout"] = timedelta(seconds=float(str(options["client_retry_timeout"])))
    return retries  # type: ignore[return-value]


def _safe(path: str) -> str:
    """Return a path that leads nowhere but below the root; all else is missing."""
    if _NO_NAME.search(path) or (path and not {"", ".", ".."}.isdisjoint(path.split("/"))):
        raise FileNotFoundError(path)
    return path


def _info(found: Any) -> FileInfo:
    return FileInfo(
        name=found["path"].rpartition("/")[2],
        size_bytes=found["size"],
        modified_ns=_nanoseconds(found["last_modified"]),
        etag=found["e_tag"],
    )


def _nanoseconds(time: datetime) -> int:
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(microseconds=1) * 1000


def _hint(error: Exception) -> str | None:
    if "403 Forbidden" in str(error) or "401 Unauthorized" in str(error):
        return "look at the credentials in storage_options or in the environment"
    if "HTTP error: builder error" in str(error):
        return 'an endpoint without TLS needs allow_http="true" in storage_options'
    return None
