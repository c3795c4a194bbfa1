"""An S3 server on this machine, for tests: tables are copied into its bucket, or written there."""

import logging
from pathlib import Path
from urllib.request import Request, urlopen

import obstore
from moto.server import ThreadedMotoServer
from obstore.store import S3Store

from lance_explorer.history.view import HistoryView
from lance_explorer.table import Table, open_table

__all__ = ["KEY_ID", "SECRET", "Bucket"]

SECRET = "do-not-show-this-anywhere"
KEY_ID = "nor-whose-it-is"

_NAME = "tables"


class Bucket:
    """A running server with one bucket, of which ``options`` tell where it is.

    The server lets everybody in, so what is not passed on shows by asking Amazon instead, which
    cannot be reached.
    """

    def __init__(self) -> None:
        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        host, port = self._server.get_host_and_port()
        self.options = {
            "aws_endpoint": f"http://{host}:{port}",
            "allow_http": "true",
            "aws_access_key_id": KEY_ID,
            "aws_secret_access_key": SECRET,
            "aws_region": "us-east-1",
        }
        url = f"{self.options['aws_endpoint']}/{_NAME}"
        urlopen(Request(url, method="PUT")).close()

    def stop(self) -> None:
        """End the server."""
        self._server.stop()

    def uri(self, name: str) -> str:
        """Return the URI of a table."""
        return f"s3://{_NAME}/{name}"

    def store(self, name: str) -> S3Store:
        """Return what writes objects below a table."""
        options = {key: value for key, value in self.options.items() if key.startswith("aws_")}
        return S3Store.from_url(
            self.uri(name),
            config=options,  # type: ignore[arg-type]
            client_options={"allow_http": True},
        )

    def copy(self, path: Path, name: str) -> str:
        """Copy a table; return its URI."""
        store = self.store(name)
        for file in path.rglob("*"):
            if file.is_file():
                obstore.put(store, file.relative_to(path).as_posix(), file.read_bytes())
        return self.uri(name)

    def view(self, name: str, branch: str | None = None) -> HistoryView:
        """Return the metadata of a table."""
        return HistoryView.open(self.uri(name), branch, self.options)

    def table(self, name: str, branch: str | None = None) -> Table:
        """Open a table."""
        return open_table(self.uri(name), branch, self.options)
