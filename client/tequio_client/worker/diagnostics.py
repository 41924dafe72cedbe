"""Everything that helps to find a fault, as text to copy: no keys, no secrets, no home folder."""

from __future__ import annotations

import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tequio_client import logs

if TYPE_CHECKING:
    from tequio_client.link.snapshot import Snapshot

_PACKAGES = ("tequio", "torch", "libp2p", "trio", "PySide6_Essentials", "nvidia-ml-py")
MOST = 100_000


def text(shown: Snapshot) -> str:
    """Put it together: versions, what is shown, and the last lines of the log."""
    lines = [
        f"Tequio diagnostics, {platform.platform()}, Python {platform.python_version()}",
        *(f"{name} {_version(name)}" for name in _PACKAGES),
        "",
        msgspec.json.format(msgspec.json.encode(shown), indent=1).decode(),
        "",
        *logs.recent(),
    ]
    return "\n".join(lines).replace(str(Path.home()), "~")[:MOST]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
