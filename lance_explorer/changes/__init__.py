"""What changed between versions: net changes and the change feed."""
