"""Servers on this machine that fail: with a status, in the middle of an answer, or silently."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Breaking", "Faulty", "breaking_server", "faulty_server", "silent_server"]


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
