"""The timeline of a table: its versions, branches and fragments, and the files read with them."""
