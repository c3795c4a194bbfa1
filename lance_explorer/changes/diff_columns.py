"""The columns of values of two versions, of whatever branches, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lance_explorer.changes.column_names import FeedColumns
from lance_explorer.changes.diff_schema import FieldPair
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.changes.value_columns import ValueColumns, known_types, told_apart
from lance_explorer.changes.version_rows import PlaceRows
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.ancestors import Ancestry
from lance_explorer.history.column_lives import Doubt, column_lives
from lance_explorer.history.fields_of_both import doubtful_pairs
from lance_explorer.values.inner_names import InnerNames, inner_names, renamed_types

__all__ = ["columns_of_both"]


def columns_of_both(
    first: PlaceRows,
    second: PlaceRows,
    pairs: Sequence[FieldPair],
    common: Ancestry,
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
    common : Ancestry
        How both come from a common version.
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
    found = FeedColumns(dict.fromkeys([name for _, own in places for name in own.values()]))
    names = dict[tuple[str, int], dict[str, str]]()
    inside = dict[tuple[str, int], InnerNames]()
    for place, own in places:
        types = known_types(place.rows, place.position, lost)
        if place is first:
            inside[place.rows.source.storage.uri, place.version] = named = inner_names(
                place.record.schema, _latest_names(pairs)
            )
            types = renamed_types(types, named)
        there = {name: (later, 0) for name, later in own.items() if name in types}
        uri = place.rows.source.storage.uri
        names[uri, place.version] = found.add(place.version, there, types)
    both = ValueColumns(found.schema(chosen), names, inside=inside)
    if first.rows is not second.rows:
        doubts = tuple(_told_apart(first, second, both, common) if both_images else ())
    else:
        positions = [place.position for place, _ in places]
        doubts = told_apart(first.rows, positions, both, column_lives(first.rows, positions))
    return replace(both, doubts=doubts)


def _latest_names(pairs: Sequence[FieldPair]) -> dict[int, str]:
    """Return the names of the fields of the first version in the second, of those in both first."""
    both = {pair.before.id: pair.after.name for pair in pairs if pair.before and pair.after}
    return both | {p.before.id: p.before.name for p in pairs if p.before and not p.after}


def _told_apart(
    first: PlaceRows, second: PlaceRows, columns: ValueColumns, common: Ancestry
) -> Iterator[Doubt]:
    """Yield the doubts about columns that are two, of versions of two branches."""
    doubtful = doubtful_pairs(common)
    found = list[dict[int, str]]()
    for place in (first, second) if doubtful else ():
        there = columns.names_in(place.rows.source, place.version)
        by_own_name = {own: name for name, own in there.items()}
        found.append(
            {
                field.id: by_own_name[field.name]
                for field in place.record.schema
                if field.parent_id == NO_PARENT and field.name in by_own_name
            }
        )
    for before, after in sorted(doubtful):
        old, new = found[0].get(before), found[1].get(after)
        if old and new and old != new and not columns.schema.keys().isdisjoint({old, new}):
            yield Doubt(after, first.version, old, second.version, new, None, None)
