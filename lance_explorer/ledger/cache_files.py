"""The files of the cache: a folder for each table in the user's cache folder."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

import platformdirs

from lance_explorer.ledger.places import folder_of, make_folder

__all__ = [
    "bound_cache",
    "cache_folder",
    "clear_cache",
    "etag_of",
    "file_names",
    "read_file",
    "remove_file",
    "remove_table",
    "touch",
    "write_file",
]

SETTING = "LANCE_EXPLORER_CACHE"
"""The environment variable: ``off``, or another folder."""

MOST_BYTES = 1 << 30
"""Beyond this size, the tables that were unused for longest are deleted."""

_USED = ".used"


def cache_folder() -> Path | None:
    """Return where the cache is; None if it is turned off."""
    setting = os.environ.get(SETTING, "")
    if setting.lower() in ("off", "0", "no", "false"):
        return None
    return Path(setting) if setting else platformdirs.user_cache_path("lance_explorer") / "history"


def clear_cache() -> int:
    """Delete the cached histories and profiles of all tables.

    Nothing but time is lost. Set ``LANCE_EXPLORER_CACHE=off`` to keep none, or to another folder.

    Returns
    -------
    int
        How many bytes were deleted.

    Examples
    --------
    >>> lx.clear_cache()
    0
    """
    folder = cache_folder()
    if folder is None or not folder.is_dir():
        return 0
    size = sum(_bytes(one) for one in _tables(folder))
    for one in _tables(folder):
        shutil.rmtree(one, ignore_errors=True)
    return size


def touch(folder: Path) -> None:
    """Record that the folder of a table was used."""
    with suppress(OSError):
        (folder / _USED).touch()


def write_file(name: str, file: str, data: bytes) -> None:
    """Write a file of another kind into a folder of the cache, if it is turned on."""
    top = cache_folder()
    if top is None:
        return
    folder = top / name
    with suppress(OSError):  # then the saved work is done again
        make_folder(folder, 0o700)
        new = folder / f"{file}.{os.getpid()}"
        new.write_bytes(data)
        new.replace(folder / file)
        touch(folder)
        bound_cache(top)


def read_file(name: str, file: str) -> bytes | None:
    """Return a file of the cache; None if there is none, or the cache is turned off."""
    top = cache_folder()
    if top is None:
        return None
    try:
        data = (top / name / file).read_bytes()
    except OSError:
        return None
    touch(top / name)
    return data


def file_names(name: str, begin: str) -> list[str]:
    """Return the files in a folder of the cache with this prefix."""
    top = cache_folder()
    if top is None:
        return []
    return sorted([one.name for one in (top / name).glob(f"{begin}*.parquet")])


def remove_file(name: str, file: str) -> None:
    """Remove a file of the cache, if it exists."""
    top = cache_folder()
    if top is not None:
        with suppress(OSError):
            (top / name / file).unlink()


def bound_cache(folder: Path) -> None:
    """Delete the folders that were unused for longest, until the rest is small enough."""
    tables = sorted(_tables(folder), key=_last_used)
    sizes = {one: _bytes(one) for one in tables}
    while tables and sum(sizes[one] for one in tables) > MOST_BYTES:
        shutil.rmtree(tables.pop(0), ignore_errors=True)


def _tables(folder: Path) -> list[Path]:
    return [one for one in folder.iterdir() if (one / _USED).exists()]


def _last_used(folder: Path) -> float:
    try:
        return (folder / _USED).stat().st_mtime
    except OSError:
        return 0.0


def remove_table(uri: str) -> bool:
    """Remove everything that is kept of a table; return whether there was anything."""
    top = cache_folder()
    if top is None or not (top / folder_of(uri)).is_dir():
        return False
    shutil.rmtree(top / folder_of(uri), ignore_errors=True)
    return True


def etag_of(path: str) -> str | None:
    """Return what distinguishes a local file from others of the same size and time."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return f"{facts.st_ino:x}-{facts.st_ctime_ns:x}"


def _bytes(folder: Path) -> int:
    return sum(one.stat().st_size for one in folder.rglob("*") if one.is_file())
