"""What two sides did to a version, row by row and field by field: a three-way comparison."""

from collections.abc import Sequence

import polars as pl
from propcache.api import cached_property

from lance_explorer.changes.merge_lines import cell_lines, row_lines
from lance_explorer.changes.merge_rows import Compared, MatchedRows, Values, matched
from lance_explorer.changes.merge_schema import merge_schema
from lance_explorer.changes.merge_side import MergeSide
from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.schema import NO_PARENT, Field, column_fields
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.columns.identity import fields_of_both

__all__ = ["ThreeWay", "check_columns", "named"]


class ThreeWay:
    """Two sides compared with their common base.

    A side need not be later: to undo a commit, the version after it is the base, and the version
    before it is one side.

    Parameters
    ----------
    base, ours, theirs : BranchVersion
        The three versions.
    key : sequence of str
        Columns that identify a row; without any a row is what it was in the base.
    """

    def __init__(
        self,
        base: BranchVersion,
        ours: BranchVersion,
        theirs: BranchVersion,
        key: Sequence[str] = (),
    ) -> None:
        self.base = base
        self.places = ours, theirs
        self.key = tuple(key)

    @cached_property
    def ours(self) -> MergeSide:
        """What our side did."""
        return MergeSide(self.base, self.places[0])

    @cached_property
    def theirs(self) -> MergeSide:
        """What the other side did."""
        return MergeSide(self.base, self.places[1])

    @cached_property
    def values(self) -> Values:
        """What reads values of rows."""
        return Values(self.ours, self.theirs)

    @cached_property
    def matched(self) -> MatchedRows:
        """The rows that either side changed."""
        ours, theirs = map(named, self.places)
        shares = self.share_identities
        return matched(self.ours, self.theirs, self.key, (ours, theirs), share_identities=shares)

    @property
    def share_identities(self) -> bool:
        """Whether all are on one branch, so that equal identities are the same row."""
        places = {(place.view.uri, place.view.branch) for place in (self.base, *self.places)}
        return len(places) == 1

    @cached_property
    def compared(self) -> Compared:
        """The rows that both changed."""
        return Compared(self.values, self.matched)

    @cached_property
    def schema(self) -> pl.DataFrame:
        """The fields that either side changed."""
        return merge_schema(self.ours.fields, self.theirs.fields)

    @cached_property
    def doubtful(self) -> frozenset[str]:
        """The names of columns that may be one column or two: lost versions would decide.

        A preview treats them as one. A plan does not write such columns.
        """
        names = set[str]()
        for place in self.places:
            if (place.view.branch, place.version) == (self.base.view.branch, self.base.version):
                continue
            for pair in fields_of_both(self.base, place).doubtful:
                for one, field_id in zip((self.base, place), pair, strict=True):
                    schema = one.view.version(one.version).records[0].schema
                    columns = column_fields(schema).items()
                    names |= {name for name, inside in columns if field_id in _ids(inside)}
        return frozenset(names)

    @cached_property
    def between(self) -> VersionPair:
        """How their side and ours differ."""
        return VersionPair(self.places[1], self.places[0])

    def rows(self, outcomes: Sequence[str], columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rows with some outcomes: see :meth:`.MergePreview.rows`."""
        values = Values(self.ours, self.theirs, columns)
        return row_lines(
            values, self.matched, self.compared, outcomes, has_row_ids=self.has_row_ids
        )

    def cells(self) -> pl.DataFrame:
        """Return the cells in conflict: see :meth:`.MergePreview.cells`."""
        return cell_lines(self.compared, self.key, has_row_ids=self.has_row_ids)

    @property
    def has_row_ids(self) -> bool:
        """Whether rows are named by row IDs."""
        return self.ours.pair.rows_after.rows.has_row_ids


def _ids(fields: Sequence[Field]) -> set[int]:
    return {field.id for field in fields}


def check_columns(place: BranchVersion, keys: Sequence[str]) -> None:
    """Check that a version has the columns of a key."""
    fields = place.view.version(place.version).records[0].schema
    there = [field.name for field in fields if field.parent_id == NO_PARENT]
    for name in keys:
        if name not in there:
            where = named(place)
            raise InvalidArgumentError(
                f"rows cannot be matched by key {name!r}: version {where} has only the columns "
                f"{', '.join(there)}"
            )


def named(place: BranchVersion) -> str:
    """Return the name of a version, with its branch if that is not the main branch."""
    branch, version = place.view.branch, place.version
    return f"{branch}@{version}" if branch else str(version)
