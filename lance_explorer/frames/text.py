"""How bytes that should be text are shown."""

__all__ = ["text_of"]


def text_of(data: bytes) -> str:
    r"""Return bytes as text; those that are no UTF-8 as escapes.

    Examples
    --------
    >>> text_of(b"blue"), text_of(b"\xff\x00")
    ('blue', '\\xff\x00')
    """
    return data.decode("utf-8", "backslashreplace")
