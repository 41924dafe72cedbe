"""The page for visitors: one file with its style and script, which loads nothing else.

Its colours are those of the ledger's pages, from the same file. The policy names style and script
by their hashes, so nothing that a model writes can run.
"""

from __future__ import annotations

import base64
import html
import tomllib
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from string import Template

import tequio_assets
from tequio_client.checkpoint.serving.connections import Reply

_HASH_CHARS = 10
_FOLDER = files("tequio_client.checkpoint.serving")


class VisitorPage:
    """The page, rendered for the head that answers now."""

    def __init__(self) -> None:
        self._style = _colours() + _read("page.css")
        self._script = _read("page.js")
        self._template = Template(_read("page.html"))
        self._headers = {
            "content-type": "text/html; charset=utf-8",
            "content-security-policy": (
                f"default-src 'none'; script-src '{_hash(self._script)}'; "
                f"style-src '{_hash(self._style)}'; img-src data:; connect-src 'self'; "
                "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            ),
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cache-control": "no-cache",
        }

    def render(self, models: Sequence[Mapping[str, object]]) -> Reply:
        """Render the page for the described model; without one it says so."""
        model = models[0] if models else {}
        values = {
            "run": str(model.get("id", "a model")),
            "round": f"{model.get('round', 0):,}",
            "head": str(model.get("head", "")),
            "short": str(model.get("head", ""))[:_HASH_CHARS],
            "proof": str(model.get("proof", "")),
            "turns": "yes" if model.get("answers_turns") else "no",
            "tokens": str(model.get("max_tokens", 0)),
            "if_there": "" if model else "hidden",
            "if_missing": "hidden" if model else "",
        }
        safe = {name: html.escape(value) for name, value in values.items()}
        body = self._template.substitute(safe, style=self._style, script=self._script)
        return Reply(status=200, body=body.encode(), headers=self._headers)


def _read(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return f"sha256-{base64.b64encode(sha256(content.encode()).digest()).decode()}"


def _colours() -> str:
    """Write the colours as custom properties: light, and dark for systems in dark mode."""
    themes = tomllib.loads((files(tequio_assets) / "theme.toml").read_text(encoding="utf-8"))
    light, dark = (
        "".join(f"--{name.replace('_', '-')}:{colour};" for name, colour in themes[one].items())
        for one in ("light", "dark")
    )
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
