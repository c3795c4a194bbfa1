"""The owner of each object of a table: every object has one status, and a reason."""

from collections.abc import Iterable, Sequence

import polars as pl

from lance_explorer.disk.named_files import KINDS
from lance_explorer.disk.roots import OWN
from lance_explorer.disk.survey import Survey, survey
from lance_explorer.frames.columns import BYTES, ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import check_not_forked

__all__ = ["DAYS_IN_FLIGHT", "STATUSES", "STORAGE", "owned", "owned_lazily", "storage"]

DAYS_IN_FLIGHT = 7
"""For this long, Lance assumes that an unnamed file may be one of a running commit."""

STATUSES = ("live", "old", "pinned", "in_flight", "orphan", "missing", "wrong_size", "unknown")
"""The possible statuses of an object; see :data:`STORAGE`."""

STORAGE = FrameSchema(
    "storage",
    (
        Column("base_uri", TEXT, "root below which the object is: that of the table, or a base"),
        Column("path", TEXT, "path below that root"),
        Column(
            "kind",
            pl.Enum(KINDS),
            "its purpose; `blob`: large values of a data file; `reuse`: where compactions "
            "moved rows; `hint`: which version is the latest; `computed`: from what LanceDB "
            "computed a column; `other`: no file of Lance",
        ),
        Column("size_bytes", BYTES, "size on disk; null: it is missing", True, "bytes"),
        Column("named_bytes", BYTES, "size that a manifest names", True, "bytes"),
        Column("modified", TIME, "when it was written; null: it is missing", nullable=True),
        Column(
            "status",
            pl.Enum(STATUSES),
            "`live`: the latest version needs it; `old`: only older kept versions do; `pinned`: a "
            "tag, another branch, a detached version or a clone keeps it; `in_flight`: nobody "
            f"names it, and it is younger than {DAYS_IN_FLIGHT} days: a commit may be under way; "
            "`orphan`: nobody names it, and it is older; `missing`: it is named and not there; "
            "`wrong_size`: it has another size than is named; `unknown`: nobody names it, but not "
            "all could be read, or it is no file of Lance, or its place may not be read, or it "
            "lies in a base path, which other tables may use",
        ),
        Column(
            "is_own",
            pl.Boolean(),
            "whether it lies in a place of this table, its root or a base path that is no other "
            "table, and nothing says that another table wrote it; null: a clone or its source did",
            nullable=True,
        ),
        Column("reason", TEXT, "why it has that status"),
        Column("written_by", ID, "version that wrote it; null: a lost one, or none", nullable=True),
        Column("needed_by", TEXT, "the versions, tags, branches that need it", nullable=True),
        Column(
            "branch",
            TEXT,
            "branch whose versions these are; null: the main branch, or none",
            nullable=True,
        ),
        Column("first_version", ID, "first kept version that needs it", nullable=True),
        Column("last_version", ID, "last kept version that needs it", nullable=True),
    ),
)
"""The columns of ``inspect.storage()``."""

_Verdict = tuple[pl.Expr, str, pl.Expr]
"""A condition, and the status and reason of objects for which it holds."""

_FOLDERS = (
    "_versions|_transactions|_deletions|_indices|_refs|_mem_wal|_fri|_bt|_blobs|_computed|data"
)
_KINDS_BY_PATTERN = (
    ("manifest", r"^_versions/[^/]*\.manifest|^_versions/\.tmp|^_latest\.manifest$|^_bt/"),
    ("hint", r"^_versions/[^/]*\.json$"),
    ("data", r"^data/.*\.lance$|^data/(?:.*/)?\.tmp[^/]*$"),
    ("blob", r"^data/[^/]+/[^/]+\.blob$|^_blobs/"),
    ("deletion", r"^_deletions/[^/]*\.(arrow|bin)$"),
    ("index", r"^_indices/"),
    ("transaction", r"^_transactions/[^/]*\.txn$"),
    ("ref", r"^_refs/"),
    ("reuse", r"^_fri/"),
    ("mem_wal", r"^_mem_wal/"),
    ("computed", r"^_computed/[^/]*\.sig$"),
)
_FLAT_KINDS = (
    ("data", r"^[^/]+\.lance$"),
    ("blob", r"^[^/]+/[^/]+\.blob$"),
)
"""Kinds by path in a base that is no dataset root, where data files are at the top."""

_FEW = 10_000
"""Up to this many objects, all columns are kept with their survey."""

_OF_A_BRANCH = ("hint", "ref", "mem_wal")
"""Kinds that no manifest names file by file."""


