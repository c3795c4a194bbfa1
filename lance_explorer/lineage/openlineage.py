"""The versions of a table as OpenLineage events, for data catalogs.

Each commit is one completed run of a job that read the version before and wrote its own version.
The output facet ``lance_fragments`` says from which fragments rows came. The facet
``columnLineage`` says from which columns LanceDB computes others; the source of a view is an input.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import NAMESPACE_URL, uuid5

import polars as pl

from lance_explorer.errors import MissingDependencyError
from lance_explorer.format.table_operations import Clone, Restore
from lance_explorer.frames.derived import Derivation, derivations, view_source
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["openlineage_events"]

_PRODUCER = "urn:lance-explorer"
_EDGE_COLUMNS = ("from_node", "to_node", "kind", "rows", "evidence")
_LIFECYCLE = {"create": "CREATE", "overwrite": "OVERWRITE", "branch": "CREATE", "schema": "ALTER"}


def openlineage_events(
    view: HistoryView, fragments: pl.DataFrame, edges: pl.DataFrame, namespace: str
) -> list[Any]:
    """Return one event for each kept version of a branch, oldest first.

    Raises
    ------
    MissingDependencyError
        If openlineage-python is not installed.
    """
    try:
        import openlineage.client.event_v2  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            "OpenLineage events need openlineage-python: pip install 'lance-explorer[openlineage]'"
        ) from error
    own = fragments.filter(
        pl.col("table").is_null(), pl.col("branch").eq_missing(pl.lit(view.branch, pl.String))
    )
    made = own.group_by("first_version").agg(
        pl.col("kind").first(),
        pl.when(pl.col("num_rows_at_first").null_count() == 0)
        .then(pl.col("num_rows_at_first").sum())
        .alias("rows"),
    )
    written = {version: (kind, rows) for version, kind, rows in made.iter_rows()}
    ways: dict[int, list[dict[str, Any]]] = defaultdict(list)
    ours = edges.join(own, left_on="to_node", right_on="node", how="semi", maintain_order="left")
    for version, *facts in ours.select("version", *_EDGE_COLUMNS).iter_rows():
        ways[version].append(dict(zip(_EDGE_COLUMNS, facts, strict=True)))
    return [
        _event(view, record, namespace, written.get(record.version), ways[record.version])
        for record in view.history.records
    ]


def _event(
    view: HistoryView,
    record: VersionRecord,
    namespace: str,
    written: tuple[str, int | None] | None,
    ways: list[dict[str, Any]],
) -> Any:
    from openlineage.client import event_v2, facet_v2

    header = record.transaction.header if record.transaction else None
    run_id = header.uuid if header else str(uuid5(NAMESPACE_URL, f"{_uri(view)}@{record.version}"))
    facets: dict[str, Any] = {"version": _version_facet(record.version)}
    if written is not None and written[0] in _LIFECYCLE:
        facets["lifecycleStateChange"] = _lifecycle_facet(_LIFECYCLE[written[0]])
    output_facets: dict[str, Any] = {
        "lance_fragments": facet_v2.OutputDatasetFacet(
            producer=_PRODUCER
        ).with_additional_properties(edges=ways)
    }
    if written is not None and written[1] is not None:
        output_facets["outputStatistics"] = _statistics_facet(written[1])
    place, name = _dataset(_uri(view))
    derived = derivations(record)
    computed = [one for one in derived if one.column is not None]
    if computed:
        facets["columnLineage"] = _column_lineage_facet(place, name, computed)
    return event_v2.RunEvent(
        eventTime=_time(record).isoformat(),
        producer=_PRODUCER,
        eventType=event_v2.RunState.COMPLETE,
        run=event_v2.Run(runId=run_id),
        job=event_v2.Job(namespace=namespace, name=f"{name}.{record.operation or 'unknown'}"),
        inputs=[
            event_v2.InputDataset(*_dataset(uri), facets={"version": _version_facet(version)})
            for uri, version in [*_inputs(view, record), *_view_inputs(view, record, derived)]
        ],
        outputs=[event_v2.OutputDataset(place, name, facets=facets, outputFacets=output_facets)],
    )


def _inputs(view: HistoryView, record: VersionRecord) -> list[tuple[str, int]]:
    """Return the inputs of a commit: their locations and versions."""
    transaction = view.transaction(record)
    operation = transaction.operation if transaction else None
    if isinstance(operation, Clone):
        return [(operation.ref_path, operation.ref_version)]
    before = [(_uri(view), record.version - 1)] if record.version > 1 else []
    if isinstance(operation, Restore) and operation.version != record.version - 1:
        return [*before, (_uri(view), operation.version)]
    return before


def _view_inputs(
    view: HistoryView, record: VersionRecord, derived: tuple[Derivation, ...]
) -> list[tuple[str, int]]:
    """Return the source of a view that a commit computed: a table beside it, and its version."""
    sources = [(view_source(view.uri, one), one.refreshed_version) for one in derived]
    return [
        (uri, version)
        for uri, version in sources
        if uri is not None and version is not None and version != _refreshed_before(view, record)
    ]


def _refreshed_before(view: HistoryView, record: VersionRecord) -> int | None:
    """Return the version of its source that a view had before a commit; None if it had none."""
    position = view.history.position(record.version)
    before = derivations(view.history.records[position - 1]) if position else ()
    return next((one.refreshed_version for one in before if one.column is None), None)


def _column_lineage_facet(place: str, name: str, computed: Sequence[Derivation]) -> Any:
    """Return for each computed column the columns that it is computed from."""
    from openlineage.client.facet_v2 import column_lineage_dataset as lineage

    return lineage.ColumnLineageDatasetFacet(
        fields={
            str(one.column): lineage.Fields(
                inputFields=[
                    lineage.InputField(
                        namespace=place,
                        name=name,
                        field=field,
                        transformations=[
                            lineage.Transformation(
                                type="DIRECT",
                                subtype="TRANSFORMATION",
                                description=one.expression,
                            )
                        ],
                    )
                    for field in one.inputs
                ]
            )
            for one in computed
        },
        producer=_PRODUCER,
    )


def _version_facet(version: int) -> Any:
    from openlineage.client.facet_v2 import dataset_version_dataset

    return dataset_version_dataset.DatasetVersionDatasetFacet(str(version), producer=_PRODUCER)


def _lifecycle_facet(change: str) -> Any:
    from openlineage.client.facet_v2 import lifecycle_state_change_dataset as lifecycle

    return lifecycle.LifecycleStateChangeDatasetFacet(
        lifecycle.LifecycleStateChange(change), producer=_PRODUCER
    )


def _statistics_facet(rows: int) -> Any:
    from openlineage.client.facet_v2 import output_statistics_output_dataset as statistics

    return statistics.OutputStatisticsOutputDatasetFacet(rowCount=rows, producer=_PRODUCER)


def _uri(view: HistoryView) -> str:
    """Return where the branch lies."""
    return view.storage.uri


def _dataset(uri: str) -> tuple[str, str]:
    """Return namespace and name of a location, in the way OpenLineage names files."""
    parts = urlsplit(uri)
    if parts.scheme in ("", "file", "file-object-store"):
        return "file", parts.path
    return f"{parts.scheme}://{parts.netloc}", parts.path.lstrip("/")


def _time(record: VersionRecord) -> datetime:
    """Return when a version was committed; if it does not say, when its manifest was written."""
    return record.manifest.timestamp or datetime.fromtimestamp(record.file.modified_ns / 1e9, UTC)
