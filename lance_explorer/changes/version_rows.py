"""The rows of one version, on any branch."""

from dataclasses import dataclass

from lance_explorer.errors import VersionNotFoundError
from lance_explorer.format.fragments import Fragment
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.events.row_comparison import live_rows
from lance_explorer.history.events.row_runs import RowRuns
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.paths import Stop
from lance_explorer.history.readable import check_rows

__all__ = ["PlaceRows", "place_rows"]


@dataclass(frozen=True, slots=True)
class PlaceRows:
    """The rows of a version: those of its branch, and its position there."""

    rows: StateRows
    position: int

    @property
    def stop(self) -> Stop:
        """The version in its branch."""
        return Stop(self.rows, self.position)

    @property
    def record(self) -> VersionRecord:
        """What its manifest says."""
        return self.rows.history.records[self.position]

    @property
    def version(self) -> int:
        """The version."""
        return self.record.version

    @property
    def has_row_ids(self) -> bool:
        """Whether it has stable row IDs."""
        return self.rows.has_row_ids_at(self.position)

    @property
    def fragments(self) -> list[Fragment]:
        """Its fragments."""
        states = self.rows.history.states
        return [states[state] for state in self.rows.history.states_at(self.position)]

    @property
    def num_rows(self) -> int:
        """How many rows live there."""
        return sum(map(self.rows.num_live, self.rows.history.states_at(self.position)))

    def live(self) -> RowRuns:
        """Return all live rows as if they had just been added."""
        return live_rows(self.rows, self.position)


def place_rows(place: BranchVersion) -> PlaceRows:
    """Return the rows of a version.

    Raises
    ------
    VersionNotFoundError
        If the version is on no branch.
    """
    rows = state_rows(place.view)
    try:
        return PlaceRows(rows, rows.history.position(place.version))
    except VersionNotFoundError:
        check_rows(place.view.version(place.version))
        raise VersionNotFoundError(
            f"version {place.version} is detached: it is on no branch, so its rows cannot be "
            "matched with those of other versions"
        ) from None
