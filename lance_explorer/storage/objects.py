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
"""For how long nothing is asked of a store that did not answer; somebody who retries is slower."""

_LONGEST = 1 << 63
"""No file has so many bytes, and a larger place is none for the client."""

_CHUNK_BYTES = 1 << 18
"""How much of an answer is taken at a time: what was taken is not asked for again."""

_PAGE = 1000
"""How many objects an answer lists at most, in every kind of store but Azure, which lists more."""

_CLIENT_OPTIONS = frozenset(
    "allow_http allow_invalid_certificates connect_timeout default_content_type http1_only "
    "http2_keep_alive_interval http2_keep_alive_timeout http2_keep_alive_while_idle http2_only "
    "pool_idle_timeout pool_max_idle_per_host proxy_url proxy_ca_certificate proxy_excludes "
    "randomize_addresses read_timeout timeout user_agent".split()
)
"""Options about HTTP, which are the same for every kind of store."""

_ALLOW_HTTP = "AWS_ALLOW_HTTP"
"""Where pylance takes the option of that name from, which this library takes from nowhere."""

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
        Address and credentials of the store, under the names that pylance takes. What they leave
        out comes from the environment. Options of pylance alone are passed over.
    io : IoCounts, optional
        What counts; shared by all storage of one table.

    Notes
    -----
    Requests are made in threads, also those that are waited for one by one: an interrupt does not
    wait for an answer.
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
            told = self._told(error)
        raise InvalidArgumentError(f"{self.uri}: {told}")  # out here no local is what failed

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError(f"{self!r} cannot be pickled: open the table in the process that needs it")

    def list_files(self, folder: str) -> list[FileInfo]:
        return [_info(found) for found in self._list(folder)["objects"]]

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
            pages = begun.pop()  # for good, if it breaks off: it would list no more
            found = next(pages, None)
            begun.append(pages)
            return found

        while True:
            self.io.budget.claim_request(self.uri)
            self.io.requests += 1
            found = self._threads.submit(self._call, page, "").result()
            for each in found or ():
                yield _info(each)._replace(name=each["path"])
            if not found or len(found) < _PAGE:
                return
            listed = found[-1]["path"]

    def find(self, path: str) -> FileInfo | None:
        self.io.budget.claim_request(self.uri)
        self.io.requests += 1
        try:
            return _info(self._head(path))
        except FileNotFoundError:
            return None

    def get(self, path: str) -> bytes:
        return self._counted(self._read(FilePart(path)))

    def get_range(self, path: str, offset: int, length: int) -> bytes:
        if length <= 0 or offset + length > _LONGEST:
            return b""
        try:
            return self._counted(self._read(FilePart(path, offset, length)))
        except StorageError as error:
            is_answered = limit_hint(str(error), self._limited) is None
            if not is_answered or offset < self._size(path):
                raise
            return b""  # a range behind the end is an error of HTTP

    def put(self, path: str, data: bytes) -> None:
        """Write a file, whole or not at all; only a ledger does that, in a place of its own."""
        self._threads.submit(
            self._call, lambda: obstore.put(self._store, _safe(path), data), path
        ).result()

    def delete(self, path: str) -> None:
        """Delete a file of a ledger, if it is there."""
        with suppress(FileNotFoundError):
            self._threads.submit(
                self._call, lambda: obstore.delete(self._store, _safe(path)), path
            ).result()

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
        if sizes:
            self.io.budget.check_requests(self.uri, len(sizes))
            self.io.budget.check_bytes(self.uri, self.io.bytes_read, sum(sizes))
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

    def _list(self, folder: str) -> Any:
        self.io.budget.claim_request(self.uri)
        self.io.requests += 1

        def request() -> Any:
            # The library lists nothing below a name with a slash at its end.
            return obstore.list_with_delimiter(self._store, _safe(folder.rstrip("/")) or None)

        try:
            return self._threads.submit(self._call, request, folder).result()
        except FileNotFoundError:
            return {"objects": [], "common_prefixes": []}

    def _read(self, part: FilePart) -> bytes:
        """Return a part of a file: what was read ahead, or what is read now."""
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
        """Return a part of a file; an answer that breaks off is gone on with where it did."""
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

    def _counted(self, data: bytes) -> bytes:
        self.io.requests += 1
        self.io.bytes_read += len(data)
        return data

    def _call(self, request: Callable[[], _R], path: str) -> _R:
        """Make a request; a missing file is FileNotFoundError, all else an UnreachableError.

        Where nothing is answered, the next ones fail at once for a while: many that may each fail
        would else take as long as all their limits.
        """
        told: str | None = None
        for is_last in [*[False] * self._max_retries, True]:
            begin = monotonic()
            if begin < self._gone_until:
                told = self._gone_because
                break
            try:
                answer = request()
            except FileNotFoundError:
                self._answered, told = monotonic(), None
                break
            except CorruptFileError:
                raise
            except MemoryError:
                told = "it does not fit into memory"
                break
            except (BaseError, OverflowError, ValueError) as error:
                told = self._told(error)
                if "kind: Timeout" in str(error) and self._answered < begin:
                    self._gone_until, self._gone_because = monotonic() + _GONE_SECONDS, told
                if is_last or _CUT_OFF not in str(error):
                    break
            else:
                self._answered = monotonic()
                return answer
        if told is None:  # out here no local is what failed, which may tell what lets in
            raise FileNotFoundError(path)
        raise UnreachableError(f"cannot read {self.uri}/{path}: {told}")

    def _told(self, error: Exception) -> str:
        """Return what an error says, in one line and without anything that lets somebody in."""
        said = str(error)
        text = said.partition("\n")[0].partition("<")[0].rstrip(": ")
        code = _ERROR_CODE.search(said)
        hint = _hint(said) or limit_hint(said, self._limited)
        told = [without_secrets(text, self.options), code and code[1], hint]
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
    """Return the range of what is missing of a part, of which so many bytes are there."""
    start = part.offset + size
    if part.length is not None:
        return start, part.offset + part.length
    return {"offset": start} if start else None


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


def _hint(said: str) -> str | None:
    if "403 Forbidden" in said or "401 Unauthorized" in said:
        return "check the credentials in storage_options or in the environment"
    if "HTTP error: builder error" in said:
        return (
            'an endpoint without TLS needs allow_http="true" in storage_options, or AWS_ALLOW_HTTP'
        )
    return None
