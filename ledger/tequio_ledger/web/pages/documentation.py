"""GET /docs/{path}: the documentation that `make docs` built, if it is installed with the ledger.

The site is files that load nothing from other hosts. Its pages have the policy of the ledger's own
pages, with the hashes of the site's scripts, and may show the icons in its style sheets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import Response

from tequio_ledger.web.pages.render import CACHE_SETTLED, redirect, security_headers
from tequio_ledger.web.routing import get
from tequio_shared.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HOME = "/docs/index.html"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".otf": "font/otf",
}
_DOWNLOAD = "text/plain; charset=utf-8"
"""Of every other file, such as a script that a page offers for download."""
_SCRIPTS = "scripts.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Documentation:
    """A built site: its files by path, and the headers of its pages."""

    found: Mapping[str, Path]
    headers: Mapping[str, str]

    @classmethod
    def read(cls, folder: Path) -> Documentation | None:
        """Return the site in a folder; None if nothing was built there."""
        if not (folder / _SCRIPTS).is_file():
            return None
        found = {
            file.relative_to(folder).as_posix(): file
            for file in folder.rglob("*")
            if file.is_file()
        }
        hashes = (folder / _SCRIPTS).read_text("utf-8").split()
        return cls(found=found, headers=security_headers(hashes, images="'self' data:"))


@get("/docs")
async def get_docs() -> Response:
    return redirect(HOME)


@get("/docs/{path:path}")
def get_documentation(path: str, documentation: Documentation | None) -> Response:
    """Serve a file of the documentation."""
    if documentation is None:
        raise RefusedError(
            "not-found",
            "this ledger was installed without its documentation: run `make docs` in the checkout "
            "before you install it",
        )
    file = documentation.found.get(path)
    if file is None:
        raise RefusedError("not-found", f"the documentation has no page {path[:60]}")
    return Response(
        file.read_bytes(),
        media_type=_TYPES.get(file.suffix, _DOWNLOAD),
        headers={**documentation.headers, "cache-control": CACHE_SETTLED},
    )
