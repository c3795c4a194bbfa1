"""The timeline of a table: its versions, branches and fragments, and what is read beside them."""
