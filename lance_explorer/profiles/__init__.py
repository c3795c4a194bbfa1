"""What values columns have in every version, and which commits moved them."""

from lance_explorer.profiles.profile import Profile, profile

__all__ = ["Profile", "profile"]
