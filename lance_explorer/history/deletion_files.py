"""Which rows of a fragment are deleted, from its deletion file."""

from pyroaring import BitMap

from lance_explorer.errors import FormatError
from lance_explorer.format.deletions import decode_deletion_file
from lance_explorer.format.fragments import BasePath, Fragment
from lance_explorer.history.file_roots import deletion_root, missing_file
from lance_explorer.storage import Storage

__all__ = ["load_deleted"]


def load_deleted(
    fragment: Fragment,
    bases: tuple[BasePath, ...],
    storage: Storage,
    physical_rows: int | None = None,
) -> BitMap:
    """Return the deleted offsets of a fragment.

    Parameters
    ----------
    fragment : Fragment
        The fragment.
    bases : tuple of BasePath
        The base paths of its version.
    storage : Storage
        The root of the table.
    physical_rows : int, optional
        No offset may be as high as that.
    """
    file = fragment.deletion_file
    if file is None:
        return BitMap()
    path, root = file.path(fragment.id), deletion_root(file.base_id, bases, storage)
    try:
        return decode_deletion_file(root.get(path), file.file_type, physical_rows)
    except FileNotFoundError as error:
        raise missing_file(f"{root.uri}/{path}", file.base_id, bases) from error
    except FormatError as error:
        raise error.located(path) from error
