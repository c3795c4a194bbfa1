"""Which fragments were rewritten into which others."""
