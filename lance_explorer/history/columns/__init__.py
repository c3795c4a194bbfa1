"""Column identity between versions, and the names and types under which columns are shown."""
