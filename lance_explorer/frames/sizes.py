"""Numbers of bytes as a person says them."""

import humanize

__all__ = ["byte_size"]


def byte_size(num_bytes: float, digits: str = "%.1f") -> str:
    """Return a number of bytes as a size; ``digits`` is the format of the number before the unit.

    Examples
    --------
    >>> byte_size(1_400_000_000), byte_size(794), byte_size(1)
    ('1.4 GB', '794 bytes', '1 byte')
    """
    return humanize.naturalsize(num_bytes, format=digits).replace("Byte", "byte")
