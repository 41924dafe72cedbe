"""Pages that were printed a moment ago, for all who ask for the same one at once.

When the log grows, everybody who looks at a page asks for it again a second or two later: one
print is enough for them, if it is not older than that second.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from starlette.requests import Request

    Name = tuple[str, ...]

ASKED = frozenset({"after", "author", "around", "before", "by", "q", "span"})
"""What pages are asked for beside their paths: whatever else an address says changes nothing."""
FRESH_S = 1.0
HELD = 64
_NOT_MODIFIED = 304


@dataclass(frozen=True, slots=True, kw_only=True)
class Print:
    """A page as bytes, with its headers and the tag among them."""

    body: bytes
    tag: str
    headers: Mapping[str, str]

    def answer(self, request: Request) -> Response:
        """Give it out, or say that the reader has it already."""
        if self.tag in request.headers.get("if-none-match", ""):
            return Response(
                b"", status_code=_NOT_MODIFIED, media_type="text/html", headers=self.headers
            )
        return Response(self.body, media_type="text/html", headers=self.headers)


class Prints:
    """The newest prints by what was asked; any thread may ask."""

    def __init__(self, elapsed_s: Callable[[], float]) -> None:
        self._elapsed_s = elapsed_s
        self._held: OrderedDict[Name, tuple[float, Print]] = OrderedDict()
        self._lock = Lock()

    def find(self, request: Request) -> Print | None:
        """Give a print of what is asked for, if there is one that is fresh."""
        with self._lock:
            made_s, found = self._held.get(_name(request), (0.0, None))
        return found if found is not None and self._elapsed_s() - made_s < FRESH_S else None

    def keep(self, request: Request, print_: Print) -> None:
        """Hold a print of what was asked for."""
        name = _name(request)
        with self._lock:
            self._held[name] = (self._elapsed_s(), print_)
            self._held.move_to_end(name)
            if len(self._held) > HELD:
                self._held.popitem(last=False)


def _name(request: Request) -> Name:
    """All that a page may depend on: where, what, and by which address it was reached."""
    asked = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    query = (part for pair in asked if pair[0] in ASKED for part in pair)
    headers = (request.headers.get(name, "") for name in ("host", "x-forwarded-proto"))
    return (request.scope["path"], *headers, *query)