def storage(view: HistoryView, clones: Iterable[HistoryView] = ()) -> pl.DataFrame:
    """Return one row for each object below the root of the table, and each named one."""
    return owned(survey(view, clones))


def owned(surveyed: Survey) -> pl.DataFrame:
    """Return one row for each object of a survey, in the order of their paths."""
    frame = owned_lazily(surveyed).collect().sort("base_uri", "path")
    return STORAGE.build(frame.to_dict())


def owned_lazily(surveyed: Survey) -> pl.LazyFrame:
    """Return the same in any order; unused columns cost nothing.

    For few objects it is made once: several checks and sums use it.
    """
    check_not_forked()
    if surveyed.owned is None:
        rows = _owned(surveyed)
        if len(surveyed.objects) > _FEW:
            return rows
        surveyed.owned = rows.collect()
    return surveyed.owned.lazy()


def _owned(surveyed: Survey) -> pl.LazyFrame:
    branches = [None, *surveyed.view.refs.branches]
    owners = _owners(surveyed)
    objects = _classified(surveyed.objects, branches)
    rows = objects.join(owners, on=["root", "key"], how="left")
    sizes = _named_files(surveyed)
    rows = rows.join(sizes, on=["root", "path"], how="left")
    gone = sizes.join(objects, on=["root", "path"], how="anti")
    if not gone.is_empty():
        rows = pl.concat([rows, _missing(gone, owners, branches)], how="diagonal")
    return _with_reasons(surveyed, rows)


def _classified(objects: pl.DataFrame, branches: Sequence[str | None]) -> pl.DataFrame:
    """Return objects with their branch, their kind, and the manifests that name them."""
    is_tree = pl.col("path").str.starts_with("tree/") & (pl.col("root") == OWN)
    trees = objects.filter(is_tree).select("path").unique()
    lies_in = pl.lit(None, pl.String)
    for name in sorted([name for name in branches if name], key=len):
        folder = f"tree/{name}/"
        lies_in = (
            pl.when(pl.col("path").str.starts_with(folder)).then(pl.lit(name)).otherwise(lies_in)
        )
    unlisted = pl.col("path").str.extract(rf"^(tree/.*?/)(?:{_FOLDERS})/").fill_null("tree/")
    trees = trees.with_columns(lies_in=lies_in).with_columns(
        prefix=pl.when(pl.col("lies_in").is_null())
        .then(unlisted)
        .otherwise("tree/" + pl.col("lies_in") + "/"),
    )
    inner = pl.col("path").str.slice(pl.col("prefix").str.len_chars())
    kind = pl.lit("other")
    for of_kind, pattern in _FLAT_KINDS:
        is_flat = (pl.col("root") != OWN) & inner.str.contains(pattern)
        kind = pl.when(is_flat).then(pl.lit(of_kind)).otherwise(kind)
    for of_kind, pattern in reversed(_KINDS_BY_PATTERN):
        kind = pl.when(inner.str.contains(pattern)).then(pl.lit(of_kind)).otherwise(kind)
    placed = objects.join(trees, on="path", how="left", maintain_order="left").with_columns(
        is_listed=pl.col("prefix").is_null() | pl.col("lies_in").is_not_null(),
        prefix=pl.col("prefix").fill_null(""),
    )
    index_folder = inner.str.extract(r"^(_indices/[^/]+/)")
    data_file = inner.str.replace(r"^((?:data/)?[^/]+)/[^/]+\.blob$", "${1}.lance")
    return placed.with_columns(kind=kind).with_columns(
        key=pl.when(pl.col("kind") == "index")
        .then(pl.col("prefix") + index_folder)
        .when(pl.col("kind") == "blob")
        .then(pl.col("prefix") + data_file)
        .otherwise("path")
        .fill_null(pl.col("path"))
    )


