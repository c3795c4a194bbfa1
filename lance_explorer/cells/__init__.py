"""Values of cells as text, as JSON, as CSV and as HTML: each has its one home here.

Of two different values of a column the texts differ, unless they are cut; then they say so, with a
digest of the whole.
"""
