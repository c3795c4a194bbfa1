"""What a verification says in words: numbers, names and differences."""

from collections.abc import Mapping, Sequence

from lance_explorer.locks.version_files import LostFile, VersionFiles

__all__ = [
    "as_sentence",
    "digest_words",
    "files_words",
    "lost_words",
    "place_words",
    "plural",
    "ranges_words",
    "schema_words",
]

_MOST_NAMES = 3


def place_words(branch: str | None, version: int) -> str:
    """Return a version and its branch in words."""
    return f"version {version} of branch {branch}" if branch else f"version {version}"


def digest_words(num_bytes: int, digest: str) -> str:
    """Return how a file differs from the expected one."""
    return f"{num_bytes:,} bytes, SHA-256 {digest}"


def files_words(files: VersionFiles) -> str:
    """Return how many files a version has."""
    data = plural(files.num_data_files, "data file")
    count = files.num_deletion_files
    return f"{data} and {plural(count, 'deletion file')}" if count else data


def lost_words(lost: tuple[LostFile, ...]) -> str:
    """Return which files are lost, and in what way."""
    missing = [file.path for file in lost if file.found_bytes is None]
    changed = [file.path for file in lost if file.found_bytes is not None]
    parts = [
        f"{plural(len(paths), 'file')} {'is' if len(paths) == 1 else 'are'} {what}: {_named(paths)}"
        for paths, what in ((missing, "missing"), (changed, "of another size"))
        if paths
    ]
    return "; ".join(parts)


def schema_words(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return which fields differ.

    Examples
    --------
    >>> schema_words({"id": "int32", "city": "string"}, {"id": "int64", "mood": "string"})
    'added: mood; dropped: city; other type: id'
    """
    both = [name for name in before if name in after]
    lists = {
        "added": [name for name in after if name not in before],
        "dropped": [name for name in before if name not in after],
        "other type": [name for name in both if before[name] != after[name]],
    }
    words = [f"{what}: {_named(names)}" for what, names in lists.items() if names]
    return "; ".join(words) or "the same names and types, but other IDs, keys or metadata"


def _named(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names[:_MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def ranges_words(numbers: Sequence[int]) -> str:
    """Return ascending numbers as text.

    Examples
    --------
    >>> ranges_words([1, 4, 5, 6, 9])
    '1, 4 to 6, 9'
    """
    spans = list[list[int]]()
    for number in numbers:
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    words = [f"{first} to {last}" if last > first else str(first) for first, last in spans]
    return _named(words)


def plural(count: int, noun: str) -> str:
    """Return a count and its noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def as_sentence(words: str) -> str:
    """Return words as a sentence."""
    return f"{words[:1].upper()}{words[1:].removesuffix('.')}."
