"""How frames are declared and documented: every column once."""
