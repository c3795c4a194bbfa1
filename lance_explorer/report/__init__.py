"""A report on a table as one HTML file, which needs neither a kernel nor a network."""

from lance_explorer.report.page import write_report

__all__ = ["write_report"]
