"""Everything that helps to find a fault, as text to copy: no secret, no name."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from tequio_client.names import without_names
from tequio_client.runtime import recent_log_lines

if TYPE_CHECKING:
    from tequio_client.link.snapshot import Snapshot

_PACKAGES = ("tequio", "torch", "libp2p", "trio", "PySide6_Essentials", "nvidia-ml-py")
MOST = 100_000
HIDDEN = "[program]"


def text(shown: Snapshot) -> str:
    """Put it together: versions, what is shown, and the last lines of the log."""
    lines = [
        f"Tequio diagnostics, {platform.platform()}, Python {platform.python_version()}",
        *(f"{name} {_version(name)}" for name in _PACKAGES),
        "",
        msgspec.json.format(msgspec.json.encode(_discreet(shown)), indent=1).decode(),
        "",
        *recent_log_lines(),
    ]
    return without_names("\n".join(lines))[:MOST]


def _discreet(shown: Snapshot) -> Snapshot:
    """The same without names of programs: what somebody plays is nobody's business."""
    values = shown.decision.values
    if "program" in values:
        values = {**values, "program": HIDDEN}
    preferences = replace(shown.preferences, exclusive=(HIDDEN,) * len(shown.preferences.exclusive))
    wish, snooze = shown.wish, shown.wish.snooze
    if snooze is not None and snooze.game:
        wish = replace(wish, snooze=replace(snooze, game=HIDDEN))
    decision = replace(shown.decision, values=values)
    return replace(shown, decision=decision, preferences=preferences, wish=wish)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
