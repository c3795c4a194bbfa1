"""Row IDs: how they are stored, and at which address each row is.

NumPy arrays in, NumPy arrays out. This room knows no bytes of files and no table: it works on what
:mod:`lance_explorer.format.sequences` decodes. Row IDs and row addresses are ``uint64``.
"""
