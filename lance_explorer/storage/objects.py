"""Object stores: S3, Google Cloud Storage and Azure, with many requests in flight."""

import os
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain, repeat
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import BaseError, UnknownConfigurationKeyError
from obstore.store import AzureStore, GCSStore, S3Store

from lance_explorer.errors import (
    CorruptFileError,
    InvalidArgumentError,
    StorageError,
    UnreachableError,
)
from lance_explorer.storage.ahead import UNKNOWN_BYTES, ReadAhead, has_room
from lance_explorer.storage.base import Contents, FileInfo, FilePart, IoCounts, Storage, check_size
from lance_explorer.storage.limits import limit_hint, with_limits
from lance_explorer.storage.secrets import without_secrets

if TYPE_CHECKING:
    from obstore import GetOptions, OffsetRange
    from obstore.store import RetryConfig

__all__ = ["ObjectStorage"]

_R = TypeVar("_R")
_Kind = type[S3Store | GCSStore | AzureStore]

_GONE_SECONDS = 2.0
"""After a store did not answer, nothing is requested for so long; a person retries more slowly."""

_LONGEST = 1 << 63
"""Larger than any file, and the largest position that the client takes."""

_CHUNK_BYTES = 1 << 18
"""The bytes of an answer that are taken at a time; taken bytes are not requested again."""

_PAGE = 1000
"""The most objects in an answer, in every kind of store except Azure, which lists more."""

_CLIENT_OPTIONS = frozenset(
    "allow_http allow_invalid_certificates connect_timeout default_content_type http1_only "
    "http2_keep_alive_interval http2_keep_alive_timeout http2_keep_alive_while_idle http2_only "
    "pool_idle_timeout pool_max_idle_per_host proxy_url proxy_ca_certificate proxy_excludes "
    "randomize_addresses read_timeout timeout user_agent".split()
)
"""HTTP options, the same for every kind of store."""

_ALLOW_HTTP = "AWS_ALLOW_HTTP"
"""Where pylance finds the option of that name; this library does not look there."""

