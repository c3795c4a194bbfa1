"""Keep what is known of a table's past apart from it: read once, shared, and there after cleanup."""
