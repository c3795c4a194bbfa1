"""Versions with columns that pylance cannot read by name: an empty name, or a name with a backtick.

Such a version is opened as if these columns had other names, from a changed manifest in memory;
nothing is written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from lance_explorer.errors import StorageError, UnsupportedFeatureError
from lance_explorer.format.column_aliases import column_types, with_column_names, without_columns
from lance_explorer.values.opening import StorageOptions, failing, open_version, options_of

if TYPE_CHECKING:
    import lance

__all__ = ["ReadableVersion", "open_readable"]


@dataclass(frozen=True, slots=True)
class ReadableVersion:
    """A version of which pylance can read all columns.

    Attributes
    ----------
    dataset : lance.LanceDataset
        The version.
    aliases : mapping of str to str
        What columns are called there, by their names, if that is something else.
    unknown : mapping of str to str
        Columns that are left out, since pylance does not know a type in them: their types.
    """

    dataset: "lance.LanceDataset"
    aliases: Mapping[str, str]
    unknown: Mapping[str, str]

    def asked(self, names: Iterable[str]) -> list[str]:
        """Return the names of columns there.

        Raises
        ------
        UnsupportedFeatureError
            If one has a type that pylance does not know.
        """
        names = [*names]
        if unknown := [name for name in names if name in self.unknown]:
            raise unknown_type(unknown[0], self.unknown[unknown[0]])
        return [self.aliases.get(name, name) for name in names]

    def schema(self) -> pa.Schema:
        """Return the columns in Arrow, under their own names."""
        schema = self.dataset.schema
        names = zip(self.own_names(schema.names), schema, strict=True)
        return pa.schema([field.with_name(name) for name, field in names], schema.metadata)

    def own_names(self, names: Iterable[str]) -> list[str]:
        """Return the names of columns, by their names there."""
        own = {alias: name for name, alias in self.aliases.items()}
        return [own.get(name, name) for name in names]


def open_readable(
    uri: str,
    version: int,
    storage_options: StorageOptions,
    *,
    all_columns: bool = False,
) -> ReadableVersion:
    """Return a version of the table, or of the branch, whose root is at ``uri``.

    Raises
    ------
    UnsupportedFeatureError
        If all columns are requested, and pylance does not know the type of one.
    """
    dataset = open_version(uri, version, storage_options)
    unknown: Mapping[str, str] = {}
    try:
        with failing(f"version {version} cannot be opened", storage_options):
            names = dataset.schema.names  # pylance panics at an unknown type
    except StorageError:
        message = dataset._ds.serialized_manifest()
        unknown = _unknown_types(uri, version, storage_options, message)
        if not unknown:
            raise
        dataset = _opened_as(uri, version, storage_options, without_columns(message, unknown))
        names = dataset.schema.names
    if unknown and all_columns:
        name, type_ = next(iter(unknown.items()))
        raise unknown_type(name, type_)
    aliases = dict[str, str]()
    for place, name in enumerate(names):
        if not name or "`" in name:
            alias = f"column_{place}"
            while alias in names:
                alias += "_"
            aliases[name] = alias
    if aliases:
        message = with_column_names(dataset._ds.serialized_manifest(), aliases)
        dataset = _opened_as(uri, version, storage_options, message)
    return ReadableVersion(dataset, aliases, unknown)


def unknown_type(column: str, type_: str) -> UnsupportedFeatureError:
    """Return the error for a column with a type that pylance does not know."""
    return UnsupportedFeatureError(
        f"the column {column!r} has the type {type_!r}, which this release of pylance does not "
        "know: a newer one may. Other columns can be read by naming them"
    )


def _opened_as(
    uri: str, version: int, storage_options: StorageOptions, message: bytes
) -> "lance.LanceDataset":
    """Return a version as if this were its manifest."""
    import lance  # takes long

    with failing(f"version {version} cannot be opened", storage_options):
        return lance.LanceDataset(
            str(uri),
            version,
            storage_options=options_of(uri, storage_options),
            serialized_manifest=message,
        )


def _unknown_types(
    uri: str, version: int, storage_options: StorageOptions, message: bytes
) -> dict[str, str]:
    """Return the columns that pylance cannot open alone, each with its type.

    Of several columns with the same field types, one is tried.
    """
    columns = column_types(message)
    unknown, tried = dict[str, str](), dict[tuple[str, ...], bool]()
    for name, types in columns.items():
        if types not in tried:
            alone = without_columns(message, columns.keys() - {name})
            try:
                dataset = _opened_as(uri, version, storage_options, alone)
                with failing("", storage_options):
                    _ = dataset.schema
                tried[types] = True
            except StorageError:
                tried[types] = False
        if not tried[types]:
            unknown[name] = ", ".join(types)
    return unknown
