"""The columns of values of two versions, of whatever branches, side by side."""

from collections.abc import Sequence
from dataclasses import replace

from lance_explorer.changes.column_names import FeedColumns
from lance_explorer.changes.diff_schema import FieldPair
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.changes.value_columns import ValueColumns, known_types, told_apart
from lance_explorer.changes.version_rows import PlaceRows
from lance_explorer.history.column_lives import column_lives

__all__ = ["columns_of_both"]


def columns_of_both(
    first: PlaceRows,
    second: PlaceRows,
    pairs: Sequence[FieldPair],
    chosen: Sequence[str] | None,
    *,
    both_images: bool = True,
    lost: LostValues | None = None,
) -> ValueColumns:
    """Return the columns of two versions under the names of the second one.

    Parameters
    ----------
    first, second : PlaceRows
        The versions.
    pairs : sequence of FieldPair
        Which field is which.
    chosen : sequence of str or None
        Which columns, in order; all by default.
    both_images : bool
        Whether to return those of the first version, too.
    lost : LostValues, optional
        With it versions that pylance cannot open are noted there, and have no columns.

    Raises
    ------
    InvalidArgumentError
        If neither version has a chosen column.
    """
    columns = [pair for pair in pairs if pair.is_top_level]
    new = {pair.after.name: pair.after.name for pair in columns if pair.after}
    old = {
        pair.before.name: pair.after.name if pair.after else pair.before.name
        for pair in sorted(columns, key=lambda pair: pair.after is None)
        if pair.before
    }
    places = [(second, new), (first, old)][: 1 + both_images]
    found = FeedColumns(list(dict.fromkeys([name for _, own in places for name in own.values()])))
    names = dict[tuple[str, int], dict[str, str]]()
    for place, own in places:
        types = known_types(place.rows, place.position, lost)
        there = {name: later for name, later in own.items() if name in types}
        uri = place.rows.source.storage.uri
        names[uri, place.version] = found.add(place.version, there, types)
    both = ValueColumns(found.schema(chosen), names)
    if first.rows is not second.rows:
        return both
    positions = [place.position for place, _ in places]
    doubts = told_apart(first.rows, positions, both, column_lives(first.rows, positions))
    return replace(both, doubts=doubts)
