"""A server on this machine that answers every request with the same failure, or not at all."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Faulty", "faulty_server"]


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
