"""API answers for tests that need only a few of the fields."""

from __future__ import annotations

from typing import Any, TypeVar

from msgspec import Struct, inspect

from tequio_shared.ids import to_text

T = TypeVar("T", bound=Struct)
ZERO = to_text(bytes(32))


def filled(kind: type[T], **fields: object) -> T:
    """An answer with those fields; all others are null, zero or empty."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return kind(**{one.name: _nothing(one.type) for one in info.fields} | fields)


def _nothing(kind: inspect.Type) -> Any:  # noqa: ANN401 - a value of that type
    match kind:
        case inspect.UnionType():
            found: Any = None
        case inspect.Metadata():
            found = _nothing(kind.type)
        case inspect.StructType():
            found = filled(kind.cls)
        case inspect.IntType():
            found = kind.ge or 0
        case inspect.StrType():
            found = ZERO if kind.min_length else ""
        case inspect.BoolType():
            found = False
        case _:
            found = ()
    return found