def _owners(surveyed: Survey) -> pl.DataFrame:
    """Return one row for each reference: who needs it, by its root and path."""
    is_branch = pl.col("branch").eq_missing(pl.lit(surveyed.view.branch, pl.String))
    is_own = is_branch & pl.col("clone").is_null() & ~pl.col("is_detached")
    name = pl.col("branch").fill_null("main")
    pin = (
        pl.when(pl.col("clone").is_not_null())
        .then("clone " + pl.col("clone"))
        .when("is_detached")
        .then("detached version " + pl.col("first").cast(pl.String))
        .when(~is_own)
        .then("branch " + name)
    )
    rows = surveyed.named.frame.with_columns(is_own=is_own, pin=pin, tag="tag " + pl.col("tags"))
    pins = (
        rows.select("root", "path", pl.concat_list("pin", "tag").alias("pins"))
        .explode("pins")
        .drop_nulls("pins")
        .group_by("root", "path")
        .agg(pins=pl.col("pins").unique().sort().str.join(", "))
    )
    # Its own branch knows its range of versions best, then the main branch, then the first other.
    best = rows
    if surveyed.view.refs.branches or rows["is_detached"].any() or rows["clone"].count():
        order = (~pl.col("is_own"), pl.col("clone").is_not_null(), "is_detached", "branch")
        best = rows.sort(*order, nulls_last=False)
    each = best.group_by("root", "path").agg(
        pl.first("branch", "first", "last", "is_exact", "is_own").name.keep(),
        owner_kind=pl.first("kind"),
        is_live=(pl.col("is_own") & pl.col("is_latest")).any(),
        is_written=_is_written(surveyed),
    )
    return each.join(pins, on=["root", "path"], how="left").rename({"path": "key"})


def _is_written(surveyed: Survey) -> pl.Expr:
    """Return whether the table itself wrote the named files in a base path; null: unknown."""
    is_of_table = pl.col("clone").is_null()
    is_others = (~is_of_table & pl.col("is_exact")).any() & ~is_of_table.any()
    if not surveyed.named.roots.is_of_clone:
        return ~is_others
    # Its source wrote the files that it had when the clone was made. If that version is lost, it is
    # unknown.
    is_first = pl.col("first") == pl.lit(surveyed.named.cloned_in, pl.UInt64)
    is_source = is_of_table & pl.col("branch").is_null() & is_first
    return (
        pl.when((is_of_table & pl.col("is_exact")).any())
        .then(pl.lit(True))
        .when(is_source.any() | is_others)
        .then(pl.lit(False))
    )


def _named_files(surveyed: Survey) -> pl.DataFrame:
    """Return the objects that are named one by one, with the named size."""
    files = surveyed.named.frame.filter(~pl.col("is_folder"))
    return files.group_by("root", "path").agg(
        named_bytes=pl.col("named_bytes").max(), named_kind=pl.first("kind")
    )


def _missing(
    gone: pl.DataFrame, owners: pl.DataFrame, branches: Sequence[str | None]
) -> pl.DataFrame:
    """Return the objects that are named but were not found."""
    empty = gone.with_columns(size_bytes=pl.lit(None, pl.Int64), modified_ns=pl.lit(None, pl.Int64))
    placed = _classified(empty, branches)
    return placed.join(owners, on=["root", "key"], how="left")


def _with_reasons(surveyed: Survey, every: pl.DataFrame) -> pl.LazyFrame:
    """Return the frame: status and reason of each row."""
    first, last = [pl.col(name).cast(pl.String) for name in ("first", "last")]
    versions = (
        pl.when(pl.col("first") == pl.col("last"))
        .then("version " + first)
        .otherwise("versions " + first + " to " + last)
    )
    own_versions = pl.when(pl.col("is_own")).then(versions)
    needed_by = (
        pl.when(pl.col("is_named") | pl.col("pins").is_not_null())
        .then(pl.concat_str(own_versions, "pins", separator=", ", ignore_nulls=True))
        .otherwise(None)
    )
    status, reason = _first_that_holds(_verdicts(surveyed, versions, needed_by))
    uris = pl.Series(surveyed.named.roots.uris, dtype=pl.String)
    modified = pl.col("modified_ns").cast(pl.Datetime("ns", "UTC")).dt.cast_time_unit("us")
    return _with_facts(surveyed, every).select(
        base_uri=pl.col("root").replace_strict(range(len(uris)), uris, return_dtype=pl.String),
        path=pl.col("path"),
        kind=pl.col("kind").cast(pl.Enum(KINDS)),
        size_bytes=pl.col("size_bytes"),
        named_bytes=pl.col("named_bytes"),
        modified=modified,
        status=status.cast(pl.Enum(STATUSES)),
        is_own=_is_own(surveyed),
        reason=reason,
        written_by=pl.when("is_exact").then("first"),
        needed_by=needed_by,
        branch=pl.col("branch"),
        first_version=pl.col("first"),
        last_version=pl.col("last"),
    )


def _is_own(surveyed: Survey) -> pl.Expr:
    """Return whether an object is of this table."""
    is_written = pl.when("is_named").then("is_written").otherwise(pl.lit(True))
    in_base = pl.col("root").is_in([*surveyed.named.roots.bases])
    return pl.when(pl.col("root") == OWN).then(True).when(in_base).then(is_written).otherwise(False)


