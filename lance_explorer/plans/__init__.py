"""Plans: what would undo a commit, put rows back, or repair a table, for its reader to carry out.

Nothing here writes to a table. A plan is an answer, the rows that it needs, and a script that calls
pylance (``carry_out.py``, which is copied into each).
"""
