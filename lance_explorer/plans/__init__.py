"""Plans that undo a commit, put rows back, or repair a table; their reader runs them.

Nothing here writes to a table. A plan consists of an answer, the rows that it needs, and a script
that calls pylance (``carry_out.py``, which is copied into each plan).
"""
