"""The sample table of a training set: half a year of documents with embeddings.

Every week a crawler adds documents. In week 11 another model made all embeddings anew; in week 17 a
job deleted the documents with low scores, and the crawler has added none since.
"""

from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lance_explorer.demo.story import NUM_WEEKS, Story

__all__ = ["DOCUMENTS_SCHEMA", "FIRST_OF_DOCUMENTS", "tell_documents"]

FIRST_OF_DOCUMENTS = "Begin the corpus"
"""The message of the first commit."""

_SIZE = 32

DOCUMENTS_SCHEMA = pa.schema(
    [
        pa.field("doc_id", pa.int64(), nullable=False),
        pa.field("source", pa.string()),
        pa.field("crawled_at", pa.timestamp("us", tz="UTC")),
        pa.field("text", pa.string()),
        pa.field("score", pa.float32()),
        pa.field("embedding", pa.list_(pa.float32(), _SIZE)),
    ]
)

_PER_WEEK = 80
_SOURCES = ("web", "web", "web", "books", "forum")
_NEW_MODEL, _FILTERED, _MORE_FORUM = 11, 17, 21
_LEAST_SCORE = 0.35

_TOPICS = 5
"""Embeddings form as many clusters, which the new model moves."""

Step = Callable[["_Documents"], None]


class _Documents(Story):
    """The table of documents while it is being made."""

    next_id = 0
    model = 1
    least_score = 0.0
    sources: tuple[str, ...] = _SOURCES

    def documents(self, count: int) -> pa.Table:
        """Make new documents."""
        first, self.next_id = self.next_id, self.next_id + count
        ids = np.arange(first, first + count)
        random = np.random.RandomState(first)
        scores = np.clip(random.beta(2.2, 1.8, 4 * count), 0, 1)
        scores = scores[scores >= self.least_score][:count]
        return pa.table(
            {
                "doc_id": ids,
                "source": [self.sources[n % len(self.sources)] for n in ids.tolist()],
                "crawled_at": [self.now - timedelta(minutes=7 * n) for n in range(count)],
                "text": [f"Document {n}. " + "Words. " * (3 + n * 7 % 19) for n in ids.tolist()],
                "score": scores,
                "embedding": pa.FixedSizeListArray.from_arrays(
                    pa.array(embeddings(ids, self.model).ravel()), _SIZE
                ),
            }
        ).cast(DOCUMENTS_SCHEMA)


def embeddings(ids: NDArray[np.int64], model: int) -> NDArray[np.float32]:
    """Return the embeddings of a model: vectors of length 1."""
    places = np.random.RandomState(model).normal(size=(_TOPICS, _SIZE))
    noise = [np.random.RandomState(model * 100_003 + n).normal(size=_SIZE) for n in ids.tolist()]
    vectors = places[ids % _TOPICS] + 0.5 * np.array(noise)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: NDArray[np.float32] = (vectors / lengths).astype(np.float32)
    return result


def _crawl(documents: _Documents) -> None:
    documents.insert(
        documents.documents(_PER_WEEK),
        message=f"Crawl of {documents.now:%d %B}",
        author="crawler",
        job="crawl",
        run_id=f"crawl-{documents.now:%Y%m%d}",
    )


def _embed_anew(documents: _Documents) -> None:
    """Make all embeddings with another model."""
    documents.model = 2
    documents.change(
        "doc_id >= 0",
        "embedding",
        lambda row: embeddings(np.array([row["doc_id"]]), 2)[0].tolist(),
        message="Embeddings by encoder-2",
        author="mina",
        job="embed",
        run_id="embed-0002",
    )


def _filter(documents: _Documents) -> None:
    """Delete the documents with low scores, and crawl none of them from now on."""
    documents.least_score = _LEAST_SCORE
    documents.delete(
        f"score < {_LEAST_SCORE}",
        message="Quality filter 0.35",
        author="scheduler",
        job="quality-filter",
        run_id="filter-0031",
    )


def _crawl_forums(documents: _Documents) -> None:
    """Crawl more of the forum from now on."""
    documents.sources = ("forum", "forum", "web", "books")
    _crawl(documents)


def _correct(documents: _Documents) -> None:
    documents.change(
        "doc_id % 97 = 5",
        "score",
        lambda row: min(row["score"] + 0.1, 1.0),
        message="Scores corrected by hand",
        author="mina",
    )


def _compact(documents: _Documents) -> None:
    documents.compact()


def _story() -> Iterator[tuple[int, int, Step]]:
    """Yield what happens: in which week, at which hour of it, and the step."""
    for week in range(1, NUM_WEEKS):
        yield week, 26, _crawl_forums if week == _MORE_FORUM else _crawl
        if week % 6 == 5:
            yield week, 81, _compact
    yield 4, 60, _correct
    yield _NEW_MODEL, 74, _embed_anew
    yield 14, 58, _correct
    yield _FILTERED, 33, _filter
    yield 23, 51, _correct


def tell_documents(path: Path, end: date) -> None:
    """Write the table.

    Parameters
    ----------
    path : Path
        Where.
    end : date
        The day on which it is told: its last commit is of the day before.
    """
    documents = _Documents(path, end - timedelta(weeks=NUM_WEEKS), "doc_id")
    documents.start(documents.documents(4 * _PER_WEEK), FIRST_OF_DOCUMENTS, "mina")
    documents.tell(_story())
