"""The targets that changes are merged into, with their libraries, and how they are recognized."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from lance_explorer.arguments import check_choice, shown
from lance_explorer.errors import InvalidArgumentError, MissingDependencyError

__all__ = ["Batch", "Mark", "Target", "target_of"]


@dataclass(frozen=True, slots=True)
class Mark:
    """What a target stores with each step: the number of the batch and its query."""

    query: str
    number: int


@dataclass(frozen=True, slots=True)
class Batch:
    """What a micro-batch leaves behind.

    Attributes
    ----------
    keys : tuple of str
        The columns that name a row.
    puts : pyarrow.Table
        Rows that are there now, with their values.
    gone : pyarrow.Table
        Keys of rows that are not.
    """

    keys: tuple[str, ...]
    puts: pa.Table
    gone: pa.Table

    @property
    def num_rows(self) -> int:
        """How many keys are changed."""
        return int(self.puts.num_rows + self.gone.num_rows)

    @property
    def changed(self) -> pa.Table:
        """All keys."""
        return pa.concat_tables([self.puts.select(list(self.keys)), self.gone])


class Target(Protocol):
    """A table that changes are merged into."""

    uri: str

    def has(self, mark: Mark) -> bool:
        """Return whether a batch was merged before."""

    def merge(self, batch: Batch, mark: Mark) -> None:
        """Merge a batch together with its number: all of it or nothing."""


def target_of(
    target: Any, format: str | None, catalog: Any, storage_options: Mapping[str, str]
) -> Target:
    """Return the target that the caller named."""
    kind = _format_of(target, catalog) if format is None else format
    if kind is None:
        raise InvalidArgumentError(
            f"the kind of {shown(target)} cannot be recognized: give format, one of "
            + ", ".join(_TARGETS)
        )
    check_choice("format", kind, tuple(_TARGETS))
    library, make = _TARGETS[kind]
    if find_spec(library) is None:
        raise MissingDependencyError(
            f"a target of the format {kind} needs {library}: pip install 'lance-explorer[sinks]'"
        )
    return make(target, catalog, storage_options)


def _format_of(target: Any, catalog: Any) -> str | None:
    """Return the format of a target, judged by its files."""
    home = type(target).__module__.partition(".")[0]
    if catalog is not None or home == "pyiceberg":
        return "iceberg"
    if home in ("deltalake", "lance"):
        return {"deltalake": "delta"}.get(home, home)
    if not isinstance(target, str):
        return None
    if target.rstrip("/").endswith(".lance"):
        return "lance"
    return "delta" if Path(target, "_delta_log").is_dir() else None


def _made(module: str, name: str) -> Callable[..., Target]:
    """Return the class of a target; its library is imported then."""

    def make(*given: Any) -> Target:
        target: Target = getattr(import_module(f"lance_explorer.spark.{module}"), name)(*given)
        return target

    return make


_TARGETS = {
    "delta": ("deltalake", _made("delta_target", "DeltaTarget")),
    "iceberg": ("pyiceberg", _made("iceberg_target", "IcebergTarget")),
    "lance": ("lance", _made("lance_target", "LanceTarget")),
    "parquet": ("pyarrow", _made("parquet_target", "ParquetTarget")),
}
