"""The identity of rows, with and without stable row IDs."""
