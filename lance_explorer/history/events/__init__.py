"""What happened to rows from version to version."""
