"""The columns that people know a row by."""

from lance_explorer.format.index_details import index_type
from lance_explorer.format.schema import NO_PARENT, primary_key
from lance_explorer.history.history import VersionRecord

__all__ = ["naming_columns"]


def naming_columns(record: VersionRecord) -> list[str]:
    """Return the primary key of the schema, or else the first column with a BTREE index.

    Examples
    --------
    >>> naming_columns(table._view.version(7).records[0])
    ['id']
    """
    keys = primary_key(record.schema)
    if keys:
        return [*keys]
    tops = {field.id: field.name for field in record.schema if field.parent_id == NO_PARENT}
    for segment in record.indices:
        is_of_one = len(segment.fields) == 1 and segment.fields[0] in tops
        if is_of_one and index_type(segment) == "BTREE":
            return [tops[segment.fields[0]]]
    return []
