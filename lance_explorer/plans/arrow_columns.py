"""Columns of Polars as Arrow arrays of the types that a table has."""

import polars as pl
import pyarrow as pa

from lance_explorer.errors import UnsupportedFeatureError

__all__ = ["arrow_column", "stored_field"]

_BLOB = "lance.blob.v2"


def stored_field(field: pa.Field) -> pa.Field:
    """Return a column in the form that files of plans have: nullable.

    It has no dictionary: an Arrow file allows one dictionary per column, and values come in
    batches. Blobs are whole.
    """
    kind = field.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    elif getattr(kind, "extension_name", None) == _BLOB:
        kind = pa.large_binary()
    return pa.field(field.name, kind, metadata=field.metadata)


def arrow_column(values: pl.Series, field: pa.Field) -> pa.Array:
    """Return values in the type that a column has in files of plans.

    Raises
    ------
    UnsupportedFeatureError
        If the type cannot hold all of them exactly.
    """
    array = values.to_arrow(compat_level=pl.CompatLevel.oldest())
    try:
        return _cast(array, stored_field(field).type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = str(error).splitlines()[0]
        raise UnsupportedFeatureError(
            f"the values of column {field.name!r} cannot be written as {field.type}: {reason}"
        ) from error


def _cast(array: pa.Array, kind: pa.DataType) -> pa.Array:
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _cast(array, kind.storage_type))
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array.cast(kind)
