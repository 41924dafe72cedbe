"""What the app knows of itself, as text for a report: no names of programs, no secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QSysInfo, qVersion
from PySide6.QtGui import QGuiApplication

from tequio_shared.version import BUILD

if TYPE_CHECKING:
    from tequio_client.app.model import Model
    from tequio_client.app.theme.look import Look
    from tequio_client.link.facts import Fact, SessionFacts

KNOWN = ("idle_s", "is_locked", "fullscreen", "game", "programs", "is_metered")
"""Facts of the session of which it is told whether they are known, not what they are."""


def text(model: Model, look: Look) -> str:
    """Put it together."""
    screens = ", ".join(
        f"{screen.size().width()}x{screen.size().height()} at {screen.devicePixelRatio():g}"
        for screen in QGuiApplication.screens()
    )
    lines = [
        f"Tequio app {BUILD}, Qt {qVersion()}",
        f"{QSysInfo.prettyProductName()}, {QGuiApplication.platformName()}",
        f"language {QLocale().name()}, appearance {look.choice}, screens {screens}",
        f"worker: {'answers' if model.snapshot else model.why_gone or 'has not answered yet'}",
        f"session: {_session(model.session)}",
        *(_fact(fact) for fact in model.session.health),
    ]
    return "\n".join(lines)


def _session(facts: SessionFacts) -> str:
    return ", ".join(
        f"{name} {'unknown' if getattr(facts, name) is None else 'known'}" for name in KNOWN
    )


def _fact(fact: Fact) -> str:
    told = "well" if fact.ok else f"failed: {fact.error}"
    return f"probe {fact.name} by {fact.source}, {fact.took_ms} ms: {told}"