def _with_facts(surveyed: Survey, every: pl.DataFrame) -> pl.LazyFrame:
    """Return the rows with their kind, whether they are named or live, and what pins them."""
    own_name = surveyed.view.branch
    lies_own = pl.col("lies_in").eq_missing(pl.lit(own_name, pl.String))
    is_kept_whole = pl.col("kind").is_in(_OF_A_BRANCH) & pl.col("is_listed") & (
        (pl.col("kind") != "mem_wal") | pl.lit(surveyed.named.has_mem_wal)
    ) | (pl.col("path") == "_latest.manifest")
    return (
        every.lazy()
        .with_columns(
            kind=pl.when(pl.col("kind") == "index")
            .then(pl.col("owner_kind").fill_null("index"))
            .when(pl.col("kind") == "other")
            .then(pl.col("named_kind").fill_null("other"))
            .otherwise("kind"),
            is_named=pl.col("first").is_not_null(),
            is_whole=is_kept_whole.fill_null(False),
        )
        .with_columns(
            is_live=pl.col("is_live").fill_null(False)
            | (pl.col("is_whole") & (lies_own | (pl.col("kind") == "ref"))),
            pins=pl.when(pl.col("is_whole") & ~pl.col("is_named") & ~lies_own)
            .then("branch " + pl.col("lies_in").fill_null("main"))
            .otherwise("pins"),
        )
    )


def _verdicts(surveyed: Survey, versions: pl.Expr, needed_by: pl.Expr) -> list[_Verdict]:
    """Return the possible statuses of an object; the first that holds counts."""
    young_ns = DAYS_IN_FLIGHT * 24 * 3600 * 10**9
    is_young = pl.col("modified_ns") > surveyed.listed_ns - young_ns
    closed = pl.Series([problem is not None for problem in surveyed.named.roots.problems])
    why_closed = pl.Series(surveyed.named.roots.problems, dtype=pl.String)
    is_closed = pl.col("root").replace_strict(range(len(closed)), closed, return_dtype=pl.Boolean)
    problems = surveyed.problems
    unread = (
        f"{len(problems):,} of what may name it cannot be read: {problems[0]}" if problems else ""
    )
    in_base = (
        pl.when(pl.col("root") != OWN)
        .then(pl.lit("; another table may use this base path, and a cleanup does not look there"))
        .otherwise(pl.lit(""))
    )
    return [
        (
            is_closed & pl.col("size_bytes").is_null(),
            "unknown",
            pl.col("root").replace_strict(
                range(len(why_closed)), why_closed, return_dtype=pl.String
            ),
        ),
        (pl.col("size_bytes").is_null(), "missing", "not there, and needed by " + needed_by),
        (
            pl.col("named_bytes") != pl.col("size_bytes"),
            "wrong_size",
            pl.col("named_bytes").cast(pl.String) + " bytes are named, and it has others",
        ),
        (
            pl.col("is_live"),
            "live",
            pl.when("is_named")
            .then(pl.lit(f"version {surveyed.view.latest_version}, the latest, needs it"))
            .otherwise(pl.lit("the table needs it in every version")),
        ),
        (pl.col("pins").is_not_null(), "pinned", "kept by " + pl.col("pins")),
        (pl.col("is_named"), "old", "needed only by " + versions),
        (
            pl.col("kind").is_in(["other", "mem_wal"]) & pl.col("is_listed"),
            "unknown",
            pl.lit("not a known file of Lance, or named by no manifest"),
        ),
        (pl.lit(bool(problems)), "unknown", pl.lit(f"no version names it; but {unread}")),
        (
            is_young,
            "in_flight",
            f"no version names it, and it is younger than {DAYS_IN_FLIGHT} days: a commit may "
            "be under way, or have failed" + in_base,
        ),
        (pl.col("root") != OWN, "unknown", "no version names it" + in_base),
        (
            pl.lit(True),
            "orphan",
            pl.lit(f"no version names it, and it is older than {DAYS_IN_FLIGHT} days"),
        ),
    ]


def _first_that_holds(verdicts: list[_Verdict]) -> tuple[pl.Expr, pl.Expr]:
    """Return status and reason by the first condition that is true; null counts as false."""
    status, reason = pl.lit(None, pl.String), pl.lit(None, pl.String)
    for condition, name, why in reversed(verdicts):
        holds = condition.fill_null(False)
        status = pl.when(holds).then(pl.lit(name)).otherwise(status)
        reason = pl.when(holds).then(why).otherwise(reason)
    return status, reason
