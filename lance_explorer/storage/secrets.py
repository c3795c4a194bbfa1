"""What must never be shown: whatever lets somebody into an object store."""

import re
from collections.abc import Mapping

__all__ = ["without_secrets"]

_SECRET = re.compile(
    r"secret|token|key|password|credential|sas|signature|auth|header|proxy|client_id",
    re.IGNORECASE,
)
_SAYS_NOTHING = {"", "true", "false"}
_QUERY = re.compile(r"\?[^\s,)\"']*")


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
