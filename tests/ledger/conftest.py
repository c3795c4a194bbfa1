"""A bucket, in which a table and its ledger may lie."""

from tests.remote.conftest import bucket, no_other_way_in

__all__ = ["bucket", "no_other_way_in"]
