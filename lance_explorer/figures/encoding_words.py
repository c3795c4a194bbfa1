"""What the encodings of row IDs cost and could cost, in words. Every number is computed."""

from typing import Any

import polars as pl

from lance_explorer.figures.labels import plural, size
from lance_explorer.frames.sizes import percent

__all__ = ["encoding_words"]

_MOST_FRAGMENTS = 5
_MUCH_OF_ITSELF = 0.1
_MUCH_OF_ALL = 0.01
_MUCH = 1000  # bytes


def encoding_words(segments: pl.DataFrame, encodings: pl.DataFrame) -> list[str]:
    """Say in words what row IDs take, now and at best; whether that matters is advice.

    Parameters
    ----------
    segments : polars.DataFrame
        What ``table.inspect.row_id_segments()`` gives for a version.
    encodings : polars.DataFrame
        What ``table.inspect.row_id_encodings()`` gives for the same version.

    Returns
    -------
    list of str
        The sentences that :func:`lance_explorer.figures.encoding_words` describes.

    Examples
    --------
    >>> frames = table.inspect
    >>> said = encoding_words(frames.row_id_segments(), frames.row_id_encodings())
    >>> said[1]
    'No fragment by itself would save much.'
    """
    if encodings.is_empty():
        return ["No fragment stores row IDs: the table does not have stable ones."]
    stored = encodings.filter(pl.col("encoded_bytes").is_not_null())
    worth = _worth_a_word(stored)
    shapes = _shapes(segments)
    named = worth.head(_MOST_FRAGMENTS).join(shapes, on="fragment_id", maintain_order="left")
    said = [_total(stored)] if len(stored) else []
    said += [_fragment(row) for row in named.iter_rows(named=True)]
    rest = worth.slice(_MOST_FRAGMENTS)
    if len(rest):
        saved = size(int(rest["saving_bytes"].sum()))
        said.append(f"{plural(len(rest), 'more fragment')} would save {saved} together.")
    if len(stored) and worth.is_empty():
        said.append("No fragment by itself would save much.")
    spilled = len(encodings) - len(stored)
    if spilled:
        said.append(
            f"{plural(spilled, 'fragment')} spilled the row IDs into a column of a data file, "
            "where their bytes are not known."
        )
    return said


def _worth_a_word(stored: pl.DataFrame) -> pl.DataFrame:
    """Return the fragments that would save much, the largest savings first."""
    saving = pl.col("saving_bytes")
    much = (saving >= _MUCH) | (saving >= _MUCH_OF_ALL * pl.col("encoded_bytes").sum())
    much_of_itself = saving >= _MUCH_OF_ITSELF * pl.col("encoded_bytes")
    return stored.filter((saving > 0) & much & much_of_itself).sort(
        "saving_bytes", "fragment_id", descending=[True, False]
    )


def _total(stored: pl.DataFrame) -> str:
    taken, best, values = [
        int(stored[name].sum()) for name in ("encoded_bytes", "best_bytes", "num_values")
    ]
    share = f"{percent(1 - best / taken)} less" if best < taken else "which is the least possible"
    return (
        f"{plural(values, 'row ID')} in {plural(len(stored), 'fragment')} take {size(taken)}, "
        f"{taken / max(values, 1):.2g} bytes each; at best they would take {size(best)}, {share}."
    )


def _shapes(segments: pl.DataFrame) -> pl.DataFrame:
    """Return for each fragment its number of segments, and of single rows, and the main form."""
    return segments.group_by("fragment_id").agg(
        segments=pl.len(),
        one_row_segments=(pl.col("num_values") == 1).sum(),
        encoding=pl.col("encoding").sort_by("encoded_bytes").last().cast(pl.String),
    )


def _fragment(row: dict[str, Any]) -> str:
    """Return the current and the possible cost of a fragment."""
    if row["segments"] == 1:
        form = row["encoding"].replace("_", " ")
        spent_on = f"one {form} of {plural(row['num_values'], 'row ID')}"
    elif 2 * row["one_row_segments"] > row["segments"]:
        spent_on = f"{row['one_row_segments']:,} one-row segments"
        if row["one_row_segments"] < row["segments"]:
            spent_on += f" and {row['segments'] - row['one_row_segments']:,} others"
    else:
        spent_on = f"{row['segments']:,} segments of {plural(row['num_values'], 'row ID')}"
    return (
        f"Fragment {row['fragment_id']:,} uses {size(row['encoded_bytes'])} for {spent_on}; "
        f"encoded {_how(row)} it would be {size(row['best_bytes'])}."
    )


def _how(row: dict[str, Any]) -> str:
    if row["best_bytes"] == row["one_segment_bytes"]:
        return "as one segment"
    if row["best_bytes"] == row["split_bytes"]:
        return "in other segments"
    return "in other encodings"
