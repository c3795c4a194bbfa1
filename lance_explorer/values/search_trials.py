"""Searches for words and vectors, with an index and without it."""

import hashlib
import os
import tempfile
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from lance_explorer.errors import LanceExplorerError, UnreachableError
from lance_explorer.values.gate import reads_values
from lance_explorer.values.index_trials import Trial
from lance_explorer.values.opening import StorageOptions, translating
from lance_explorer.values.readable import open_readable

__all__ = ["Neighbours", "Training", "missed_by_words", "neighbours", "training"]

_NEIGHBOURS = 10
_REFINED = 10
"""How many times as many candidates are compared by their whole vectors."""


class Neighbours(NamedTuple):
    """How well a vector index finds the nearest rows.

    Attributes
    ----------
    num_vectors : int
        Vectors that were searched with the index; 0 if it was never asked.
    found, found_by_all : float
        The share of the nearest rows that searches find as they are by default, and if they look
        into all partitions and compare whole vectors.
    failure : str or None
        Why a search with the index failed, where one without it is answered.
    """

    num_vectors: int
    found: float
    found_by_all: float
    failure: str | None = None


class Training(NamedTuple):
    """The settings of a vector index.

    Attributes
    ----------
    centroids : frozenset of str
        Its centroids, as hashes; empty if pylance does not give them.
    sizes : tuple of int
        The rows in each partition.
    settings : dict
        What makes such an index again, as ``create_index`` takes it.
    """

    centroids: frozenset[str]
    sizes: tuple[int, ...]
    settings: dict[str, Any]


@reads_values()
def missed_by_words(
    uri: str,
    version: int,
    positions: pl.Series,
    column: str,
    settings: Mapping[str, Any],
    storage_options: StorageOptions = None,
) -> Trial:
    """Search some rows by one word of each.

    Which words count depends on the settings of the index, so a copy of these rows is indexed with
    the same settings in a temporary folder; words that the copy does not find are not searched.

    Parameters
    ----------
    positions : polars.Series
        The rows, by their positions.
    column : str
        A column of the top level with texts.
    settings : mapping
        The settings, as pylance takes them.
    """
    import lance
    from lance.query import MatchQuery

    readable = open_readable(uri, version, storage_options)
    [asked] = readable.asked([column])
    with translating(version, storage_options):
        rows = readable.dataset.take(positions.to_list(), columns=[asked, "_rowaddr"])
    texts, addresses = rows[asked], rows["_rowaddr"].to_numpy()
    words = [max(text.split(), key=len) if text and text.split() else "" for text in _texts(texts)]
    with tempfile.TemporaryDirectory() as folder, translating(version, storage_options):
        place = f"{folder}/copy.lance"
        copy = lance.write_dataset(pa.table({column: texts}), place)
        copy.create_scalar_index(column, "INVERTED", **settings)
        copy = lance.dataset(place)

        def found(dataset: Any, name: str, word: str, address: int) -> bool:
            scan = dataset.scanner(
                columns=["_score"],
                with_row_address=True,
                full_text_query=MatchQuery(word, name),
                filter=f"_rowaddr = {address}",
            )
            return bool(scan.to_table().num_rows)

        chosen = [
            (word, address)
            for number, (word, address) in enumerate(zip(words, addresses.tolist(), strict=True))
            if word and found(copy, column, word, number)
        ]
    try:
        with translating(version, storage_options):
            missed = [
                address
                for word, address in chosen
                if not found(readable.dataset, asked, word, address)
            ]
    except UnreachableError:
        raise
    except LanceExplorerError as error:
        return Trial(0, np.empty(0, dtype=np.uint64), str(error))
    return Trial(len(chosen), np.array(missed, dtype=np.uint64))


def _texts(column: pa.ChunkedArray) -> list[str | None]:
    """Return the texts; of a list of texts, one."""
    return [
        next(filter(None, value), None) if isinstance(value, list) else value
        for value in column.to_pylist()
    ]


@reads_values()
def neighbours(
    uri: str,
    version: int,
    positions: pl.Series,
    name: str,
    column: str,
    metric: str,
    num_partitions: int,
    storage_options: StorageOptions = None,
) -> Neighbours:
    """Search the vectors of some rows with an index and without it, by the index's distance.

    A vector counts only if the query plan names the index. Zero vectors, and vectors with NaN or
    infinity, are left out.

    Parameters
    ----------
    positions : polars.Series
        The rows, by their positions.
    name, column : str
        The index, and its column.
    metric : str
        What it measures by.
    num_partitions : int
        How many partitions it has.
    """
    readable = open_readable(uri, version, storage_options)
    [asked] = readable.asked([column])
    shares, by_all = list[float](), list[float]()
    with translating(version, storage_options):
        dataset = readable.dataset
        vectors = dataset.take(positions.to_list(), columns=[asked])[asked]

        def nearest(vector: NDArray[Any], **how: Any) -> Any:
            query = {"column": asked, "q": vector, "k": _NEIGHBOURS, "metric": metric, **how}
            return dataset.scanner(columns=["_distance"], with_row_address=True, nearest=query)

        def rows_of(scan: Any) -> set[int]:
            return set(scan.to_table()["_rowaddr"].to_pylist())

        for value in vectors.to_pylist():
            vector = np.array(value or [0.0], dtype=np.float64)
            if not np.isfinite(vector).all() or not vector.any():
                continue
            vector = np.array(value, dtype=vectors.type.value_type.to_pandas_dtype())
            exact = rows_of(nearest(vector, use_index=False))
            if not exact:
                continue
            try:
                with translating(version, storage_options):
                    search = nearest(vector)
                    if f"name={name}, " not in search.explain_plan():
                        continue
                    whole = nearest(vector, nprobes=num_partitions, refine_factor=_REFINED)
                    shares.append(len(exact & rows_of(search)) / len(exact))
                    by_all.append(len(exact & rows_of(whole)) / len(exact))
            except UnreachableError:
                raise
            except LanceExplorerError as error:
                return Neighbours(0, 0.0, 0.0, str(error))
    count = len(shares)
    return Neighbours(count, sum(shares) / max(count, 1), sum(by_all) / max(count, 1))


@reads_values(files=False)
def training(uri: str, version: int, name: str, storage_options: StorageOptions = None) -> Training:
    """Return the centroids of a vector index in a version, and the rows in its partitions."""
    os.environ.setdefault("LANCE_INCLUDE_VECTOR_CENTROIDS", "true")  # else pylance warns of it
    readable = open_readable(uri, version, storage_options)
    with translating(version, storage_options):
        segments = readable.dataset.stats.index_stats(name)["indices"]
    centroids = [one for segment in segments for one in segment.get("centroids") or ()]
    sizes = [part["size"] for segment in segments for part in segment.get("partitions", ())]
    digests = [hashlib.sha256(repr(one).encode()).hexdigest() for one in centroids]
    first = segments[0] if segments else {}
    settings = {
        "index_type": first.get("index_type"),
        "metric": first.get("metric_type"),
        "num_sub_vectors": (first.get("sub_index") or {}).get("num_sub_vectors"),
    }
    return Training(frozenset(digests), tuple(sizes), settings)