_NO_NAME = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""Characters that object names cannot have."""

_CUT_OFF = "Error getting list response body"
"""The error of an interrupted listing, which the library does not retry."""

_ERROR_CODE = re.compile(r"<Code>(\w+)</Code>")


class ObjectStorage(Storage):
    """Objects below a prefix of a bucket.

    Parameters
    ----------
    uri : str
        Such as ``s3://bucket/folder/table.lance``.
    options : mapping of str to str, optional
        Address and credentials of the store, under the names that pylance takes. What they leave
        out comes from the environment. Options that only pylance knows are ignored.
    io : IoCounts, optional
        The counters, shared by all storage of one table.

    Notes
    -----
    All requests run in threads, so that an interrupt does not wait for an answer.
    """

    in_flight = 64

    def __init__(
        self, uri: str, options: Mapping[str, str] | None = None, io: IoCounts | None = None
    ) -> None:
        super().__init__(uri.rstrip("/"), options, io)
        self._threads = ThreadPoolExecutor(self.in_flight, "lance_explorer-storage")
        self._ahead: list[ReadAhead] = []
        self._answered, self._gone_until, self._gone_because = 0.0, 0.0, ""
        try:
            self._limited = with_limits(self.options)
            self._max_retries = _retries(self._limited)["max_retries"]
            self._store = _connected(_kind(self.uri), self.uri, self._limited)
            return
        except (BaseError, TypeError, ValueError) as error:
            message = self._message(error)
        raise InvalidArgumentError(f"{self.uri}: {message}")  # outside, since locals may be secrets

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(f"{self!r} cannot be pickled: open the table in the process that needs it")

    def list_files(self, folder: str) -> list[FileInfo]:
        return [_info(info) for info in self._list(folder)["objects"]]

    def list_folders(self, folder: str) -> list[str]:
        return [
            path.rstrip("/").rpartition("/")[2] for path in self._list(folder)["common_prefixes"]
        ]

    def list_all(self) -> Iterator[FileInfo]:
        listed: str | None = None
        begun = list[Iterator[Any]]()

        def page() -> Any:
            if not begun:
                begun.append(obstore.list(self._store, offset=listed, chunk_size=_PAGE))
            pages = begun.pop()  # an interrupted listing would end for good
            page_of_objects = next(pages, None)
            begun.append(pages)
            return page_of_objects

        while True:
            self.io.budget.claim_request(self.uri)
            self.io.requests += 1
            page_of_objects = self._threads.submit(self._call, page, "").result()
            for each in page_of_objects or ():
                yield _info(each)._replace(name=each["path"])
            if not page_of_objects or len(page_of_objects) < _PAGE:
                return
            listed = page_of_objects[-1]["path"]

    def find(self, path: str) -> FileInfo | None:
        self.io.budget.claim_request(self.uri)
        self.io.requests += 1
        try:
            return _info(self._head(path))
        except FileNotFoundError:
            return None

    def get(self, path: str) -> bytes:
        return self._read_once(FilePart(path))

    def get_range(self, path: str, offset: int, length: int) -> bytes:
        if length <= 0 or offset + length > _LONGEST:
            return b""
        try:
            return self._read_once(FilePart(path, offset, length))
        except StorageError as error:
            is_answered = limit_hint(str(error), self._limited) is None
            if not is_answered or offset < self._size(path):
                raise
            return b""  # a range behind the end is an HTTP error

    def put(self, path: str, data: bytes) -> None:
        """Write a file atomically; only a ledger does that, in its own location."""
        self._threads.submit(
            self._call, lambda: obstore.put(self._store, _safe(path), data), path
        ).result()

    def delete(self, path: str) -> None:
        """Delete a file of a ledger, if it exists."""
        with suppress(FileNotFoundError):
            self._threads.submit(
                self._call, lambda: obstore.delete(self._store, _safe(path)), path
            ).result()

    @contextmanager
    def reading_ahead(self, parts: Iterable[FilePart]) -> Iterator[None]:
        unread = [part for part in parts if self.sessions.kept((self.uri, part)) is None]
        ahead = ReadAhead(self._submit, unread, self.in_flight)
        self._ahead.append(ahead)
        try:
            yield
        finally:
            self._ahead.remove(ahead)
            ahead.cancel()

    def get_many(self, paths: Iterable[str], sizes: Sequence[int] = ()) -> Iterator[Contents]:
        """Yield whole files in the order of ``paths``, None for a missing one.

        Up to 64 requests run at once, fewer if files are so large that they would fill memory.
        """
        if sizes:
            paths = list(paths)
            asked = [
                size
                for path, size in zip(paths, sizes, strict=True)
                if self.sessions.kept((self.uri, FilePart(path))) is None
            ]
            self.io.budget.check_requests(self.uri, len(asked))
            self.io.budget.check_bytes(self.uri, self.io.bytes_read, sum(asked))
        rest = zip(paths, chain(sizes, repeat(UNKNOWN_BYTES)), strict=False)
        waiting: deque[tuple[FilePart, Future[bytes] | bytes]] = deque()
        data: Contents
        claimed: deque[int] = deque()
        try:
            while True:
                while has_room(claimed, self.in_flight) and (file := next(rest, None)) is not None:
                    part = FilePart(file[0])
                    kept = self.sessions.kept((self.uri, part))
                    waiting.append((part, self._submit(part) if kept is None else kept))
                    claimed.append(file[1])
                if not waiting:
                    return
                part, begun = waiting.popleft()
                try:
                    data = (
                        self._counted(part, begun.result()) if isinstance(begun, Future) else begun
                    )
                except FileNotFoundError:
                    self.io.requests += 1
                    data = None
                except CorruptFileError as error:
                    data = error
                claimed.popleft()
                yield data
                data = None
        finally:
            for _, begun in waiting:
                if isinstance(begun, Future):
                    begun.cancel()

    def _list(self, folder: str) -> Any:
        self.io.budget.claim_request(self.uri)
        self.io.requests += 1

        def request() -> Any:
            # The library lists nothing below a name that ends with a slash.
            return obstore.list_with_delimiter(self._store, _safe(folder.rstrip("/")) or None)

        try:
            return self._threads.submit(self._call, request, folder).result()
        except FileNotFoundError:
            return {"objects": [], "common_prefixes": []}

    def _read_once(self, part: FilePart) -> bytes:
        """Return a part of a file: read before, read ahead or read now."""
        kept = self.sessions.kept((self.uri, part))
        return self._counted(part, self._read(part)) if kept is None else kept

    def _read(self, part: FilePart) -> bytes:
        for ahead in self._ahead:
            if (future := ahead.take(part)) is not None:
                return future.result()
        return self._submit(part).result()

    def _submit(self, part: FilePart) -> Future[bytes]:
        self.io.budget.claim_request(self.uri)
        self.io.budget.check_bytes(self.uri, self.io.bytes_read, part.length or 0)
        return self._threads.submit(self._fetch, part)

    def _fetch(self, part: FilePart) -> bytes:
        try:
            return self._call(lambda: self._whole(part), part.path)
        except FileNotFoundError:
            self.missing(part.path)
            raise

    def _whole(self, part: FilePart) -> bytes:
        """Return a part of a file; an interrupted answer is continued where it stopped."""
        chunks, size = list[bytes](), 0
        options: GetOptions = {}
        check_size(part.path, part.length or 0)
        while True:
            so_far = size
            if rest := _rest(part, so_far):
                options["range"] = rest
            try:
                answer = obstore.get(self._store, _safe(part.path), options=options)
                if part.length is None:
                    check_size(part.path, answer.meta["size"])
                    self.io.budget.check_bytes(
                        self.uri, self.io.bytes_read, answer.meta["size"] - so_far
                    )
                if etag := answer.meta["e_tag"]:
                    options["if_match"] = etag
                for chunk in answer.stream(min_chunk_size=_CHUNK_BYTES):
                    chunks.append(bytes(chunk))
                    size += len(chunk)
                return b"".join(chunks)
            except BaseError:
                if size == so_far or size == part.length:
                    raise

    def _size(self, path: str) -> int:
        self.io.budget.claim_request(self.uri)
        self.io.requests += 1
        return int(self._head(path)["size"])

    def _head(self, path: str) -> Any:
        def request() -> Any:
            return obstore.head(self._store, _safe(path))

        return self._threads.submit(self._call, request, path).result()

    def _counted(self, part: FilePart, data: bytes) -> bytes:
        self.io.requests += 1
        self.io.bytes_read += len(data)
        self.sessions.keep((self.uri, part), data)
        return data

    def _call(self, request: Callable[[], _R], path: str) -> _R:
        """Make a request; a missing file is FileNotFoundError, all else an UnreachableError.

        If nothing answers, the next requests fail at once for a while: otherwise each of them would
        take all its limits.
        """
        failure: str | None = None
        for is_last in [*[False] * self._max_retries, True]:
            begin = monotonic()
            if begin < self._gone_until:
                failure = self._gone_because
                break
            try:
                answer = request()
            except FileNotFoundError:
                self._answered, failure = monotonic(), None
                break
            except CorruptFileError:
                raise
            except MemoryError:
                failure = "it does not fit into memory"
                break
            except (BaseError, OverflowError, ValueError) as error:
                failure = self._message(error)
                if "kind: Timeout" in str(error) and self._answered < begin:
                    self._gone_until, self._gone_because = monotonic() + _GONE_SECONDS, failure
                if is_last or _CUT_OFF not in str(error):
                    break
            else:
                self._answered = monotonic()
                return answer
        if failure is None:  # outside, since locals may be secrets
            raise FileNotFoundError(path)
        raise UnreachableError(f"cannot read {self.uri}/{path}: {failure}")

    def _message(self, error: Exception) -> str:
        """Return an error's message on one line, without credentials."""
        said = str(error)
        text = said.partition("\n")[0].partition("<")[0].rstrip(": ")
        code = _ERROR_CODE.search(said)
        hint = _hint(said) or limit_hint(said, self._limited)
        parts = [without_secrets(text, self.options), code and code[1], hint]
        return "; ".join([part for part in parts if part])


