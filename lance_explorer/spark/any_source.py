"""``lance_explorer``: all the other sources under one short name, which a catalog table can have.

Spark creates the source of a catalog table without options when the table is read. The catalog
returns only the schema with the metadata of its columns, so the options are stored there.
"""

import json
from collections.abc import Mapping

from pyspark.sql.datasource import DataSourceReader, DataSourceStreamReader
from pyspark.sql.types import StructType

from lance_explorer.arguments import shown
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.spark.changes_source import ChangesSource
from lance_explorer.spark.content_source import ContentSource
from lance_explorer.spark.history_source import HistorySource
from lance_explorer.spark.metadata_frames import SERVED
from lance_explorer.spark.metadata_source import MetadataSource
from lance_explorer.spark.options import LEDGER_PREFIX, STORAGE_PREFIX, hidden
from lance_explorer.spark.rows_source import RowsSource
from lance_explorer.spark.source import Source
from lance_explorer.spark.types import with_metadata
from lance_explorer.storage.secrets import may_be_secret

__all__ = ["SOURCES", "AnySource"]

SOURCES: tuple[type[Source], ...] = (
    RowsSource,
    ChangesSource,
    MetadataSource,
    HistorySource,
    ContentSource,
)
"""The sources with their own names."""

_PREFIX = "lance_explorer."
_VIEWS = {source.name().removeprefix(_PREFIX): source for source in SOURCES}

_OPTIONS = "lance_explorer.options"
_GIVEN = "option."
_VERSIONS = {"version", "end_version", "versionasof", "timestampasof", "endingversion"}
_CATALOG = "provider"
"""An option that Spark adds for catalog tables: it tells that this is one."""


class AnySource(Source):
    """Rows of a version, or the frame that ``view`` names.

    Options: ``view``: ``rows``, which is the default, ``changes``, ``history``, ``metadata``,
    ``content``, or a frame of metadata such as ``versions``; and those of the source of that name.
    ``readChangeFeed`` is ``view`` ``changes``, as for Delta tables. ``CREATE TABLE ... USING
    lance_explorer`` takes the same options except secrets: others can read the options in a
    catalog.
    """

    def __init__(self, options: dict[str, str]) -> None:
        given = hidden(options)
        self._is_catalog = _CATALOG in given
        self._given = _of_catalog(given) if self._is_catalog else given
        self._inner = _source(self._given) if self._given else None
        if self._is_catalog and self._inner and not _VERSIONS.intersection(self._given):
            self._inner.note = "as it is whenever it is read"

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer"

    def schema(self) -> StructType:
        """Return the columns of the view."""
        schema = self._of(None).schema()
        if not self._is_catalog:
            return schema
        return with_metadata(schema, {_OPTIONS: json.dumps(self._given)})

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a batch reader for some columns."""
        return self._of(schema).reader(schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Return a stream reader for some columns."""
        return self._of(schema).streamReader(schema)

    def _of(self, schema: StructType | None) -> Source:
        """Return the requested source; for a catalog table, from its schema."""
        if self._inner is None:
            kept = [
                field.metadata[_OPTIONS] for field in schema or () if _OPTIONS in field.metadata
            ]
            self._inner = _source(json.loads(kept[0]) if kept else {})
        return self._inner


def _source(given: Mapping[str, str]) -> Source:
    """Return the source that options ask for."""
    options = dict(given)
    is_feed = options.get("readchangefeed", "").lower() == "true"
    if not is_feed:
        options.pop("readchangefeed", None)  # only changes know it
    view = options.pop("view", "changes" if is_feed else "rows")
    if view in SERVED:
        view, options = "metadata", {**options, "frame": view}
    if view not in _VIEWS:
        names = ", ".join([*_VIEWS, *SERVED])
        raise InvalidArgumentError(f"no view {shown(view)}; there are: {names}")
    return _VIEWS[view](options)


def _of_catalog(given: Mapping[str, str]) -> dict[str, str]:
    """Return the user's options, without those that Spark and the table's properties add."""
    options = {
        name.removeprefix(_GIVEN): value for name, value in given.items() if name.startswith(_GIVEN)
    }
    path = given.get("path") or given.get("location")
    if path:
        options["path"] = _as_folder(path)
    for name in options:
        if name.startswith((STORAGE_PREFIX, LEDGER_PREFIX)) and may_be_secret(name):
            raise InvalidArgumentError(
                f"{name} may be a secret, and others can read the options of a catalog table: put "
                "it into the environment of the workers, or use spark.read"
            )
    return options


def _as_folder(path: str) -> str:
    """Return a path as people write it; Spark writes local folders as ``file:/``."""
    if path.startswith("file:/") and not path.startswith("file://"):
        return path.removeprefix("file:")
    return path
