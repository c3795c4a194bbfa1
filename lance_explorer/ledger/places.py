"""The place of a ledger's files: a local folder, or a prefix in an object store."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.storage import (
    FileInfo,
    LocalStorage,
    Storage,
    check_not_forked,
    open_storage,
)

__all__ = ["Place", "folder_name", "folder_of", "make_folder"]

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class Place:
    """A folder of files that are written once, named by their content.

    Parameters
    ----------
    uri : str or os.PathLike
        A local path, or a URI of an object store.
    options : mapping of str to str, optional
        Address and credentials of the store, as pylance takes them.
    is_private : bool
        Whether, on a local disk, only the user may read it.
    """

    def __init__(
        self,
        uri: str | os.PathLike[str],
        options: Mapping[str, str] | None = None,
        *,
        is_private: bool = False,
    ) -> None:
        self.storage: Storage = open_storage(uri, options)
        self._is_private = is_private

    @property
    def uri(self) -> str:
        """The root."""
        return self.storage.uri

    def check_apart(self, table_uri: str) -> None:
        """Check that this place is not inside a table: nothing is ever written to one.

        Raises
        ------
        InvalidArgumentError
            If it is.
        """
        table = table_uri if f"{self.uri}/".startswith(f"{table_uri}/") else None
        if isinstance(self.storage, LocalStorage):
            folders = [Path(self.uri), *Path(self.uri).parents]
            table = table or next((str(f) for f in folders if (f / "_versions").is_dir()), None)
        if table is not None:
            raise InvalidArgumentError(
                f"a ledger has to be outside of tables, and {self.uri} is in {table}"
            )

    def files(self, folder: str) -> list[FileInfo]:
        """Return the files directly in a folder, in the order of their names.

        Every reader of a ledger requests these, or folders, first.
        """
        check_not_forked()
        return sorted(self.storage.list_files(folder))

    def folders(self, folder: str = "") -> list[str]:
        """Return the names of the folders directly in a folder, sorted."""
        check_not_forked()
        return sorted(self.storage.list_folders(folder))

    def read(self, path: str) -> bytes:
        """Return a file; FileNotFoundError if it is missing."""
        return self.storage.get(path)

    def write(self, path: str, data: bytes) -> None:
        """Write a file completely or not at all.

        Raises
        ------
        StorageError
            If that fails.
        """
        if isinstance(self.storage, LocalStorage):
            self._write_locally(Path(self.uri, path), data)
            return
        from lance_explorer.storage.objects import ObjectStorage

        assert isinstance(self.storage, ObjectStorage)
        self.storage.put(path, data)

    def delete(self, path: str) -> None:
        """Delete a file, if it exists.

        Raises
        ------
        StorageError
            If that fails.
        """
        if isinstance(self.storage, LocalStorage):
            try:
                with suppress(FileNotFoundError):
                    os.unlink(f"{self.uri}/{path}")
            except OSError as error:
                raise StorageError(f"cannot delete {path}: {error.strerror or error}") from error
            return
        from lance_explorer.storage.objects import ObjectStorage

        assert isinstance(self.storage, ObjectStorage)
        self.storage.delete(path)

    def _write_locally(self, path: Path, data: bytes) -> None:
        unfinished = f"{path.parent}/.unfinished-{uuid4().hex}"
        private = self._is_private
        try:
            make_folder(path.parent, 0o700 if private else 0o777)
            handle = os.open(unfinished, _NEW, 0o600 if private else 0o666)
            try:
                with open(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(unfinished, path)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(unfinished)
                raise
        except OSError as error:
            raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def make_folder(path: Path, mode: int) -> None:
    """Make a folder and its missing parents, all with one mode."""
    if not path.is_dir():
        make_folder(path.parent, mode)
        path.mkdir(mode=mode, exist_ok=True)


def folder_of(uri: str) -> str:
    """Return the folder of a table in a ledger."""
    return (
        f"{folder_name(uri.rstrip('/').rpartition('/')[2])}{sha256(uri.encode()).hexdigest()[:12]}"
    )


def folder_name(name: str) -> str:
    """Return the prefix of the folders of tables with a name."""
    return f"{_UNSAFE.sub('_', name)}-"
