"""Values of structs under the later names of their fields, also inside lists.

A renamed field keeps its values, so structs of two versions can be compared only under one name for
each field.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

import polars as pl
from polars.datatypes import DataTypeClass

from lance_explorer.format.schema import NO_PARENT, Field

__all__ = ["InnerNames", "inner_names", "renamed", "renamed_types"]


@dataclass(frozen=True, slots=True)
class _Inside:
    """The fields in a field: their names, new names (None: left out), and their own fields."""

    own: tuple[str, ...]
    wanted: tuple[str | None, ...]
    parts: tuple["_Inside", ...]

    @property
    def is_renamed(self) -> bool:
        return self.own != self.wanted or any(part.is_renamed for part in self.parts)


InnerNames = Mapping[str, _Inside]
"""The columns in which a field has another name, by their names in their version."""


def inner_names(
    schema: Iterable[Field], wanted: Mapping[int, str], dropped: Container[int] = ()
) -> InnerNames:
    """Return in which columns fields get other names, or are left out.

    Parameters
    ----------
    schema : iterable of Field
        The fields of a version.
    wanted : mapping of int to str
        Names by the IDs of fields, those first that keep their name where two have the same.
    dropped : container of int
        The IDs of fields inside of others that are to be left out.

    Examples
    --------
    >>> from lance_explorer.values.inner_names import inner_names
    >>> inner_names(table._view.history.records[0].schema, {})
    {}
    """
    fields = [*schema]
    children = defaultdict[int, list[Field]](list)
    for field in fields:
        children[field.parent_id].append(field)
    if all(f.name == wanted.get(f.id, f.name) and f.id not in dropped for f in fields):
        return {}
    rank = {id_: number for number, id_ in enumerate(wanted)}
    by_name = {f.name: _inside(f, children, wanted, rank, dropped) for f in children[NO_PARENT]}
    return {name: inside for name, inside in by_name.items() if inside.is_renamed}


def renamed(values: pl.DataFrame, names: InnerNames) -> pl.DataFrame:
    """Return values with other names inside their columns."""
    changes = [
        _expression(pl.col(name), values.schema[name], inside).alias(name)
        for name, inside in names.items()
        if name in values.columns
    ]
    return values.with_columns(changes) if changes else values


def renamed_types(types: pl.Schema, names: InnerNames) -> pl.Schema:
    """Return the types that the columns have then."""
    return renamed(types.to_frame(), names).schema if names else types


def _inside(
    field: Field,
    children: Mapping[int, list[Field]],
    wanted: Mapping[int, str],
    rank: Mapping[int, int],
    dropped: Container[int],
) -> _Inside:
    within = children.get(field.id, [])
    taken = dict[int, str]()
    for child in sorted(within, key=lambda one: rank.get(one.id, len(rank))):
        name = wanted.get(child.id, child.name)
        while name in taken.values():
            name += "_"
        taken[child.id] = name
    return _Inside(
        tuple([child.name for child in within]),
        tuple([None if child.id in dropped else taken[child.id] for child in within]),
        tuple([_inside(child, children, wanted, rank, dropped) for child in within]),
    )


def _expression(value: pl.Expr, dtype: pl.DataType | DataTypeClass, inside: _Inside) -> pl.Expr:
    """Return a value with other names inside; unchanged if its type does not have these fields."""
    if not inside.is_renamed:
        return value
    match dtype:
        case pl.Struct(fields=fields) if [f.name for f in fields] == [*inside.own]:
            parts = [
                _expression(value.struct.field(field.name), field.dtype, part).alias(name)
                for field, name, part in zip(fields, inside.wanted, inside.parts, strict=True)
                if name is not None
            ]
            if not parts:
                return value
            return pl.when(value.is_not_null()).then(pl.struct(parts))
        case pl.List(inner=inner) if len(inside.parts) == 1:
            return value.list.eval(_expression(pl.element(), inner, inside.parts[0]))
        case pl.Array(inner=inner, size=size) if len(inside.parts) == 1:
            items = value.arr.to_list().list.eval(_expression(pl.element(), inner, inside.parts[0]))
            return items.list.to_array(size)
    return value
