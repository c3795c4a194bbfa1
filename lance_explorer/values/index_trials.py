"""Whether searches through an index find what a scan finds."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from pyroaring import BitMap64

from lance_explorer.errors import LanceExplorerError, UnreachableError
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.values.gate import reads_values
from lance_explorer.values.opening import StorageOptions, translating
from lance_explorer.values.readable import open_readable

__all__ = ["Trial", "try_index"]


class Trial(NamedTuple):
    """How many rows a scan found for filters that the index answered, and what the index missed.

    Attributes
    ----------
    num_tried : int
        Rows that a scan finds; 0 if no filter was answered by the index.
    missing : ndarray of uint64
        Row addresses of those that the index does not find.
    failure : str or None
        Why a search failed that may use indices, and that a scan answers.
    """

    num_tried: int
    missing: Uint64Array
    failure: str | None = None


@reads_values()
def try_index(
    uri: str,
    version: int,
    name: str,
    filters: Sequence[str],
    storage_options: StorageOptions = None,
) -> Trial:
    """Ask filters with and without an index.

    A filter counts only if the query plan names the index: of two on a column, one may never be
    used.

    Parameters
    ----------
    name : str
        The index.
    filters : sequence of str
        The filters.
    """
    dataset = open_readable(uri, version, storage_options).dataset
    tried, missing = 0, BitMap64()
    for text in filters:
        scan: dict[str, Any] = {"columns": [], "filter": text, "with_row_address": True}
        with translating(version, storage_options):
            there = _addresses(dataset.scanner(**scan, use_scalar_index=False))
        try:
            with translating(version, storage_options):
                asked = dataset.scanner(**scan)
                if f"@{name}(" not in asked.explain_plan():
                    continue
                by_index = _addresses(asked)
        except UnreachableError:
            raise
        except LanceExplorerError as error:
            return Trial(tried, np.empty(0, dtype=np.uint64), str(error))
        tried += len(there)
        missing |= there - by_index
    return Trial(tried, np.array(missing, dtype=np.uint64))


def _addresses(scanner: Any) -> BitMap64:
    addresses = BitMap64()
    for batch in scanner.to_batches():
        addresses.update(batch["_rowaddr"].to_numpy())
    return addresses
