"""What made a fragment: the commit in which its life began.

A life goes on while consecutive kept versions have the fragment. An overwrite begins anew, as
fragment IDs may then be used again; a restore brings fragments back into a new life.
"""

import polars as pl

__all__ = ["fragment_lives", "fragment_origins"]


def fragment_origins(
    fragments: pl.DataFrame, all_fragments: pl.DataFrame, versions: pl.DataFrame
) -> pl.DataFrame:
    """Return the fragments of a version with the commit that made each.

    Parameters
    ----------
    fragments : polars.DataFrame
        What ``table.inspect.fragments()`` gives for the version.
    all_fragments : polars.DataFrame
        What ``table.inspect.all_fragments()`` gives.
    versions : polars.DataFrame
        What ``table.versions()`` gives.

    Returns
    -------
    polars.DataFrame
        ``fragments`` with ``made_in``, the version (UInt64), and ``made_by``, the kind of that
        commit (String). Both are null where the version that made the fragment is not known.
    """
    lives = fragment_lives(all_fragments, versions)
    version = fragments.select(pl.col("version").first()).to_series()
    present = lives.filter(
        (pl.col("first_version") <= version) & (pl.col("last_version") >= version)
    )
    return fragments.join(
        present.select("fragment_id", "made_in", "made_by"),
        on="fragment_id",
        how="left",
        maintain_order="left",
    )


def fragment_lives(all_fragments: pl.DataFrame, versions: pl.DataFrame) -> pl.DataFrame:
    """Return all states of fragments with the commit that made each fragment.

    Parameters
    ----------
    all_fragments : polars.DataFrame
        What ``table.inspect.all_fragments()`` gives.
    versions : polars.DataFrame
        What ``table.versions()`` gives.

    Returns
    -------
    polars.DataFrame
        ``all_fragments``, ordered by fragment and first version, with ``made_in`` and ``made_by``
        as above, and ``position`` and ``last_position`` (UInt32): where the first and the last
        version of the interval stand among the kept ones.
    """
    kept = versions.select("version", pl.col("kind").cast(pl.String)).with_row_index("position")
    return (
        all_fragments.join(kept.rename({"version": "first_version"}), on="first_version")
        .join(kept.select(last_version="version", last_position="position"), on="last_version")
        .sort("fragment_id", "first_version")
        .with_columns(is_new=~_goes_on())
        .with_columns(life=pl.col("is_new").cum_sum())
        .with_columns(made_in=_first_of_life("first_version"), made_by=_first_of_life("kind"))
        .drop("is_new", "life", "kind")
    )


def _goes_on() -> pl.Expr:
    """Whether a state continues the life of the state before."""
    same = pl.col("fragment_id") == pl.col("fragment_id").shift()
    next_version = pl.col("position") == pl.col("last_position").shift() + 1
    return (same & next_version & (pl.col("kind") != "overwrite")).fill_null(False)


def _first_of_life(column: str) -> pl.Expr:
    known = pl.when(pl.col("first_version_exact").first()).then(pl.col(column).first())
    return known.over("life")
