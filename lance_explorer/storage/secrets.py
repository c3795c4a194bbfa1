"""What must never be shown: whatever lets somebody into an object store."""

import re
from collections.abc import Mapping
from typing import Any, SupportsIndex

__all__ = ["Options", "without_secrets"]

_SECRET = re.compile(
    r"secret|token|key|password|credential|sas|signature|auth|header|proxy|client_id",
    re.IGNORECASE,
)
_SAYS_NOTHING = {"", "true", "false"}
_QUERY = re.compile(r"\?[^\s,)\"']*")


class Options(dict[str, str]):
    """Options of an object store: they do not show, and what has any of them is not pickled.

    Examples
    --------
    >>> Options({"aws_secret_access_key": "hush"})
    <options of an object store: aws_secret_access_key>
    """

    def __repr__(self) -> str:
        return f"<options of an object store: {', '.join(sorted(self)) or 'none'}>"

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        if self:
            raise TypeError(
                "what opened a table with storage_options is not pickled, since these may let "
                "somebody in: open the table where it is needed"
            )
        return super().__reduce_ex__(protocol)


def without_secrets(text: str, options: Mapping[str, str]) -> str:
    """Return a text without the options that let somebody in, and without queries of URLs.

    Examples
    --------
    >>> without_secrets("GET http://host/b?sig=AbC failed for hush", {"secret_access_key": "hush"})
    'GET http://host/b?... failed for ***'
    """
    text = _QUERY.sub("?...", text)
    for name, value in options.items():
        if _SECRET.search(name) and str(value).lower() not in _SAYS_NOTHING:
            text = text.replace(str(value), "***")
    return text
