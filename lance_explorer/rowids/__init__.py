"""Row IDs: how they are stored, and the address of each row.

NumPy arrays in, NumPy arrays out. This package knows neither file bytes nor tables: it works on
what :mod:`lance_explorer.format.sequences` decodes. Row IDs and row addresses are ``uint64``.
"""
