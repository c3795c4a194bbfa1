"""Values of cells as text, as JSON, as CSV and as HTML: each form has one module here.

Two different values of a column have different texts, unless they are cut; then they say so, with a
digest of the whole.
"""
