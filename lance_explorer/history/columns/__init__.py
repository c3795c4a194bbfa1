"""Which column of one version is which of another, and under which name and type it is shown."""
