"""The tooltip of a version.

``version_words.ts`` says the same in the browser, which has all versions as arrays; what
``tests/figures/from_python.py`` writes is what the tests of both compare.
"""

from collections.abc import Mapping
from typing import Any

from lance_explorer.figures.labels import data_words, plural, rows_words
from lance_explorer.shown import one_line

__all__ = ["version_words"]

_LONGEST_TAG = 40
_LONGEST_MESSAGE = 60


def version_words(version: Mapping[str, Any], origin: str | None = None) -> list[str]:
    """Return the tooltip of a version: lines without markup, the first of them a title.

    Parameters
    ----------
    version : mapping
        A row of ``table.versions()``; counts of rows may be left out.
    origin : str, optional
        The branch that it was inherited from.

    Examples
    --------
    >>> version_words(table.versions().row(1, named=True))[0]
    'Version 2 · Append'
    """
    operation = one_line(version["operation"] or "unknown operation")
    of = "" if origin is None else f" of {one_line(origin, _LONGEST_TAG)}"
    time = version["timestamp"]
    tags = [one_line(tag, _LONGEST_TAG) for tag in version["tags"].split(", ") if tag]
    message = version["message"]
    return [
        f"Version {version['version']:,}{of} · {operation}",
        f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else "at an unknown time",
        *([_counts(version)] if "num_rows" in version else []),
        *([f"⚑ {', '.join(tags)}"] if tags else []),
        *([f"“{one_line(message, _LONGEST_MESSAGE)}”"] if message else []),
        *(["known from the ledger"] if version["known_from"] == "ledger" else []),
    ]


def _counts(version: Mapping[str, Any]) -> str:
    count = version["num_fragments"]
    within = "an unknown number of fragments" if count is None else plural(count, "fragment")
    return f"{rows_words(version['num_rows'])} in {within}, {data_words(version['data_bytes'])}"
