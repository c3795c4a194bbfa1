"""Values and rows that are lost or forbidden, and doubtful columns: as findings."""

from dataclasses import replace
from typing import TypedDict

import polars as pl

from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.fragments import DataFile, Fragment
from lance_explorer.frames.findings import findings_frame
from lance_explorer.history.columns.doubt_findings import column_in_doubt
from lance_explorer.history.columns.lives import Doubt
from lance_explorer.history.paths import Line
from lance_explorer.history.uncertain_commits import uncertain_commit

__all__ = ["LostValues", "unknown_format"]

_LOST = ("values_lost", "value_file_missing")
_HINTS = {
    **dict.fromkeys(_LOST, "some values are lost: findings() says which, and why"),
    "column_in_doubt": "two columns may be one: findings() says which, and why",
    "detached_restored": "some rows are uncertain: findings() says which, and why",
    "removed_rows_lost": "which rows were removed is lost: findings() says why",
}
"""The codes of findings, with a short sentence each."""
_LATEST_FORMAT = (2, 3)
"""The latest known data format."""

_ALLOW = Remedy("If these files belong to the table, open it with allow_bases=[...].")


class LostValues:
    """The findings while values were read; repeated ones count once.

    It is true if values are lost.

    Attributes
    ----------
    missing : set of str
        The URIs of all files that were missing when they were asked for.
    """

    def __init__(self) -> None:
        self.missing = set[str]()
        self._found = dict[tuple[str | None, str], Finding]()

    def __bool__(self) -> bool:
        return not self._codes.isdisjoint(_LOST)

    @property
    def hint(self) -> str:
        """A few words if there are findings, else ""."""
        return "; ".join(
            dict.fromkeys([words for code, words in _HINTS.items() if code in self._codes])
        )

    @property
    def _codes(self) -> set[str]:
        return {finding.code for finding in self._found.values()}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was lost, as findings."""
        findings = self._found.values()
        return tuple(sorted(findings, key=lambda one: (one.branch or "", one.first_version or 0)))

    def frame(self) -> pl.DataFrame:
        """Return one row for each finding, by version."""
        return findings_frame(self.findings)

    def gap(self, rows: Line, position: int) -> None:
        """Record that versions just before one are lost, or that it restored a detached one."""
        if rows.history.is_uncertain[position]:
            self._note(replace(uncertain_commit(rows.history, position), branch=rows.view.branch))
        if not rows.history.num_lost_before[position]:
            return
        last = int(rows.history.versions[position]) - 1
        first = last - int(rows.history.num_lost_before[position]) + 1
        lost = f"versions {first} to {last} are" if first < last else f"version {last} is"
        kept = rows.history.records[position - 1].version if position else None
        self._note(
            Finding(
                "values_lost",
                f"{lost} not kept: values that rows had only in them are lost",
                versions=(first, last),
                branch=rows.view.branch,
                consequence=""
                if kept is None
                else f"Deleted rows have their values of version {kept}.",
                remedy=Remedy("Tag versions that should be kept."),
                is_mild=True,
            )
        )

    def begin_gone(self, rows: Line, version: int) -> None:
        """Record that the version before all changes is not kept."""
        self._note(
            Finding(
                "removed_rows_lost",
                f"version {version} is not kept: row versions show which rows were added and "
                "written after it, and not which were removed",
                subject=Subject("version", str(version)),
                versions=(version, version),
                branch=rows.view.branch,
            )
        )

    def version_gone(self, rows: Line, position: int) -> None:
        """Record that a version was removed while it was read."""
        file = rows.history.records[position].file
        self.missing.add(f"{rows.view.storage.uri}/{file.path}")
        self._note(
            Finding(
                "values_lost",
                "the version was removed before its values were read",
                remedy=Remedy("refresh() the table and try again."),
                **_at(rows, position),
            )
        )

    def recorded_only(self, rows: Line, position: int, why: str) -> None:
        """Record that only a ledger has a version, and why its values are not read."""
        remedy = Remedy(
            "Record with values=True before a cleanup, or tag versions whose values should be kept."
        )
        self._note(Finding("values_lost", why, remedy=remedy, is_mild=True, **_at(rows, position)))

    def refused(self, rows: Line, position: int, error: Exception) -> None:
        """Record that no values of a version are read, since its files are elsewhere."""
        why = error.__cause__ or error
        self._note(
            Finding(
                "values_lost", f"values are not read: {why}", remedy=_ALLOW, **_at(rows, position)
            )
        )

    def blobs_refused(self, rows: Line, position: int, column: str) -> None:
        """Record that blobs of a column are not read, since they are elsewhere."""
        self._note(
            Finding(
                "values_lost",
                f"blobs of column {column!r} are not read: they are in a place that is not allowed",
                subject=Subject("column", column),
                columns=(column,),
                remedy=_ALLOW,
                **_at(rows, position),
            )
        )

    def file_gone(self, rows: Line, position: int, fragment_id: int, root: str, path: str) -> None:
        """Record that a data file is missing, given by the URI of its root and its path."""
        self.missing.add(f"{root}/{path}")
        self._note(
            Finding(
                "value_file_missing",
                f"{path} is missing, and so are the values in it",
                subject=Subject("fragment", str(fragment_id), path),
                **_at(rows, position),
            )
        )

    def has_unknown_format(self, rows: Line, position: int) -> bool:
        """Return whether a version has a data file of an unknown format, and record it."""
        place = unknown_format(rows, position)
        if place is None:
            return False
        fragment, file = place
        self._note(
            Finding(
                "values_lost",
                f"values are not read: {file.path} has the unknown data format "
                f"{file.major_version}.{file.minor_version}",
                subject=Subject("fragment", str(fragment.id), file.path),
                remedy=Remedy("Install a newer release of pylance."),
                **_at(rows, position),
            )
        )
        return True

    def column_in_doubt(self, doubt: Doubt, branch: str | None, branch_before: str | None) -> None:
        """Record that two columns may be the same, as far as kept versions show."""
        self._note(column_in_doubt(doubt, branch, branch_before))

    def _note(self, finding: Finding) -> None:
        """Keep the earliest of equal findings."""
        key = finding.branch, f"{finding.subject}{finding.statement}"
        before = self._found.setdefault(key, finding)
        if (finding.first_version or 0) < (before.first_version or 0):
            self._found[key] = finding


def unknown_format(rows: Line, position: int) -> tuple[Fragment, DataFile] | None:
    """Return a data file of a version whose format is unknown: pylance cannot read it."""
    for state in rows.history.states_at(position):
        fragment = rows.history.states[state]
        for file in fragment.files:
            if (file.major_version, file.minor_version) > _LATEST_FORMAT:
                return fragment, file
    return None


class _Place(TypedDict):
    versions: tuple[int, int]
    branch: str | None


def _at(rows: Line, position: int) -> _Place:
    version = rows.history.records[position].version
    return {"versions": (version, version), "branch": rows.view.branch}
