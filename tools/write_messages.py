"""Write ``frontend/src/messages.ts`` from what Python declares: messages, and the methods of views.

``make frontend`` does so. A message becomes an interface with its docstrings, a view the questions
that it answers and the news that it tells, and what all views share their traits.
"""

import ast
import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules
from types import ModuleType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
import traitlets

from lance_explorer.widgets import database, explorer, frame_table, messages
from lance_explorer.widgets.messages.base import ARRAYS, Json, Message, Wide, array_of
from lance_explorer.widgets.view import Answering, View

__all__ = ["MODULES", "VIEWS", "declared", "messages_ts"]

_HEAD = """\
// Written by tools/write_messages.py from lance_explorer/widgets: what Python and the browser say
// to each other. Numbers that may pass 2^53 are decimal strings; null is what is not known.
"""
_HIDDEN = {"Message"}

MODULES: tuple[ModuleType, ...] = tuple(
    [
        import_module(f"{messages.__name__}.{found.name}")
        for found in iter_modules(messages.__path__)
    ]
)
"""Where messages are declared."""


def _views(kind: type[View] = View) -> Iterator[type[View]]:
    for view in kind.__subclasses__():
        if view.__module__.startswith("lance_explorer."):
            yield view
            yield from _views(view)


def _order(view: type[View]) -> tuple[int, str]:
    return len(view.__mro__), view.__name__


_FOUND: set[type[View]] = {View, *_views()}
VIEWS: Mapping[str, type[View]] = {view.__name__: view for view in sorted(_FOUND, key=_order)}
"""All views, those before that others are derived from."""

_APART = {database.DatabaseExplorer, explorer.Explorer, frame_table.FrameTable}
assert _FOUND >= _APART


def declared(module: ModuleType) -> dict[str, Any]:
    """Return what a module declares for the browser, by name."""
    return {
        name: value
        for name, value in vars(module).items()
        if name in module.__all__ and name not in _HIDDEN and _is_for_browser(value)
    }


def messages_ts() -> str:
    """Return the whole file."""
    return "\n".join(
        [_HEAD, *map(_section, MODULES), *map(_view, VIEWS.values()), _news(), _traits()]
    )


def _is_for_browser(value: Any) -> bool:
    is_message = isinstance(value, type) and issubclass(value, Message)
    is_choice = get_origin(value) is Literal or isinstance(value, UnionType)
    return is_message or is_choice


_CHOICES = {
    value: name
    for module in MODULES
    for name, value in declared(module).items()
    if not isinstance(value, type)
}
"""Types that have a name besides messages."""


def _section(module: ModuleType) -> str:
    documents = _documents(module)
    parts = [
        _message(value, documents)
        if isinstance(value, type)
        else f"{_comment(documents.get(name))}{_alias(name, value)}"
        for name, value in declared(module).items()
    ]
    title = module.__name__.rpartition(".")[2].replace("_", " ")
    return "\n".join([f"// {'-' * (95 - len(title))} {title}\n", *parts])


def _alias(name: str, value: Any) -> str:
    return f"export type {name} = {_type(value, is_named=False)};\n"


def _message(kind: type[Message], documents: Mapping[str, str]) -> str:
    base = kind.__mro__[1]
    extends = "" if base is Message else f" extends {base.__name__}"
    own = {*kind.__struct_fields__} - {*getattr(base, "__struct_fields__", ())}
    hints = get_type_hints(kind, include_extras=True)
    lines = []
    tag = kind.__struct_config__
    if tag.tag is not None:
        if extends:  # another tag than that of its base
            extends = f" extends Omit<{base.__name__}, {_text(tag.tag_field)}>"
        lines.append(f"  {tag.tag_field}: {_text(tag.tag)};\n")
    for field in msgspec.structs.fields(kind):
        if field.name in own:
            mark = "?" if tag.omit_defaults and not field.required else ""
            said = _comment(documents.get(f"{kind.__name__}.{field.name}"), "  ")
            lines.append(f"{said}  {field.name}{mark}: {_type(hints[field.name])};\n")
    comment = _comment(inspect.getdoc(kind))
    return f"{comment}export interface {kind.__name__}{extends} {{\n{''.join(lines)}}}\n"


