"""Values of rows, including versions whose files are gone."""
