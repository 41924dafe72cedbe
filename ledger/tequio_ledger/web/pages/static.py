"""GET /static/{name}: style sheets, scripts and fonts, cached permanently under their hash.

The colours come from the app's theme file, and the fonts are the app's, under the SIL Open Font
License. If their package is missing, the pages use the system's fonts.
"""

import base64
import tomllib
from importlib.resources import files

from starlette.responses import Response

from tequio_ledger.web.routing import get
from tequio_shared.errors import RefusedError
from tequio_shared.ids import sha256, to_text

_FOLDER = files("tequio_ledger.web.pages") / "static"
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "otf": "font/otf",
}
_WEIGHTS = {
    400: "HankenGrotesk-Regular.otf",
    500: "HankenGrotesk-Medium.otf",
    600: "HankenGrotesk-SemiBold.otf",
    700: "HankenGrotesk-Bold.otf",
}
_PERMANENT = "public, max-age=31536000, immutable"
_AN_HOUR = "public, max-age=3600"
_TAG_CHARS = 12


THEMES: dict[str, dict[str, str]] = tomllib.loads(
    (files("tequio_assets") / "theme.toml").read_text(encoding="utf-8")
)
"""The colours by theme, dark or light, and name."""


def _tokens() -> str:
    """Write the colours as custom properties: light, and dark for systems in dark mode."""
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in THEMES[theme].items())
        for theme in ("light", "dark")
    )
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )


def font_files() -> dict[str, bytes]:
    """Read the font files by name; none if the package is missing."""
    try:
        folder = files("font_hanken_grotesk") / "files"
    except ModuleNotFoundError:
        return {}
    return {name: (folder / name).read_bytes() for name in _WEIGHTS.values()}


def font_faces(fonts: dict[str, bytes]) -> str:
    """Write the `@font-face` rules of font files."""
    return "".join(
        f'@font-face{{font-family:"Hanken Grotesk";font-weight:{weight};font-display:swap;'
        f'src:url("/static/{name}?v={_tag(fonts[name])}") format("opentype")}}\n'
        for weight, name in _WEIGHTS.items()
        if name in fonts
    )


def _tag(content: bytes) -> str:
    return to_text(sha256(content))[:_TAG_CHARS]


def _load() -> dict[str, bytes]:
    fonts = font_files()
    found = {
        file.name: file.read_bytes()
        for file in _FOLDER.iterdir()
        if file.name.rpartition(".")[2] in _TYPES
    }
    return {**found, **fonts, "tokens.css": (_tokens() + font_faces(fonts)).encode()}


CONTENT = _load()
TAGS = {name: _tag(content) for name, content in CONTENT.items()}
HASHES = {
    name: f"sha256-{base64.b64encode(sha256(content)).decode()}"
    for name, content in CONTENT.items()
    if name.endswith(".js")
}
"""Of every script, for the content security policy and `integrity`."""


def static_url(name: str) -> str:
    """Give the URL of a file, which changes with its content."""
    return f"/static/{name}?v={TAGS[name]}"


@get("/favicon.ico")
async def get_favicon() -> Response:
    """Serve the logo to whatever asks for an icon without reading a page."""
    return Response(
        CONTENT["logo.svg"], media_type=_TYPES["svg"], headers={"cache-control": _AN_HOUR}
    )


@get("/static/{name}")
async def get_static(name: str, v: str = "") -> Response:
    if name not in CONTENT:
        raise RefusedError("not-found", f"there's no file named {name[:60]}")
    headers = {
        "cache-control": _PERMANENT if v == TAGS[name] else _AN_HOUR,
        "x-content-type-options": "nosniff",
    }
    return Response(CONTENT[name], media_type=_TYPES[name.rpartition(".")[2]], headers=headers)