def _view(view: type[View]) -> str:
    """Return the questions of a view, without those that its bases have."""
    bases = [f"{base.__name__}Questions" for base in view.__bases__ if base.__name__ in VIEWS]
    name = view.__name__
    asked = {
        made.kind: made
        for value in vars(view).values()
        if isinstance(made := getattr(value, "_answers", None), Answering)
    }
    questions = [
        f"  {_key(kind)}: [{_arguments(made.arguments)}, {_answer(made.answer)}];\n"
        for kind, made in asked.items()
    ]
    extends = f" extends {', '.join(bases)}" if bases else ""
    if not questions:
        return f"export type {name}Questions = {' & '.join(bases)};\n"
    return (
        f"/** What is asked of {name}: its arguments, and the answer. */\n"
        f"export interface {name}Questions{extends} {{\n{''.join(questions)}}}\n"
    )


def _news() -> str:
    """Return what views tell unasked."""
    told = {kind: one for view in VIEWS.values() for kind, one in view._news.items()}
    lines = "".join([f"  {_key(kind)}: {_answer(one)};\n" for kind, one in told.items()])
    return f"{_comment('What views tell unasked.')}export interface News {{\n{lines}}}\n"


def _arguments(kind: type[msgspec.Struct]) -> str:
    hints = get_type_hints(kind, include_extras=True)
    parts = [
        f"{field.name}{'' if field.required else '?'}: {_type(hints[field.name])}"
        for field in msgspec.structs.fields(kind)
    ]
    return f"{{ {'; '.join(parts)} }}" if parts else "object"


def _answer(kind: Any) -> str:
    return "object" if kind in (None, NoneType) else _type(kind)


def _traits() -> str:
    """Return the traits that any view has, of which each has some."""
    found: dict[str, str] = {}
    for view in VIEWS.values():
        for name, trait in view.class_traits(sync=True).items():
            if name[0] != "_" and any(name in vars(one) for one in VIEWS.values()):
                found[name] = _trait(trait)
    lines = "".join([f"  {name}: {kind};\n" for name, kind in found.items()])
    words = "What Python shares with views, by name; each has some of it."
    return f"{_comment(words)}export interface ViewTraits {{\n{lines}}}\n"


def _trait(trait: Any) -> str:
    match trait:
        case traitlets.Any() if (kind := trait.metadata.get("message")) is not None:
            return _type(kind)
        case traitlets.Enum():
            return " | ".join(map(_text, trait.values or ()))
        case traitlets.Unicode():
            return "string"
        case traitlets.Int():
            return "number"
        case traitlets.List():
            return "string[]"
    raise TypeError(f"{trait.name} is a trait that is not known here")


_PLAIN: Mapping[Any, str] = {
    str: "string",
    bytes: "string",  # in base64
    int: "number",
    float: "number",
    bool: "boolean",
    NoneType: "null",
}


def _type(hint: Any, *, is_named: bool = True) -> str:
    """Return a type as TypeScript has it."""
    if is_named and (name := _name(hint)):
        return name
    if (dtype := array_of(hint)) is not None:
        return ARRAYS[dtype]
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return "string" if hint is Wide or hint == Wide else _type(parts[0])
    if origin is Literal:
        return " | ".join(map(_text, parts))
    if origin in (Union, UnionType):
        return " | ".join([_type(part) for part in parts if part is not msgspec.UnsetType])
    if origin is list or (origin is tuple and parts[1:] == (...,)):
        inner = _type(parts[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(map(_type, parts))}]"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return f"Record<{', '.join(map(_type, parts))}>"
    if hint is Json:
        return "unknown"
    return _PLAIN[hint]


def _name(hint: Any) -> str | None:
    if isinstance(hint, type) and issubclass(hint, Message):
        return hint.__name__
    try:
        return _CHOICES.get(hint)
    except TypeError:  # annotations that cannot be hashed have no name
        return None


def _text(value: object) -> str:
    return f'"{value}"'


def _key(kind: str) -> str:
    return kind if kind.isidentifier() else _text(kind)


def _comment(words: str | None, indent: str = "") -> str:
    """Return words as a comment; of several lines each begins with an asterisk."""
    if not words:
        return ""
    lines = inspect.cleandoc(words).replace("``", "`").splitlines()
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    body = "".join([f"{indent} * {line}".rstrip() + "\n" for line in lines])
    return f"{indent}/**\n{body}{indent} */\n"


def _documents(module: ModuleType) -> dict[str, str]:
    """Return the texts that stand below names of a module and of its classes."""
    found: dict[str, str] = {}
    tree = ast.parse(inspect.getsource(module))
    for prefix, body in [
        ("", tree.body),
        *[(f"{one.name}.", one.body) for one in tree.body if isinstance(one, ast.ClassDef)],
    ]:
        for above, below in pairwise(body):
            match above, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name))
                    | ast.Assign(targets=[ast.Name(id=name)]),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[f"{prefix}{name}"] = text
    return found
