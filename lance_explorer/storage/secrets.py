"""What must never be shown: everything that gives access to an object store."""

import re
import sys
from collections.abc import Callable, Mapping
from functools import wraps
from traceback import clear_frames
from typing import Any, SupportsIndex, TypeVar, cast

from lance_explorer.arguments import text_mapping
from lance_explorer.errors import LanceExplorerError

__all__ = ["Hidden", "Options", "hiding_arguments", "may_be_secret", "without_secrets"]

_F = TypeVar("_F", bound=Callable[..., Any])

_SECRET = re.compile(
    r"secret|token|key|password|credential|sas|signature|auth|header|proxy|client_id",
    re.IGNORECASE,
)
_SAYS_NOTHING = {"", "true", "false"}
_QUERY = re.compile(r"\?[^\s,)\"']*")
_PASSWORD = re.compile(r"(?<=://)[^/\s@]*:[^/\s@]*(?=@)")


def may_be_secret(name: str) -> bool:
    """Return whether an option of an object store may be a secret, judged by its name."""
    return _SECRET.search(name) is not None


class Hidden(str):
    """Text that is hidden where objects are shown, as in a traceback with local variables.

    Wherever text is used, it is that text.

    Examples
    --------
    >>> secret = Hidden("hush")
    >>> secret, {"key": secret[:2]}, secret == "hush"
    ('***', {'key': '***'}, True)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"

    def __getitem__(self, part: SupportsIndex | slice) -> "Hidden":  # long text is shown in parts
        return Hidden(super().__getitem__(part))


class Options(dict[str, str]):
    """Options of an object store: they are hidden, and objects with any of them are not pickled.

    Their values stay hidden in every copy.

    Examples
    --------
    >>> options = Options({"aws_secret_access_key": "hush"})
    >>> options, options.copy(), {**options}
    (<options of an object store: aws_secret_access_key>, \
<options of an object store: aws_secret_access_key>, {'aws_secret_access_key': '***'})
    """

    def __init__(self, options: Mapping[str, str] | None = None) -> None:
        given = {} if options is None else text_mapping("storage_options", options)
        super().__init__({name: Hidden(value) for name, value in given.items()})

    def copy(self) -> "Options":
        """Return the same options again."""
        return Options(self)

    def __or__(self, others: Mapping[str, str]) -> "Options":  # type: ignore[override]
        return Options({**self, **others})

    def __ror__(self, others: Mapping[str, str]) -> "Options":  # type: ignore[override]
        return Options({**others, **self})

    def __repr__(self) -> str:
        return f"<options of an object store: {', '.join(sorted(self)) or 'none'}>"

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[Any, ...]:
        if self:
            raise TypeError(
                "storage_options are not pickled, as they may be credentials: open the table "
                "in the process that needs it"
            )
        return super().__reduce_ex__(protocol)


def hiding_arguments(function: _F) -> _F:
    """Return a function whose errors have no locals: it is given options, and URIs, as they are.

    An invalid option or URL is a local variable of every frame that it went through, and tools show
    local variables.
    """

    @wraps(function)
    def hiding(*arguments: Any, **options: Any) -> Any:
        before = sys.exception()  # the caller's, as its frames are
        try:
            return function(*arguments, **options)
        except LanceExplorerError as error:
            del arguments, options
            current: BaseException | None = error
            while current is not None and current is not before:
                clear_frames(current.__traceback__)
                current = current.__cause__ or current.__context__
            raise

    return cast(_F, hiding)


def without_secrets(text: str, options: Mapping[str, str] | None = None) -> str:
    """Return a text without credentials, queries of URLs and passwords of URLs.

    Examples
    --------
    >>> without_secrets("GET http://host/b?sig=AbC failed for hush", {"secret_access_key": "hush"})
    'GET http://host/b?... failed for ***'
    """
    text = _PASSWORD.sub("...", _QUERY.sub("?...", text))
    for name, value in (options or {}).items():
        if _SECRET.search(name) and str(value).lower() not in _SAYS_NOTHING:
            text = text.replace(str(value), "***")
    return text
