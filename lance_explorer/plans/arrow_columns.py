"""Columns of Polars as Arrow arrays of the types that a table has."""

import polars as pl
import pyarrow as pa

from lance_explorer.errors import UnsupportedFeatureError

__all__ = ["arrow_column"]


def arrow_column(values: pl.Series, field: pa.Field) -> pa.Array:
    """Return values in the type of a column.

    Raises
    ------
    UnsupportedFeatureError
        If the type does not hold all of them exactly.
    """
    array = values.to_arrow(compat_level=pl.CompatLevel.oldest())
    try:
        return _cast(array, field.type)
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
    if pa.types.is_dictionary(kind):
        return array.cast(kind.value_type).dictionary_encode().cast(kind)
    return array.cast(kind)
