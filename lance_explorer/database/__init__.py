"""Many tables as one: a folder, a bucket, a LanceDB database or a namespace."""

from lance_explorer.database.database import Database, open_database

__all__ = ["Database", "open_database"]
