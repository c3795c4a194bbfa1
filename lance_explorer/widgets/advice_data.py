"""Advice for the browser: the records of ``checks``, which all views show alike."""

from typing import Any

import polars as pl

from lance_explorer.checks.advice import NOTHING_TO_DO, SEVERITY_WORDS, advice_counts

__all__ = ["VIEWS_OF_CHECKS", "advice_data", "advice_sentences"]

_MOST_ADVICE = 100

VIEWS_OF_CHECKS = {"files": "disk", "storage": "disk", "indices": "indices", "row_ids": "encodings"}
"""The view of the explorer that tells more, by what was checked."""


def advice_data(
    found: pl.DataFrame, nothing: str = f"{NOTHING_TO_DO}.", problem: str | None = None
) -> dict[str, Any]:
    """Return advice for the browser, the worst first.

    Parameters
    ----------
    found : polars.DataFrame
        What ``checks.advice`` or ``inspect.health()`` gives.
    nothing : str
        What is said if there is none.
    problem : str, optional
        Why it may be incomplete.
    """
    return {
        "num_found": len(found),
        "counts": advice_counts(found),
        "nothing": nothing,
        "problem": problem,
        "found": [
            {
                **row,
                "words": SEVERITY_WORDS[row["severity"]],
                "version": None if row["version"] is None else str(row["version"]),
                "fragment_id": None if row["fragment_id"] is None else str(row["fragment_id"]),
                "known_bug": row.get("known_bug"),
                "view": VIEWS_OF_CHECKS.get(row["check"] if "check" in row else row["topic"]),
            }
            for row in found.head(_MOST_ADVICE).iter_rows(named=True)
        ],
    }


def advice_sentences(found: pl.DataFrame, nothing: str = f"{NOTHING_TO_DO}.") -> list[str]:
    """Return advice as sentences; where there is none, that.

    Examples
    --------
    >>> advice_sentences(table.inspect.health())
    ['Nothing needs to be done.']
    """
    said = [
        f"{message[:1].upper()}{message[1:]}. {advice}".rstrip()
        for message, advice in found.select("message", "advice").iter_rows()
    ]
    return said or [nothing]
