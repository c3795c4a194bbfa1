"""How long an object store may take, and which option to change if that is too short.

A limit on a whole answer would refuse large files on slow links. So an answer may take any time,
but must start within ``read_timeout`` and never pause for longer. Nothing is requested again after
``client_retry_timeout``, so that we give up within ten seconds on a store that never answers.
"""

import re
from collections.abc import Mapping

from lance_explorer.storage.secrets import Options

__all__ = ["is_unreachable", "limit_hint", "with_limits"]

_LIMITS = {
    "connect_timeout": "8s",
    "read_timeout": "8s",
    "timeout": "1day",
    "client_max_retries": "5",
    "client_retry_timeout": "7",
}

_RETRY_SECONDS = "180"
"""How long pylance retries by default."""

_DURATION = re.compile(r"(\d+) ?(ms|s|m|h)[a-z]*")
_UNREACHABLE = re.compile(
    r"Generic (S3|GCS|MicrosoftAzure) error|The operation lacked |error sending request"
    r"|\(os error (1|12|13|23|24|10[017]|11[0236])\)"
)
"""Phrases in errors about the store or permissions, not about a file."""

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600}


def with_limits(options: Mapping[str, str]) -> Options:
    """Return options of an object store, names in lower case, with our limits where they have none.

    A given limit is not undone by another limit that is not given.

    Examples
    --------
    >>> str(with_limits({"aws_region": "eu-west-1"})["read_timeout"])
    '8s'
    >>> "read_timeout" in with_limits({"timeout": "2m"})
    False
    """
    given = {name.lower(): value for name, value in options.items()}
    limits = {**_LIMITS}
    if "timeout" in given:
        del limits["read_timeout"]
    elif _seconds(given.get("connect_timeout", "")) > _seconds(limits["read_timeout"]):
        limits["read_timeout"] = given["connect_timeout"]  # which is part of it
    if "client_max_retries" in given:
        limits["client_retry_timeout"] = _RETRY_SECONDS
    return Options({**limits, **given})


def is_unreachable(said: str) -> bool:
    """Tell whether an error of pylance says that the storage is unreachable, or refuses.

    Examples
    --------
    >>> is_unreachable("LanceError(IO): Generic S3 error: HTTP error: error sending request")
    True
    >>> is_unreachable("LanceError(IO): failed to fill whole buffer")
    False
    """
    return _UNREACHABLE.search(said) is not None


def limit_hint(said: str, options: Mapping[str, str]) -> str | None:
    """Return which option to change if an error says that a store did not answer in time.

    Parameters
    ----------
    said : str
        What the error says, as the library that made the request writes it out.
    options : mapping of str to str
        The options of the store, limits too.

    Examples
    --------
    >>> limit_hint("HTTP error: error sending request ... kind: Connect ...", {})
    'nothing answers there: check the endpoint in storage_options, and the network'
    """
    if "kind: Connect" in said:
        return "nothing answers there: check the endpoint in storage_options, and the network"
    if "kind: Timeout" in said:
        name = "connect_timeout" if "ConnectError" in said else _idle_limit(options)
        what = "no connection was made" if name == "connect_timeout" else "no data came"
        return (
            f'{what} within {name}="{options.get(name)}": check the endpoint or, if the store is '
            f"that slow, set a longer {name} in storage_options"
        )
    if "error sending request" in said or "response body error" in said:
        return (
            "the store is unreachable or too slow: check the endpoint, or set a longer "
            f"{_idle_limit(options)}, connect_timeout or client_retry_timeout in storage_options"
        )
    if re.search(r"after \d+ retries", said):
        return (
            "set more client_max_retries or a longer client_retry_timeout in storage_options to "
            "retry for longer"
        )
    return None


def _idle_limit(options: Mapping[str, str]) -> str:
    return "read_timeout" if "read_timeout" in options else "timeout"


def _seconds(duration: str) -> float:
    """Return a duration in seconds; 0 if it is not understood, since the store then refuses it."""
    return sum([int(count) * _SECONDS[unit] for count, unit in _DURATION.findall(str(duration))])
