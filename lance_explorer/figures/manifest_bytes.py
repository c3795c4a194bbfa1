"""The parts of manifests in bytes, version by version."""

import plotly.graph_objects as go
import polars as pl
from plotly.subplots import make_subplots

from lance_explorer.figures.labels import byte_ticks, plural, size
from lance_explorer.figures.palette import PART_COLORS, apply_look
from lance_explorer.figures.version_axis import bar_width, bin_step, first_and_last, show_versions

__all__ = ["manifest_bytes"]

_COLUMNS = {
    "fragments": "fragments_bytes",
    "row IDs": "row_ids_bytes",
    "row versions": "row_versions_bytes",
    "indices": "index_section_bytes",
    "schema": "schema_bytes",
    "transaction": "transaction_bytes",
    "rest": "rest_bytes",
}


def manifest_bytes(manifests: pl.DataFrame) -> go.Figure:
    """Draw the size of each manifest by its parts.

    Parameters
    ----------
    manifests : polars.DataFrame
        What ``table.inspect.manifests()`` gives, or some of its rows.

    Returns
    -------
    plotly.graph_objects.Figure
        The picture that :func:`lance_explorer.figures.manifest_bytes` describes.

    Examples
    --------
    >>> len(manifest_bytes(table.inspect.manifests().tail(3)).data[0].x)
    3
    """
    figure = make_subplots(rows=1, cols=1)
    first, last = first_and_last(manifests["version"])
    step = bin_step(first, last)
    bins = ((pl.col("version") - first) // step).alias("bin")
    shown = manifests.group_by(bins, maintain_order=True).last()
    for name, column in _COLUMNS.items():
        if manifests[column].sum():
            _add_part(figure, shown, name, column, step)
    figure.update_yaxes(title_text="bytes", **byte_ticks(manifests["manifest_bytes"]))
    show_versions(figure, manifests["version"], row=1)
    figure.update_layout(
        barmode="stack",
        bargap=0,
        showlegend=True,
        legend={"orientation": "h", "y": 1.03, "yanchor": "bottom", "traceorder": "normal"},
    )
    return apply_look(figure, 380, _note(manifests, len(shown), step))


def _add_part(figure: go.Figure, shown: pl.DataFrame, name: str, column: str, step: int) -> None:
    figure.add_bar(
        x=shown["version"].to_list(),
        y=shown[column].to_list(),
        width=[bar_width(step)] * len(shown),
        name=name,
        marker={"color": PART_COLORS[name], "line": {"width": 0}},
        hovertext=[
            f"<b>version {version:,}</b><br>{name}: {size(part)} of {size(whole)}"
            for version, part, whole in shown.select(
                "version", column, "manifest_bytes"
            ).iter_rows()
        ],
        hoverinfo="text",
        row=1,
        col=1,
    )


def _note(manifests: pl.DataFrame, num_shown: int, step: int) -> str:
    whole = f"{plural(len(manifests), 'manifest')}, {size(int(manifests['manifest_bytes'].sum()))}"
    if step == 1:
        return whole
    return f"{whole}; {num_shown:,} of them drawn, the last of every {step:,} versions"
