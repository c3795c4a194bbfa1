"""Values and rows that are gone, or may not be read, and columns in doubt: as findings."""

from dataclasses import replace

import polars as pl

from lance_explorer.findings import Finding, Severity
from lance_explorer.frames.findings import findings_frame
from lance_explorer.history.columns.lives import Doubt
from lance_explorer.history.paths import Line
from lance_explorer.history.uncertain_commits import uncertain_commit

__all__ = ["LostValues"]

_HINTS = {
    "values_lost": "some values are lost: findings() says which, and why",
    "column_in_doubt": "two columns may be one: findings() says which, and why",
    "detached_restored": "some rows are uncertain: findings() says which, and why",
    "removed_rows_lost": "which rows were removed is lost: findings() says why",
}
"""The codes of what is found, and what is said of it in short."""
_LATEST_FORMAT = (2, 3)
"""Latest data format that is known."""

_ALLOW = "If these files belong to the table, open it with allow_bases=[...]."


class LostValues:
    """What was found while values were read; what is found again counts once.

    It is true if values are lost.

    Attributes
    ----------
    missing : set of str
        The URIs of all files that were missing when they were asked for.
    """

    def __init__(self) -> None:
        self.missing = set[str]()
        self._found = dict[tuple[str | None, int | None, str], Finding]()

    def __bool__(self) -> bool:
        return "values_lost" in self._codes

    @property
    def hint(self) -> str:
        """A few words if something was found, else none."""
        return "; ".join([words for code, words in _HINTS.items() if code in self._codes])

    @property
    def _codes(self) -> set[str]:
        return {finding.code for finding in self._found.values()}

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was lost, as findings."""
        return tuple([finding for _, finding in self._sorted])

    def frame(self) -> pl.DataFrame:
        """Return one row for each finding, by version."""
        found = self._sorted
        return findings_frame([finding for _, finding in found], [key[0] for key, _ in found])

    @property
    def _sorted(self) -> list[tuple[tuple[str | None, int | None, str], Finding]]:
        return sorted(
            self._found.items(), key=lambda item: (item[0][0] or "", item[1].version or 0)
        )

    def gap(self, rows: Line, position: int) -> None:
        """Note that versions just before one are lost, or that it restored a detached one."""
        if rows.history.restores_detached[position]:
            found = uncertain_commit(rows.history, position)
            self._found[rows.view.branch, None, found.message] = found
        if not rows.history.num_lost_before[position]:
            return
        last = int(rows.history.versions[position]) - 1
        first = last - int(rows.history.num_lost_before[position]) + 1
        lost = f"versions {first} to {last} are" if first < last else f"version {last} is"
        message = f"{lost} not kept: values that rows had only in them are lost"
        if position:
            kept = rows.history.records[position - 1].version
            message += f"; deleted rows have their values of version {kept}"
        self._add(rows, position, "info", message, "Tag versions that should be kept.")

    def begin_gone(self, rows: Line, version: int) -> None:
        """Note that the version before all changes is not kept."""
        message = (
            f"version {version} is not kept: row versions tell which rows were added and written "
            "after it, and not which were removed"
        )
        advice = "Tag versions that should be kept, or begin at a kept one."
        found = Finding("removed_rows_lost", "warning", message, advice, version)
        self._found[rows.view.branch, None, message] = found

    def version_gone(self, rows: Line, position: int) -> None:
        """Note that a version was removed while it was read."""
        file = rows.history.records[position].file
        self.missing.add(f"{rows.view.storage.uri}/{file.path}")
        self._add(
            rows,
            position,
            "warning",
            "the version was removed before its values were read",
            "refresh() the table and try again.",
        )

    def recorded_only(self, rows: Line, position: int, why: str) -> None:
        """Note that only a ledger still has a version, and why its values are not read."""
        self._add(rows, position, "info", why, "Tag versions whose values should be kept.")

    def refused(self, rows: Line, position: int, error: Exception) -> None:
        """Note that no values of a version are read, since it leads elsewhere."""
        why = error.__cause__ or error
        self._add(rows, position, "warning", f"values are not read: {why}", _ALLOW)

    def blobs_refused(self, rows: Line, position: int, column: str) -> None:
        """Note that blobs of a column are not read, since they lie elsewhere."""
        message = (
            f"blobs of column {column!r} are not read: they are in a place that is not allowed"
        )
        self._add(rows, position, "warning", message, _ALLOW)

    def file_gone(self, rows: Line, position: int, fragment_id: int, root: str, path: str) -> None:
        """Note that a data file is missing, given by the URI of its root and its path there."""
        self.missing.add(f"{root}/{path}")
        self._add(
            rows,
            position,
            "error",
            f"{path} is missing, and so are the values in it",
            "Restore the file from a backup, or leave out its columns with columns=[...].",
            fragment_id,
        )

    def has_unknown_format(self, rows: Line, position: int) -> bool:
        """Return whether a version has a data file of a format that is not read, and note it.

        Then pylance reads nothing of the version.
        """
        for state in rows.history.states_at(position):
            fragment = rows.history.states[state]
            for file in fragment.files:
                if (file.major_version, file.minor_version) > _LATEST_FORMAT:
                    self._add(
                        rows,
                        position,
                        "warning",
                        f"values are not read: {file.path} has the unknown data format "
                        f"{file.major_version}.{file.minor_version}",
                        "Install a newer release of pylance.",
                        fragment.id,
                    )
                    return True
        return False

    def column_in_doubt(self, doubt: Doubt, branch: str | None, branch_before: str | None) -> None:
        """Note that two columns may be one, as far as kept versions tell."""
        before, after = repr(doubt.name_before), repr(doubt.name_after)
        since, earlier = f"since version {doubt.version_after}", f"version {doubt.version_before}"
        advice = f"See {before} for values of versions before"
        if branch != branch_before:
            since = f"in version {doubt.version_after}"
            earlier += f" of branch {branch_before!r}" if branch_before else " of the main branch"
            advice = f"See {before} for values of that version"
        message = (
            f"column {after}, with field ID {doubt.field_id} {since}, may be {before} of "
            f"{earlier}: no version that is kept tells, so they are two columns"
        )
        advice += "; tag versions that are to be kept."
        found = Finding("column_in_doubt", "warning", message, advice, doubt.version_after)
        self._found[branch, None, message] = found

    def _add(
        self,
        rows: Line,
        position: int,
        severity: Severity,
        message: str,
        advice: str,
        fragment_id: int | None = None,
    ) -> None:
        version = rows.history.records[position].version
        key = rows.view.branch, fragment_id, message
        found = Finding("values_lost", severity, message, advice, version, fragment_id)
        before = self._found.setdefault(key, found)
        if before.version is not None and version < before.version:
            self._found[key] = replace(found)
