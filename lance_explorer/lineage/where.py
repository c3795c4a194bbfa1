"""The kinds of filter: an SQL expression, or a word to look for in text columns."""

import re
from collections.abc import Iterable, Mapping

from lance_explorer.format.schema import NO_PARENT, Field, is_blob

__all__ = ["TEXTS", "fields_named", "fields_of", "filter_for", "is_word"]

_WORD = re.compile(r"[^\W_](?:[\w .@:/-]|(?<=\w)'(?=\w))*")
_SQL = frozenset({"and", "or", "not", "is", "in", "like", "ilike", "between", "true", "false"})
TEXTS = frozenset({"string", "large_string"})
"""Logical types of texts."""

_NUMBERS: Mapping[str, range] = {
    **{f"int{bits}": range(-(1 << (bits - 1)), 1 << (bits - 1)) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": range(1 << bits) for bits in (8, 16, 32, 64)},
}


def is_word(where: str, schemas: Iterable[tuple[Field, ...]]) -> bool:
    """Tell whether a text is one or more search words, and not an SQL expression.

    The name of a boolean column is an expression.

    Examples
    --------
    >>> from lance_explorer.lineage.where import is_word
    >>> is_word("New York", []), is_word("city = 'York'", []), is_word("city IS NULL", [])
    (True, False, False)
    """
    if not _WORD.fullmatch(where) or _SQL & set(where.casefold().split()):
        return False
    return all(
        field.name.casefold() != where.casefold() or field.logical_type != "bool"
        for schema in schemas
        for field in schema
    )


def filter_for(where: str, schema: tuple[Field, ...], *, is_word: bool) -> str | None:
    """Return the filter for a version; None if no column of it could hold the word.

    Examples
    --------
    >>> from lance_explorer.lineage.where import filter_for
    >>> schema = table._view.history.records[-1].schema
    >>> filter_for("O'Neill", schema, is_word=True)
    "contains(lower(`city`), 'o''neill')"
    >>> filter_for("7", schema, is_word=True)
    "`id` = 7 OR contains(lower(`city`), '7') OR `score` = 7"
    """
    if not is_word:
        return where
    word = where.casefold().replace("'", "''")
    parts = list[str]()
    for field, path in _columns(schema):
        if field.logical_type in TEXTS:
            parts.append(f"contains(lower({path}), '{word}')")
        elif where.isascii() and where.isdigit() and int(where) in _values(field):
            parts.append(f"{path} = {where}")
    return " OR ".join(parts) or None


def fields_named(filter: str, schema: tuple[Field, ...]) -> frozenset[int]:
    """Return the fields that a filter can depend on: those of all columns that it may name.

    A name inside a longer name or inside quotes counts too: extra fields do no harm.
    """
    text = filter.casefold()
    tops = [field.name for field in schema if field.parent_id == NO_PARENT]
    return fields_of([name for name in tops if name.casefold() in text] or None, schema)


def fields_of(columns: Iterable[str] | None, schema: tuple[Field, ...]) -> frozenset[int]:
    """Return the fields of some columns (all by default), with nested fields."""
    chosen = None if columns is None else {*columns}
    wanted = {
        field.id
        for field in schema
        if field.parent_id == NO_PARENT and (chosen is None or field.name in chosen)
    }
    for field in schema:
        if field.parent_id in wanted:
            wanted.add(field.id)
    return frozenset(wanted)


def _values(field: Field) -> range:
    return _NUMBERS.get(field.logical_type, range(0))


def _columns(schema: tuple[Field, ...]) -> Iterable[tuple[Field, str]]:
    """Yield columns and struct fields (but not fields inside lists) with their SQL names."""
    paths = dict[int, str]()
    for field in schema:
        # The fields of a blob are its description: filters know them by other names, and only some
        # of them.
        if not field.name or "`" in field.name or is_blob(field):
            continue
        if field.parent_id == NO_PARENT:
            paths[field.id] = f"`{field.name}`"
        elif field.parent_id in paths:
            paths[field.id] = f"{paths[field.parent_id]}.`{field.name}`"
        else:
            continue
        if field.logical_type != "struct":
            yield field, paths.pop(field.id)
