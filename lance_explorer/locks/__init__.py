"""Lock files: which version somebody read, and whether it still exists."""

from lance_explorer.locks.lock_text import Lock, lock
from lance_explorer.locks.verification import Verification
from lance_explorer.locks.verifying import verify

__all__ = ["Lock", "Verification", "lock", "verify"]
