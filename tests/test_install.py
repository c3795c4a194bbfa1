"""What the installation says of how far it is."""

from tools.install import progress

SAID = """\
Obtaining file:///here
Requirement already satisfied: pip in ./lib (24.0)
Collecting polars>=2.1 (from lance-explorer)
  DEPRECATION: Building 'old' using the legacy setup.py is deprecated
  Downloading polars-2.1-py3.whl (40 MB)
Installing collected packages: polars, lance-explorer
Successfully installed polars-2.1
"""


def test_packages_are_counted_and_nothing_else_is_said():
    lines = SAID.splitlines(keepends=True)
    assert [how_far for _, how_far in progress(iter(lines)) if how_far] == [
        "1 packages found, the last one pip",
        "2 packages found, the last one polars",
        "installing 2 packages, which takes a while",
    ]
    assert "".join(line for line, _ in progress(iter(lines))) == SAID
