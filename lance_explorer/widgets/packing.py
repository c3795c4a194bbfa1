"""Arrays on their way to the browser: as bytes, beside a content that names them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.widgets.view import Reply

__all__ = ["floats", "packed"]

_TYPES = {
    "f8": "Float64Array",
    "f4": "Float32Array",
    "u8": "BigUint64Array",
    "i4": "Int32Array",
    "u1": "Uint8Array",
}


def packed(arrays: Mapping[str, NDArray[Any]], content: Mapping[str, Any] | None = None) -> Reply:
    """Return an answer with arrays, which ``unpackArrays`` of ``arrays.ts`` reads.

    What ``content`` already lists in ``arrays`` comes first, as its buffers do.
    """
    about = [{"name": name, "type": _TYPES[a.dtype.str[1:]]} for name, a in arrays.items()]
    known = dict(content or {})
    return Reply(
        {**known, "arrays": [*known.get("arrays", []), *about]},
        tuple([array.tobytes() for array in arrays.values()]),
    )


def floats(values: pl.Series) -> NDArray[np.float64]:
    """Return numbers as an array; one that is not known is NaN."""
    return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
