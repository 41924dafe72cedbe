"""How we are called where systems list what starts at login."""

from __future__ import annotations

NAME = "Tequio"
BACKGROUND = "--background"
