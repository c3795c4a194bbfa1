"""What a cleanup of each table of a database would free."""

from collections.abc import Mapping

import polars as pl

from lance_explorer.answers import Answer, Section, said
from lance_explorer.database.members import Member
from lance_explorer.database.of_tables import OfTables
from lance_explorer.disk.cleanup_preview import CleanupPreview
from lance_explorer.errors import LanceExplorerError
from lance_explorer.frames.columns import BYTES, COUNT, TEXT, Column, FrameSchema
from lance_explorer.frames.documented import documented
from lance_explorer.frames.sizes import byte_size, counted

__all__ = ["CLEANUPS", "DatabaseCleanup"]

CLEANUPS = FrameSchema(
    "database_cleanup",
    (
        Column("name", TEXT, "name of the table"),
        Column("freed_bytes", BYTES, "size of the files that would go", True, "bytes"),
        Column("num_files", COUNT, "how many files would go", nullable=True),
        Column("num_versions", COUNT, "how many versions could no longer be opened", nullable=True),
        Column("read_bytes", BYTES, "size of the manifests that it would read", True, "bytes"),
        Column("problem", TEXT, "what it would break, or why it is not known", nullable=True),
        Column("code", TEXT, "the call that does it and breaks nothing; empty: none does"),
    ),
)
"""The columns of ``DatabaseCleanup.tables()``."""

_MOST_CALLS = 3


class DatabaseCleanup(OfTables[CleanupPreview]):
    """What a cleanup of each table of a database would free; nothing is removed.

    Made by :meth:`Database.cleanup_preview`. ``preview["photos"]`` is the preview of one table.

    Attributes
    ----------
    answer : Answer
        What each table would free, and the best calls.

    Examples
    --------
    >>> preview = database.cleanup_preview(retain_versions=2)
    >>> preview["people"].num_versions
    3
    >>> preview.freed_bytes == preview["people"].freed_bytes
    True
    """

    def __init__(
        self,
        name: str,
        found: Mapping[str, CleanupPreview | LanceExplorerError],
        members: Mapping[str, Member],
    ) -> None:
        super().__init__(name, found)
        self._members = members

    @property
    def freed_bytes(self) -> int:
        """Size of all files that would be removed."""
        return int(self.tables()["freed_bytes"].sum())

    @documented(CLEANUPS)
    def tables(self) -> pl.DataFrame:
        """Return one row for each table, what frees most first.

        Examples
        --------
        >>> row = database.cleanup_preview(retain_versions=2).tables().row(0, named=True)
        >>> row["code"]
        'dataset.cleanup_old_versions(retain_versions=2, error_if_tagged_old_versions=False)'
        """
        frame = CLEANUPS.build(
            {
                "name": [*self._found],
                **{
                    part: [getattr(one, part, None) for one in self._found.values()]
                    for part in ("freed_bytes", "num_files", "num_versions", "read_bytes")
                },
                "problem": [_problem(one) for one in self._found.values()],
                "code": [getattr(one, "code", "") for one in self._found.values()],
            }
        )
        return frame.sort("freed_bytes", descending=True, nulls_last=True, maintain_order=True)

    @property
    def code(self) -> str:
        """The calls of the three tables whose cleanups free most; "" if there are none."""
        some = self.tables().filter(pl.col("freed_bytes") > 0, pl.col("code") != "")
        if some.is_empty():
            return ""
        given, calls = dict[str, None](), list[str]()
        for name, code in some.head(_MOST_CALLS).select("name", "code").iter_rows():
            lines, opening = self._members[name].dataset_code()
            given |= dict.fromkeys(lines)
            calls += ["", f"dataset = {opening}", code]
        ages = ["from datetime import timedelta", ""] if "timedelta(" in "".join(calls) else []
        return "\n".join([*ages, "import lance", *([""] if given else ()), *given, *calls])

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        tables = self.tables()
        freeing = tables.filter(pl.col("freed_bytes") > 0)
        if freeing.is_empty():
            return f"cleanups of {counted(len(tables), 'table')} free nothing"
        files = int(freeing["num_files"].sum())
        versions = int(freeing["num_versions"].sum())
        broken = tables["problem"].drop_nulls().len()
        harm = f"; of {counted(broken, 'table')} see the problem" if broken else ""
        return (
            f"cleanups of {counted(len(freeing), 'table')} free {byte_size(self.freed_bytes)} in "
            f"{counted(files, 'file')}, and {counted(versions, 'version')} can no longer be "
            f"opened; they read {byte_size(int(freeing['read_bytes'].sum()))} of manifests{harm}"
        )

    @property
    def answer(self) -> Answer:
        """What each table would free, and the calls of the three that free most."""
        tables = self.tables()
        seen = tables.drop("code")
        section = Section(
            "tables", "By table", tables, shown=seen, words=("problem",), schema=CLEANUPS
        )
        totals = {"freed_bytes": self.freed_bytes}
        return Answer(
            said(self.sentence),
            (Section("totals", None, totals), section),
            self.code,
            is_call=True,
        )


def _problem(answer: CleanupPreview | LanceExplorerError) -> str | None:
    if isinstance(answer, LanceExplorerError):
        return str(answer)
    return answer.problem or " ".join(answer.breaks) or None
