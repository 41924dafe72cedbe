"""Builds the documentation as a static site: `make docs`.

The pages are plain Markdown and notebooks that a repository's host shows as well, so whatever only
the site needs is added here while Sphinx reads them: the navigation, the references that are
written from the code, and links to files beside `docs/`. A warning ends the build.

The ledger serves the site under its own content security policy. It allows no inline style, and
only the scripts whose hashes the policy names; `scripts.txt` lists those of the site.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent))

import reference

from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SITE = Path(__file__).parent
DOCS = SITE.parent
NAVIGATION = {
    "Start": """
        start/volunteer
        start/organiser
        start/operator
        start/entrant
        start/developer""",
    "Install": """
        install
        install-from-source""",
    "Guides": """
        desktop
        cells
        groups
        differential-privacy
        organising
        plugins
        competitions
        verifying-competitions
        scoring
        operating
        kubernetes
        releasing""",
    "Help": """
        faq
        troubleshooting
        glossary
        comparison""",
    "Reference": """
        reference/tequio
        reference/tequio-ledger
        reference/http-api
        reference/python
        protocol""",
    "How it works": """
        design
        security
        auditing
        screening
        results
        scale""",
    "Project": """
        decisions/README
        upstream
        languages
        desktop-checks
        unseen""",
}
"""The bar at the side: the pages below each caption."""
INSIDE = {"decisions/README": "[0-9]*", "results": "/log/*", "reference/python": "/notebooks/*"}
"""Pages below another one, by its name."""
GENERATED = {
    "reference/tequio": reference.client_commands,
    "reference/tequio-ledger": reference.ledger_commands,
    "reference/http-api": reference.http_api,
    "reference/python": reference.python_library,
}
"""Pages that end with a text written from the code, in place of their last line."""
ACCESSIBLE = {
    "<pre>": '<pre tabindex="0">',
    'docutils container">': 'docutils container" tabindex="0">',
    ' role="heading">': ' role="heading" aria-level="2">',
}
"""Ends of tags: what scrolls is reached by the keyboard, and headings have a level."""
FONTS = {400: "Regular", 500: "Medium", 600: "SemiBold", 700: "Bold"}
_OUTSIDE = re.compile(r"(!?)\[([^\]]*)\]\((\.\./[^)#\s]*)(#[^)\s]*)?\)")
_SCRIPT = re.compile(r"<script([^>]*)>(.*?)</script>", re.DOTALL)
_SOURCE = re.compile(r'\bsrc="([^"?]+)')
_INTEGRITY = re.compile(r' integrity="[^"]*"')
_STYLE = re.compile(r' style="[^"]*"')

project = "Tequio"
html_title = f"Tequio {BUILD}"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown", ".ipynb": "markdown"}
root_doc = "index"
exclude_patterns = ["site"]
nitpicky = True
myst_heading_anchors = 6
highlight_language = "text"

html_theme = "furo"
html_theme_options: dict[str, object] = {"top_of_page_buttons": []}
# From here, and not from the root: Sphinx writes a hash of these settings beside the pages.
html_logo = "../../ledger/tequio_ledger/web/pages/static/logo.svg"
html_favicon = html_logo
html_static_path = ["static"]
html_css_files = ["tokens.css", "tequio.css"]
templates_path = ["templates"]
html_copy_source = False
html_show_copyright = False
html_use_index = False


def setup(app: Sphinx) -> None:
    app.connect("source-read", complete_page)
    app.connect("build-finished", finish_site)


def complete_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Add what the site has besides a page's own text."""
    page = Path(app.env.doc2path(name))
    text = _notebook(source[0], page.name) if page.suffix == ".ipynb" else source[0]
    text = _OUTSIDE.sub(lambda found: _link(found, page.parent), text)
    if name in GENERATED:
        hand_written = text.rstrip().rpartition("\n")[0]
        text = f"{hand_written}\n\n{GENERATED[name]()}"
    if name in INSIDE:
        text += _toctree(INSIDE[name], "glob:")
    if name == root_doc:
        text += "".join(_toctree(pages, f"caption: {one}") for one, pages in NAVIGATION.items())
    source[0] = text


def _notebook(content: str, name: str) -> str:
    """Write the cells of a notebook as Markdown, and offer the file below its title."""
    parts = []
    for cell in json.loads(content)["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    title, _, first = parts[0].partition("\n")
    parts[0] = f"{title}\n\n[Download this notebook](path:{name})\n{first}"
    return "\n\n".join(parts)


def _toctree(pages: str, option: str) -> str:
    lines = "\n".join(pages.split())
    return f"\n\n```{{toctree}}\n:hidden:\n:{option}\n\n{lines}\n```\n"


def _link(found: re.Match[str], folder: Path) -> str:
    """Offer a file beside `docs/` as a download, but no code, and no folder."""
    image, text, target, _ = found.groups()
    path = (folder / target).resolve()
    if image or path.is_relative_to(DOCS):
        return found[0]
    is_offered = path.is_file() and path.suffix != ".py"
    return f"[{text}](path:{target})" if is_offered else text


def finish_site(app: Sphinx, failure: Exception | None) -> None:
    """Write colours and fonts, and prepare every page for the ledger's policy."""
    if failure is not None:
        return
    folder = Path(app.outdir)
    (folder / "_static" / "tokens.css").write_text(_tokens(), "utf-8")
    for weight in FONTS.values():
        name = f"HankenGrotesk-{weight}.otf"
        font = (files("font_hanken_grotesk") / "files" / name).read_bytes()
        (folder / "_static" / name).write_bytes(font)
    hashes: set[str] = set()
    for page in folder.rglob("*.html"):
        text = _STYLE.sub("", page.read_text("utf-8"))
        for plain, accessible in ACCESSIBLE.items():
            text = text.replace(plain, accessible)
        page.write_text(_SCRIPT.sub(lambda one: _script(one, page, hashes), text), "utf-8")  # noqa: B023
    (folder / "scripts.txt").write_text("".join(f"{one}\n" for one in sorted(hashes)), "utf-8")


def _script(found: re.Match[str], page: Path, hashes: set[str]) -> str:
    """Name the hash of a script, and give it to the browser for a file."""
    attributes, inline = _INTEGRITY.sub("", found[1]), found[2]
    source = _SOURCE.search(attributes)
    content = (page.parent / source[1]).read_bytes() if source else inline.encode()
    digest = f"sha256-{base64.b64encode(hashlib.sha256(content).digest()).decode()}"
    hashes.add(digest)
    integrity = f' integrity="{digest}"' if source else ""
    return f"<script{attributes}{integrity}>{inline}</script>"


def _tokens() -> str:
    """Write the product's colours, light and dark, and its fonts."""
    themes = tomllib.loads((files("tequio_assets") / "theme.toml").read_text("utf-8"))
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in themes[one].items())
        for one in ("light", "dark")
    )
    faces = (
        f'@font-face{{font-family:"Hanken Grotesk";font-weight:{weight};font-display:swap;'
        f'src:url("HankenGrotesk-{name}.otf") format("opentype")}}\n'
        for weight, name in FONTS.items()
    )
    return (
        f"body{{{light}}}\n@media not print{{body[data-theme=dark]{{{dark}}}\n"
        f"@media (prefers-color-scheme:dark){{body:not([data-theme=light]){{{dark}}}}}}}\n"
        + "".join(faces)
    )
