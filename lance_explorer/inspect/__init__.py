"""Metadata as frames: one file for each family of frames."""
