"""All that can be checked of a table, as one."""
