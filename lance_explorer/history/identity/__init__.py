"""Who a row is, with and without stable row IDs."""
