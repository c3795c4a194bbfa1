"""The values of columns in every version, and which commits changed their distribution."""

from lance_explorer.profiles.profile import Profile, profile

__all__ = ["Profile", "profile"]