def _kind(uri: str) -> _Kind:
    scheme = uri.partition("://")[0].lower()
    if scheme.startswith("s3"):
        return S3Store
    return GCSStore if scheme == "gs" else AzureStore


def _connected(
    kind: _Kind, uri: str, options: Mapping[str, str]
) -> S3Store | GCSStore | AzureStore:
    config: dict[str, str] = {}
    client = {"allow_http": os.environ[_ALLOW_HTTP]} if _ALLOW_HTTP in os.environ else {}
    for key, value in options.items():
        _check(key, value)
        if key in _CLIENT_OPTIONS:
            client[key] = value
        elif _is_config(kind, key):  # type: ignore[arg-type]
            config[key] = value
    settings: Any = {
        "config": config,
        "client_options": client,
        "retry_config": _retries(options),
    }
    return kind.from_url(uri, **settings)


def _check(name: str, value: object) -> None:
    """Refuse non-text values and invalid URLs: the library would abort without an error."""
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
    """Whether this kind of store has an option."""
    try:
        kind("any", config={key: ""})
    except UnknownConfigurationKeyError:
        return False
    except (BaseError, ValueError):
        return True
    return True


def _retries(options: Mapping[str, str]) -> "RetryConfig":
    return {
        "max_retries": int(_number("client_max_retries", options)),
        "retry_timeout": timedelta(seconds=_number("client_retry_timeout", options)),
    }


def _number(name: str, options: Mapping[str, str]) -> float:
    try:
        return float(options[name])
    except ValueError:
        raise ValueError(f"expected a number for {name}, not {options[name]}") from None


def _rest(part: FilePart, size: int) -> "tuple[int, int] | OffsetRange | None":
    """Return the range that is missing of a part, of which so many bytes are there."""
    start = part.offset + size
    if part.length is not None:
        return start, part.offset + part.length
    return {"offset": start} if start else None


def _safe(path: str) -> str:
    """Return a path that leads below the root; anything else is missing."""
    if _NO_NAME.search(path) or (path and not {"", ".", ".."}.isdisjoint(path.split("/"))):
        raise FileNotFoundError(path)
    return path


def _info(entry: Any) -> FileInfo:
    return FileInfo(
        name=entry["path"].rpartition("/")[2],
        size_bytes=entry["size"],
        modified_ns=_nanoseconds(entry["last_modified"]),
        etag=entry["e_tag"],
    )


def _nanoseconds(time: datetime) -> int:
    since = time - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(microseconds=1) * 1000


def _hint(said: str) -> str | None:
    if "403 Forbidden" in said or "401 Unauthorized" in said:
        return "check the credentials in storage_options or in the environment"
    if "HTTP error: builder error" in said:
        return (
            'an endpoint without TLS needs allow_http="true" in storage_options, or AWS_ALLOW_HTTP'
        )
    return None
