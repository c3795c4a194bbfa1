"""Keep what is known of the past of a table apart from it: read once, and there after cleanup."""
