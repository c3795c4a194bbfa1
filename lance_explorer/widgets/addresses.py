"""The address of what an explorer shows: the part of a link after ``#``."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode

from lance_explorer.arguments import shown
from lance_explorer.errors import InvalidArgumentError

__all__ = ["Visit", "address_of", "read_address"]

_NUMBERS = {
    "version": "version",
    "from": "compared_version",
    "fragment": "fragment_id",
    "row": "row_id",
}
"""Numbers in an address, with their names in the state of views."""

_SORTS = {"sort": False, "down": True}
"""Names of what rows are sorted by, ascending or descending."""

_NAMES = {**{choice: name for name, choice in _NUMBERS.items()}, "filter": "filter"}


class Visit(NamedTuple):
    """The parts of an address; None, or nothing in a tuple, for parts that are missing.

    ``sorts`` has columns, and whether they are sorted by descending.
    """

    table: str | None
    branch: str | None
    view: str | None
    choices: Mapping[str, int | str | None]
    columns: tuple[str, ...]
    sorts: tuple[tuple[str, bool], ...]


def address_of(
    view: str,
    branch: str | None = None,
    choices: Mapping[str, int | str | None] | None = None,
    *,
    table: str | None = None,
    columns: Sequence[str] = (),
    sorts: Sequence[tuple[str, bool]] = (),
) -> str:
    """Return the address of a view with what is chosen in it.

    Examples
    --------
    >>> from lance_explorer.widgets.addresses import address_of
    >>> address_of("changes", choices={"version": 45, "compared_version": 44, "filter": "a > 1"})
    'view=changes&version=45&from=44&filter=a+%3E+1'
    """
    pairs: list[tuple[str, object]] = [("table", table), ("branch", branch), ("view", view)]
    pairs += [(_NAMES[name], value) for name, value in (choices or {}).items()]
    pairs += [("column", name) for name in columns]
    pairs += [("down" if descending else "sort", name) for name, descending in sorts]
    return urlencode([(name, value) for name, value in pairs if value not in (None, "")])


def read_address(address: str) -> Visit:
    """Return the parts of an address.

    Raises
    ------
    InvalidArgumentError
        If it contains something that no address has.

    Examples
    --------
    >>> from lance_explorer.widgets.addresses import read_address
    >>> read_address("view=changes&version=45").choices
    {'version': 45}
    """
    place: dict[str, str] = {}
    choices: dict[str, int | str | None] = {}
    columns, sorts = list[str](), list[tuple[str, bool]]()
    for name, value in parse_qsl(address, keep_blank_values=True):
        if name in ("table", "branch", "view"):
            place[name] = value
        elif name == "column":
            columns.append(value)
        elif name in _SORTS:
            sorts.append((value, _SORTS[name]))
        elif name == "filter":
            choices[name] = value
        elif name in _NUMBERS and value.isascii() and value.isdigit():
            choices[_NUMBERS[name]] = int(value)
        else:
            raise InvalidArgumentError(f"the link has {shown(f'{name}={value}')}: no link of ours")
    table, branch, view = [place.get(name) for name in ("table", "branch", "view")]
    return Visit(table, branch, view, choices, tuple(columns), tuple(sorts))
