"""What each version stores about rows: sequences, row versions, deletions."""
