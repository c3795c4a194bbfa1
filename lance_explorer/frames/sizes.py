"""Numbers of bytes, percentages, versions and lists in words."""

from collections.abc import Iterable

import humanize

__all__ = ["byte_size", "counted", "listed", "percent", "span_words"]


def byte_size(num_bytes: float, digits: str = "%.1f") -> str:
    """Return a number of bytes as a size; ``digits`` is the format of the number.

    Examples
    --------
    >>> byte_size(1_400_000_000), byte_size(794), byte_size(1)
    ('1.4 GB', '794 bytes', '1 byte')
    """
    return humanize.naturalsize(num_bytes, format=digits).replace("Byte", "byte")


def counted(count: int, what: str) -> str:
    """Return a number of things, whose plural ends in ``s``.

    Examples
    --------
    >>> counted(1, "file"), counted(1_200, "file")
    ('1 file', '1,200 files')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(items: Iterable[str], most: int | None = None) -> str:
    """Return items as an enumeration; those beyond the first ``most`` as a number.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcd", most=2), listed([])
    ('a, b and c', 'a, b and 2 more', '')
    """
    shown = [*items]
    if most is not None and len(shown) > most:
        shown = [*shown[:most], f"{len(shown) - most:,} more"]
    return " and ".join([part for part in (", ".join(shown[:-1]), *shown[-1:]) if part])


def percent(share: float) -> str:
    """Return a fraction in percent; 0 % means exactly nothing, and 100 % exactly all.

    Examples
    --------
    >>> percent(0.673), percent(0.0001), percent(0.9999), percent(1)
    ('67 %', 'less than 1 %', 'over 99 %', '100 %')
    """
    shown = round(100 * share)
    if 0 < share < 0.01:
        return "less than 1 %"
    return "over 99 %" if shown == 100 and share < 1 else f"{shown} %"


def span_words(begin: int, end: int) -> str:
    """Return versions as words.

    Examples
    --------
    >>> span_words(3, 3), span_words(3, 1200)
    ('version 3', 'versions 3 to 1,200')
    """
    return f"version {begin:,}" if begin == end else f"versions {begin:,} to {end:,}"
