"""Blobs outside the table, of which a data file has only the URI."""

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from lance_explorer.errors import UnsupportedFeatureError

__all__ = ["BlobCheck", "check_blobs", "described_blobs", "may_hold_blobs", "refuse_blob"]

BlobCheck = Callable[[int, str], None]
"""Raises UnsupportedFeatureError if a blob must not be read; takes base path (0: none) and URI."""

_BASE, _URI = "blob_id", "blob_uri"


def refuse_blob(base_id: int, uri: str) -> None:
    """Raise UnsupportedFeatureError, because the user did not allow the blob to be read."""
    where = f", below base path {base_id}" if base_id else ""
    raise UnsupportedFeatureError(f"the blob {uri!r} is outside of the table{where}")


def described_blobs(described: pa.Schema) -> list[str]:
    """Return the columns of a schema whose blobs may lie outside, as a scan describes them."""
    return [field.name for field in described if _holds_uris(field.type)]


def may_hold_blobs(kind: pa.DataType) -> bool:
    """Tell whether a column of a type may have blobs: for others a scan gives the values."""
    is_number = pa.types.is_primitive(kind) and not isinstance(kind, pa.BaseExtensionType)
    return not (is_number or pa.types.is_string(kind) or pa.types.is_large_string(kind))


def check_blobs(batches: Iterable[pa.RecordBatch], check: BlobCheck) -> None:
    """Check all blobs of some rows, which a scan has described.

    Raises
    ------
    UnsupportedFeatureError
        If one of them must not be read.
    """
    seen = set[tuple[int, str]]()
    for batch in batches:
        for column in batch.columns:
            for descriptions in _descriptions(column):
                outside = pc.not_equal(descriptions.field(_URI), "")
                places = pa.table(
                    [
                        descriptions.field(_BASE).filter(outside),
                        descriptions.field(_URI).filter(outside),
                    ],
                    names=[_BASE, _URI],
                )
                for place in places.group_by([_BASE, _URI]).aggregate([]).to_pylist():
                    seen.add((place[_BASE] or 0, place[_URI]))
    for base_id, uri in sorted(seen):
        check(base_id, uri)


def _holds_uris(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _holds_uris(kind.storage_type)
    if not pa.types.is_nested(kind):
        return False
    parts = [kind.field(number) for number in range(kind.num_fields)]
    if {_BASE, _URI} <= {part.name for part in parts}:
        return True
    return any(_holds_uris(part.type) for part in parts)


def _descriptions(values: pa.Array) -> Iterator[pa.StructArray]:
    """Yield the descriptions of blobs that are values, or are nested in values."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if not _holds_uris(values.type):
        return
    if not pa.types.is_struct(values.type):
        is_map = pa.types.is_map(values.type)
        for part in (values.keys, values.items) if is_map else (values.flatten(),):
            yield from _descriptions(part)
        return
    if {_BASE, _URI} <= {field.name for field in values.type}:
        yield values
        return
    for part in values.flatten():
        yield from _descriptions(part)
