"""Time travel: schema, indices and configuration of one version, and its rows."""

from lance_explorer.widgets.messages.base import Message

__all__ = [
    "ConfigEntries",
    "ConfigEntry",
    "Details",
    "Entries",
    "FieldBefore",
    "IndexEntries",
    "IndexEntry",
    "SchemaEntries",
    "SchemaEntry",
    "ShownVersion",
]


class FieldBefore(Message):
    """The earlier values of a field, where they differ."""

    path: str | None = None
    type: str | None = None
    nullable: bool | None = None


class SchemaEntry(Message):
    """A field, and its change in this version."""

    path: str
    type: str
    nullable: bool
    change: str | None
    before: FieldBefore | None = None


class IndexEntry(Message):
    """An index."""

    name: str
    type: str
    fields: list[str]
    segments: int
    fragments: int | None
    change: str | None


class ConfigEntry(Message):
    """An entry of one of the maps of a table."""

    map: str
    key: str
    value: str
    change: str | None
    before: str | None = None


class Entries(Message):
    """The total, the current number and the changed number; the first are listed."""

    num_entries: int
    num_there: int
    num_changed: int


class SchemaEntries(Entries):
    """The fields of a version."""

    entries: list[SchemaEntry]


class IndexEntries(Entries):
    """The indices of a version."""

    entries: list[IndexEntry]


class ConfigEntries(Entries):
    """The configuration of a version."""

    entries: list[ConfigEntry]


class Details(Message):
    """What a version contains besides its rows."""

    schema: SchemaEntries
    indices: IndexEntries
    config: ConfigEntries


class ShownVersion(Message):
    """Why the rows of a version cannot be shown, or whether they have stable IDs."""

    has_row_ids: bool | None = None
    problem: str | None = None
