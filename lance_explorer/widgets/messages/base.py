"""What messages are made of: their base, wide numbers, and arrays that go as bytes."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, dataclass_transform, get_args, get_type_hints

import msgspec
import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ARRAYS",
    "ArrayPlace",
    "ArrayType",
    "BigUint64Array",
    "Digits",
    "Float64Array",
    "Int32Array",
    "Json",
    "Message",
    "Packed",
    "PageMessage",
    "PageMethod",
    "Question",
    "Uint8Array",
    "ViewMessage",
    "What",
    "Wide",
    "array_of",
    "pack",
    "to_json",
]

Float64Array = NDArray[np.float64]
BigUint64Array = NDArray[np.uint64]
Int32Array = NDArray[np.int32]
Uint8Array = NDArray[np.uint8]

ArrayType = Literal["Float64Array", "BigUint64Array", "Int32Array", "Uint8Array"]
"""What browsers call an array."""

ARRAYS: Mapping[np.dtype[Any], ArrayType] = {
    np.dtype("f8"): "Float64Array",
    np.dtype("u8"): "BigUint64Array",
    np.dtype("i4"): "Int32Array",
    np.dtype("u1"): "Uint8Array",
}
"""The names that browsers have for arrays, by the type of their values."""

What = Literal["taken", "reply", "error", "progress", "news"]
"""The kind: a question was received, an answer, progress, or news without a question."""

PageMethod = Literal["update", "custom", "failure"]
"""What happens to the view of a page: traits, a message, or there is none."""

Digits = Annotated[str, msgspec.Meta(pattern=r"^-?\d+$")]
"""A number that may pass 2^53, on its way to the browser."""

Wide = Annotated[int, msgspec.Meta(extra={"in_browser": "string"})]
"""A number that may pass 2^53, as the browser sends it: a decimal string."""

Json = Any
"""What JSON can say: nothing but what a transport sends and gets."""


@dataclass_transform(frozen_default=True)
class Message(msgspec.Struct, frozen=True, omit_defaults=True):
    """The base of all that is sent; what has its default is left out."""


class Question(Message, forbid_unknown_fields=True):
    """A question of the browser."""

    kind: str
    seq: int = 0
    asker: str | None = None
    """Which view asks: several may show one model."""
    part: tuple[int, ...] = ()
    """The numbers on the way to the view that is asked, where it is within another."""
    arguments: Mapping[str, Any] = msgspec.field(default_factory=dict)


class ArrayPlace(Message):
    """Where in a message an array belongs, and its type."""

    path: list[str | int]
    type: ArrayType


class ViewMessage(Message):
    """A message of a view: a receipt, an answer, progress, or news without a question."""

    what: What
    kind: str
    content: Json
    seq: int | None = None
    asker: str | None = None
    part: tuple[int, ...] = ()
    arrays: tuple[ArrayPlace, ...] = ()


class PageMessage(Message):
    """What goes over a WebSocket: as the widget protocol has it; so many buffers follow."""

    method: PageMethod
    num_buffers: int
    state: Json = None
    content: Json = None


class Packed(Message):
    """A message as JSON has it, and its arrays as bytes, in base64 where they are kept."""

    content: Json
    arrays: tuple[ArrayPlace, ...] = ()
    buffers: tuple[bytes, ...] = ()


def pack(message: Message | None) -> Packed:
    """Return a message as it is sent; ``arrays.ts`` unpacks it.

    Raises
    ------
    TypeError
        If an array is not of the type that is declared.

    Examples
    --------
    >>> from lance_explorer.widgets.messages.shared import Progress
    >>> pack(Progress("reading", 0.5)).content
    {'text': 'reading', 'fraction': 0.5}
    """
    if message is None:
        return Packed({})
    arrays = [*_arrays_in(message, ())]
    places = tuple([ArrayPlace([*path], ARRAYS[array.dtype]) for path, array in arrays])
    return Packed(to_json(message), places, tuple([array.tobytes() for _, array in arrays]))


def to_json(message: object) -> Json:
    """Return a message as JSON has it, with null in the place of its arrays."""
    return msgspec.to_builtins(message, str_keys=True, enc_hook=_without_arrays)


def _without_arrays(value: object) -> object:
    if isinstance(value, np.ndarray):
        return None
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a message cannot contain a {type(value).__name__}")


def _arrays_in(
    message: Message, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], NDArray[Any]]]:
    """Yield the arrays of a message, also in messages within it and in lists of these."""
    for name, declared in _fields_with_arrays(type(message)).items():
        value = getattr(message, name)
        match value:
            case np.ndarray():
                if value.dtype != declared:
                    where = f"{type(message).__name__}.{name}"
                    raise TypeError(f"{where} is an array of {declared}, not of {value.dtype}")
                yield (*path, name), value
            case Message():
                yield from _arrays_in(value, (*path, name))
            case list() | tuple():
                for place, one in enumerate(value):
                    yield from _arrays_in(one, (*path, name, place))


@cache
def _fields_with_arrays(kind: type[Message]) -> dict[str, np.dtype[Any] | None]:
    """Return the fields that are arrays, with their types, and those that have arrays within."""
    hints = get_type_hints(kind)
    dtypes = {name: array_of(hint) for name, hint in hints.items()}
    return {name: dtype for name, dtype in dtypes.items() if dtype or _has_arrays(hints[name])}


def array_of(hint: Any) -> np.dtype[Any] | None:
    """Return the type of the values of an array, None for what is no array."""
    if getattr(hint, "__origin__", None) is not np.ndarray:
        return None
    dtype: np.dtype[Any] = np.dtype(get_args(get_args(hint)[1])[0])
    return dtype


def _has_arrays(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, Message):
        return bool(_fields_with_arrays(hint))
    return any(_has_arrays(one) for one in get_args(hint))
