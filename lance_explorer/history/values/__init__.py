"""Values of rows, also of versions whose files are gone."""
