"""Servers on this machine that fail: with a status, in the middle of an answer, or silently; and
one that hands requests on to a bucket, and fails now and then."""

import http.client
import random
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

__all__ = [
    "Breaking",
    "Faulty",
    "breaking_server",
    "faulty_proxy",
    "faulty_server",
    "silent_server",
]

_MOST_IN_A_ROW = 2
"""How often in a row the same request fails: fewer times than anybody tries."""


class Faulty:
    """Where a failing server is, and how many requests came."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self.requests = 0


@contextmanager
def faulty_server(status: int, body: str = "", failures: int | None = None) -> Iterator[Faulty]:
    """Serve one status for all requests; after some failures an empty listing, if told so."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            faulty.requests += 1
            is_well = failures is not None and faulty.requests > failures
            data = _EMPTY_LISTING if is_well else body.encode()
            self.send_response(200 if is_well else status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        faulty = Faulty(server.server_port)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield faulty
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def faulty_proxy(
    endpoint: str, seed: int, rate: float = 0.1, refused: tuple[str, str] | None = None
) -> Iterator[str]:
    """Hand requests on to another server; some fail, are reset, or cut off, but none forever.

    ``refused`` is a part of the paths that always fail, and how: a status, "reset" or "cut off".
    """
    upstream = urlsplit(endpoint).netloc
    chance, lock, failed = random.Random(seed), threading.Lock(), dict[str, int]()

    def fault(request: str) -> str | None:
        if refused is not None and refused[0] in request:
            return refused[1]
        with lock:
            fails = chance.random() < rate and failed.get(request, 0) < _MOST_IN_A_ROW
            failed[request] = failed.get(request, 0) + 1 if fails else 0
            return chance.choice(["500", "503", "reset", "cut off"]) if fails else None

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            what = fault(f"{self.command} {self.path}")
            if what == "reset":
                self.connection.setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                )
                self.close_connection = True
                self.connection.close()
                return
            connection = http.client.HTTPConnection(upstream, timeout=60)
            connection.request(
                self.command,
                self.path,
                body,
                {name: v for name, v in self.headers.items() if name.lower() != "connection"},
            )
            answer = connection.getresponse()
            data = answer.read()
            connection.close()
            is_refused = what is not None and what.isdecimal()
            self.send_response(int(what) if is_refused and what else answer.status)
            length = str(len(data))
            if is_refused:
                data, length = b"", "0"
            elif self.command == "HEAD":
                length = answer.headers.get("Content-Length", "0")
            for name, value in answer.getheaders():
                if name.lower() not in _OF_ONE_CONNECTION:
                    self.send_header(name, value)
            self.send_header("Content-Length", length)
            self.end_headers()
            if what == "cut off":
                data = data[: len(data) // 2]
                self.close_connection = True
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 256

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing: clients go away, too."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


_OF_ONE_CONNECTION = {"transfer-encoding", "content-length", "connection", "server", "date"}

_EMPTY_LISTING = (
    b'<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><Name>b</Name><Prefix></Prefix>'
    b"<KeyCount>0</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>"
    b"</ListBucketResult>"
)


class Breaking:
    """Where a server is that breaks off, and the ranges and conditions that it was asked for."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self.asked: list[tuple[str | None, str | None]] = []


@contextmanager
def breaking_server(data: bytes, sent: list[int]) -> Iterator[Breaking]:
    """Serve an object; the first answers break off after so many bytes as ``sent`` says."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            server_.asked.append((asked, self.headers.get("If-Match")))
            start, _, stop = (asked or "").removeprefix("bytes=").partition("-")
            first, end = int(start or 0), int(stop) + 1 if stop else len(data)
            self.send_response(206 if asked else 200)
            self.send_header("Content-Length", str(end - first))
            self.send_header("Content-Range", f"bytes {first}-{end - 1}/{len(data)}")
            self.send_header("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")
            self.send_header("ETag", '"this-one"')
            self.end_headers()
            number = len(server_.asked) - 1
            is_cut = number < len(sent)
            self.wfile.write(data[first : first + sent[number] if is_cut else end])
            self.close_connection = is_cut

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server_ = Breaking(server.server_port)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server_
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def silent_server() -> Iterator[str]:
    """Listen where connections come about and nothing is ever answered; give the endpoint."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
