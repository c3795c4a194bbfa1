"""The origin of a fragment: the commit in which its life began."""

import polars as pl

__all__ = ["fragment_origins", "state_origins"]


def fragment_origins(
    fragments: pl.DataFrame, all_fragments: pl.DataFrame, versions: pl.DataFrame
) -> pl.DataFrame:
    """Return the fragments of a version with the commits that created them.

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
        ``fragments`` with ``created_in``, the version (UInt64), and ``created_by`` and
        ``created_by_operation``, the kind and the operation of that commit (String). They are null
        where the version that made the fragment is not known.
    """
    states = state_origins(all_fragments, versions)
    version = fragments.select(pl.col("version").first()).to_series()
    present = states.filter(
        (pl.col("first_version") <= version) & (pl.col("last_version") >= version)
    )
    return fragments.join(
        present.select("fragment_id", "created_in", "created_by", "created_by_operation"),
        on="fragment_id",
        how="left",
        maintain_order="left",
    )


def state_origins(all_fragments: pl.DataFrame, versions: pl.DataFrame) -> pl.DataFrame:
    """Return all states of fragments with the commits that created the fragments.

    Parameters
    ----------
    all_fragments : polars.DataFrame
        What ``table.inspect.all_fragments()`` gives.
    versions : polars.DataFrame
        What ``table.versions()`` gives.

    Returns
    -------
    polars.DataFrame
        ``all_fragments``, ordered by fragment and first version, with ``created_by`` and
        ``created_by_operation`` as above, and ``position`` and ``last_position`` (UInt32) of the
        first and the last version of the interval among the kept ones.
    """
    kept = versions.select("version").with_row_index("position")
    kinds = versions.select(
        created_in="version",
        created_by=pl.col("kind").cast(pl.String),
        created_by_operation=pl.col("operation").cast(pl.String),
    )
    return (
        all_fragments.join(kept.rename({"version": "first_version"}), on="first_version")
        .join(kept.select(last_version="version", last_position="position"), on="last_version")
        .join(kinds, on="created_in", how="left")
        .sort("fragment_id", "first_version")
    )
