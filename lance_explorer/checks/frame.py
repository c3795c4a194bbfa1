"""The columns of what checks find."""

from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.findings import FINDINGS

__all__ = ["CHECKS"]

CHECKS = FrameSchema("checks", FINDINGS.columns)
"""The columns of ``table.check()``."""
