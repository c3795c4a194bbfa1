"""Who owns each object of a table, and what a cleanup or a compaction would do."""
