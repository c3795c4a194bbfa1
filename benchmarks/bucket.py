"""A folder served as a bucket of S3, each request answered after a while.

Only what readers ask for is there: listings, objects, their heads and ranges of them. A thread
serves each connection; all run in a process of their own, so that clients are not held up.
"""

import argparse
import bisect
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from urllib.request import urlopen
from xml.sax.saxutils import escape

__all__ = ["OPTIONS", "Traffic", "served", "traffic"]

OPTIONS = {
    "allow_http": "true",
    "aws_access_key_id": "anybody",
    "aws_secret_access_key": "anything",
    "aws_region": "us-east-1",
}

Traffic = dict[str, int]

_TRAFFIC_PATH = "/-traffic"
_MOST_LISTED = 1000
_HIGHEST = "\U0010ffff"


@contextmanager
def served(folder: Path, delay: float, more: Path | None = None) -> Iterator[str]:
    """Serve a folder as the bucket ``tables`` in a process of its own; give its endpoint.

    Each line of ``more`` is the name and the size of an object that is listed, too, and cannot be
    read. The folder must stay as it is then, since it is listed once.
    """
    command = [sys.executable, "-m", "benchmarks.bucket", str(folder), str(delay)]
    command += [] if more is None else ["--more", str(more)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def traffic(endpoint: str) -> Traffic:
    """Return the requests and bytes since this was last asked."""
    with urlopen(endpoint + _TRAFFIC_PATH) as reply:
        counts: Traffic = json.load(reply)
    return counts


class _Server(ThreadingHTTPServer):
    request_queue_size = 1024
    daemon_threads = True

    def __init__(self, folder: Path, delay: float, more: Path | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder, self.delay = folder, delay
        self.objects = None if more is None else _objects(folder, more)
        self.counts = {"requests": 0, "bytes": 0}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == _TRAFFIC_PATH:
            self._reply(200, json.dumps(self.server.counts).encode())
            self.server.counts = {"requests": 0, "bytes": 0}
            return
        time.sleep(self.server.delay)
        query = parse_qs(parts.query)
        key = unquote(parts.path).removeprefix("/tables").strip("/")
        if "list-type" in query:
            listing = self._listing if self.server.objects is None else self._listing_of_many
            self._count(self._reply(200, listing(query)))
        else:
            self._object(self.server.folder / key)

    do_HEAD = do_GET  # noqa: N815

    def _object(self, path: Path) -> None:
        if not path.is_file():
            self._count(self._reply(404, b"<Error><Code>NoSuchKey</Code></Error>"))
            return
        size = path.stat().st_size
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            self._count(self._reply(200, path.read_bytes()))
            return
        start = int(asked[1]) if asked[1] else max(size - int(asked[2]), 0)
        stop = min(int(asked[2]) + 1, size) if asked[1] and asked[2] else size
        place = f"bytes {start}-{stop - 1}/{size}"
        with path.open("rb") as file:
            file.seek(start)
            data = file.read(stop - start)
        self._count(self._reply(206, data, {"Content-Range": place}))

    def _listing(self, query: dict[str, list[str]]) -> bytes:
        prefix, after = query.get("prefix", [""])[0], query.get("continuation-token", [""])[0]
        after = after or query.get("start-after", [""])[0]
        folder = self.server.folder / prefix
        is_deep = "delimiter" not in query
        found = sorted(folder.rglob("*") if is_deep else folder.glob("*"))
        names = [(path, path.relative_to(self.server.folder).as_posix()) for path in found]
        names = [(path, name) for path, name in names if name > after]
        most = int(query.get("max-keys", [str(_MOST_LISTED)])[0])
        shown, is_cut = names[:most], len(names) > most
        entries = [_entry(path, name, is_deep) for path, name in shown]
        return _page(prefix, entries, shown[-1][1] if is_cut else "")

    def _listing_of_many(self, query: dict[str, list[str]]) -> bytes:
        """Return a page of what was listed when the server began."""
        objects = self.server.objects or []
        prefix, after = query.get("prefix", [""])[0], query.get("continuation-token", [""])[0]
        after = max(after, query.get("start-after", [""])[0])
        most = int(query.get("max-keys", [str(_MOST_LISTED)])[0])
        at = bisect.bisect_left(objects, (prefix,))
        if after:  # the token: the last name, or the last folder with all that is in it
            behind = after + (_HIGHEST if after.endswith("/") else "\0")
            at = max(at, bisect.bisect_left(objects, (behind,)))
        entries, last = list[str](), ""
        while at < len(objects) and objects[at][0].startswith(prefix) and len(entries) < most:
            name, size = objects[at]
            inner, slash, _ = name[len(prefix) :].partition("/")
            if slash and "delimiter" in query:
                last = f"{prefix}{inner}/"
                entries.append(_folder_entry(last))
                at = bisect.bisect_left(objects, (last + _HIGHEST,))
            else:
                last = name
                entries.append(_object_entry(name, size))
                at += 1
        is_cut = at < len(objects) and objects[at][0].startswith(prefix)
        return _page(prefix, entries, last if is_cut else "")

    def _reply(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> int:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", '"same"')
        self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return 0
        self.wfile.write(data)
        return len(data)

    def _count(self, num_bytes: int) -> None:
        self.server.counts["requests"] += 1
        self.server.counts["bytes"] += num_bytes

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _objects(folder: Path, more: Path) -> list[tuple[str, int]]:
    """Return the names and sizes of all objects, in the order of names."""
    found = [(path.relative_to(folder).as_posix(), path) for path in folder.rglob("*")]
    objects = [(name, path.stat().st_size) for name, path in found if path.is_file()]
    for line in more.read_text().splitlines():
        name, size = line.rsplit(" ", 1)
        objects.append((name, int(size)))
    return sorted(objects)


def _page(prefix: str, entries: list[str], last: str) -> bytes:
    """Return a page of a listing; ``last`` is the last name if there are more."""
    token = f"<NextContinuationToken>{escape(last)}</NextContinuationToken>"
    return (
        f"<ListBucketResult><Name>tables</Name><Prefix>{escape(prefix)}</Prefix>"
        f"<KeyCount>{len(entries)}</KeyCount>"
        f"<IsTruncated>{str(bool(last)).lower()}</IsTruncated>{token if last else ''}"
        f"{''.join(entries)}</ListBucketResult>"
    ).encode()


def _entry(path: Path, name: str, is_deep: bool) -> str:
    if path.is_dir():
        return "" if is_deep else _folder_entry(f"{name}/")
    return _object_entry(name, path.stat().st_size)


def _folder_entry(name: str) -> str:
    return f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"


def _object_entry(name: str, size: int) -> str:
    return (
        f"<Contents><Key>{escape(name)}</Key><Size>{size}</Size>"
        "<LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;same&quot;</ETag></Contents>"
    )


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("delay", type=float, help="seconds before each answer")
    parser.add_argument("--more", type=Path, help="names and sizes of objects that are listed, too")
    options = parser.parse_args()
    server = _Server(options.folder, options.delay, options.more)
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    _main()
