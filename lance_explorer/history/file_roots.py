"""The root of a file of a fragment (docs/FORMAT.md 10)."""

from lance_explorer.errors import (
    CorruptFileError,
    InvalidArgumentError,
    StorageError,
    UnsupportedFeatureError,
)
from lance_explorer.format.fragments import HIDDEN_FIELDS, BasePath, DataFile, Fragment
from lance_explorer.format.indices import IndexMetadata
from lance_explorer.storage import Storage, leads_elsewhere, open_beside
from lance_explorer.storage.value_uris import FileUri

__all__ = [
    "checked_uri",
    "data_file",
    "data_folder",
    "deletion_root",
    "find_base",
    "hidden_file",
    "hidden_path",
    "index_folder",
    "missing_file",
    "open_base",
]

_DATA_FOLDER = "data"
_INDICES_FOLDER = "_indices"


def find_base(base_id: int, bases: tuple[BasePath, ...]) -> BasePath:
    """Return the base path with an ID, which need not be its place in the list.

    Raises
    ------
    CorruptFileError
        If there is none.
    """
    for base in bases:
        if base.id == base_id:
            return base
    raise CorruptFileError(f"base path {base_id} is not among the base paths of the manifest")


def open_base(base: BasePath, storage: Storage) -> Storage:
    """Return the storage of a base path of the table in ``storage``.

    Raises
    ------
    UnsupportedFeatureError
        If it may not be opened, or is a URI that is not served.
    """
    try:
        return open_beside(storage, base.path)
    except (InvalidArgumentError, UnsupportedFeatureError) as error:
        raise UnsupportedFeatureError(f"base path {base.id} of the manifest: {error}") from error


def missing_file(
    uri: str, base_id: int | None = None, bases: tuple[BasePath, ...] = ()
) -> StorageError:
    """Return the error for a missing file that a kept version names."""
    if base_id is not None:
        path = find_base(base_id, bases).path
        why = f"base path {base_id} of the manifest is {path!r}: was that table moved?"
    else:
        why = (
            "the table is damaged, or its old versions are being cleaned up: refresh() it and try "
            "again"
        )
    return StorageError(f"{uri} is missing; {why}")


def deletion_root(base_id: int | None, bases: tuple[BasePath, ...], storage: Storage) -> Storage:
    """Return the root of a deletion file: the table's own, or a base that is a dataset root.

    Raises
    ------
    CorruptFileError
        If the base does not exist, or is no dataset root.
    UnsupportedFeatureError
        If it may not be opened, or is a URI that is not served.
    """
    if base_id is None:
        return storage
    base = find_base(base_id, bases)
    if not base.is_dataset_root:
        raise CorruptFileError(f"a deletion file names base path {base_id}, which is not a table")
    return open_base(base, storage)


def data_file(file: DataFile, bases: tuple[BasePath, ...], storage: Storage) -> tuple[Storage, str]:
    """Return the root of a data file, and its path below that.

    Raises
    ------
    CorruptFileError
        If its base does not exist, or its path leads out of the folder of data files.
    UnsupportedFeatureError
        If its base may not be opened, or is a URI that is not served.
    """
    if leads_elsewhere(file.path):
        raise CorruptFileError(f"expected a data file, found {file.path!r}, outside its folder")
    root, folder = data_folder(file.base_id, bases, storage)
    return root, f"{folder}/{file.path}" if folder else file.path


def data_folder(
    base_id: int | None, bases: tuple[BasePath, ...], storage: Storage
) -> tuple[Storage, str]:
    """Return the root of data files, and below it the folder that they are in.

    Raises
    ------
    CorruptFileError
        If the base does not exist.
    UnsupportedFeatureError
        If it may not be opened, or is a URI that is not served.
    """
    if base_id is None:
        return storage, _DATA_FOLDER
    base = find_base(base_id, bases)
    return open_base(base, storage), _DATA_FOLDER if base.is_dataset_root else ""


def hidden_file(fragment: Fragment, column: str) -> DataFile | None:
    """Return the data file with a spilled sequence as a hidden column; None if there is none."""
    field = next(field for field, name in HIDDEN_FIELDS.items() if name == column)
    return next((file for file in fragment.files if field in file.fields), None)


def hidden_path(path: str, column: str) -> str:
    """Return the name under which only a hidden column is recorded, beside its data file."""
    return f"{path}#{column}"


def checked_uri(root: Storage, path: str) -> FileUri:
    """Return the URI of a file that pylance is to read.

    Raises
    ------
    UnsupportedFeatureError
        If it is a link that leads out of the table.
    """
    root.check_files([path])
    return FileUri(f"{root.uri}/{path}", is_apart=root.io.values_apart)


def index_folder(
    index: IndexMetadata, bases: tuple[BasePath, ...], storage: Storage
) -> tuple[Storage, str]:
    """Return the root of an index, and below it the folder that its files are in.

    Raises
    ------
    CorruptFileError
        If its base does not exist.
    UnsupportedFeatureError
        If its base may not be opened, or is a URI that is not served.
    """
    if index.base_id is None:
        return storage, f"{_INDICES_FOLDER}/{index.uuid}"
    base = find_base(index.base_id, bases)
    return open_base(
        base, storage
    ), f"{_INDICES_FOLDER}/{index.uuid}" if base.is_dataset_root else index.uuid
