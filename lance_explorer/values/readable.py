"""Versions with columns that pylance does not read by their names: those with a backtick, or none.

Such a version is opened as if these columns had other names, which is made of its manifest in
memory; nothing is written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lance_explorer.format.column_aliases import with_column_names
from lance_explorer.values.opening import StorageOptions, failing, open_version, options_of

if TYPE_CHECKING:
    import lance

__all__ = ["ReadableVersion", "open_readable"]


@dataclass(frozen=True, slots=True)
class ReadableVersion:
    """A version, of which pylance reads all columns.

    Attributes
    ----------
    dataset : lance.LanceDataset
        The version.
    aliases : mapping of str to str
        What columns are called there, by their names, if that is something else.
    """

    dataset: "lance.LanceDataset"
    aliases: Mapping[str, str]

    def asked(self, names: Iterable[str]) -> list[str]:
        """Return what columns are called there."""
        return [self.aliases.get(name, name) for name in names]

    def told(self, names: Iterable[str]) -> list[str]:
        """Return the names of columns, by what they are called there."""
        own = {alias: name for name, alias in self.aliases.items()}
        return [own.get(name, name) for name in names]


def open_readable(uri: str, version: int, storage_options: StorageOptions) -> ReadableVersion:
    """Return a version of the table, or of the branch, whose root is at ``uri``."""
    dataset = open_version(uri, version, storage_options)
    names = dataset.schema.names
    aliases = dict[str, str]()
    for place, name in enumerate(names):
        if not name or "`" in name:
            alias = f"column_{place}"
            while alias in names:
                alias += "_"
            aliases[name] = alias
    if not aliases:
        return ReadableVersion(dataset, aliases)
    import lance  # takes long

    with failing(f"version {version} cannot be opened", storage_options):
        dataset = lance.LanceDataset(
            uri,
            version,
            storage_options=options_of(uri, storage_options),
            serialized_manifest=with_column_names(dataset._ds.serialized_manifest(), aliases),
        )
    return ReadableVersion(dataset, aliases)
