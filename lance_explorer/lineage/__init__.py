"""Where rows and fragments came from, and where they went."""
