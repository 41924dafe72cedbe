"""What the volunteer wants to be true now, by hand: it may be said again at any time.

Level-driven: whoever wishes repeats the wish until the worker shows it. Of several controllers
(app, command line) the greater number counts; each takes over what the worker shows and numbers
its own next wish one above that.
"""

from __future__ import annotations

import msgspec

from tequio_client.link.facts import Count, Name


class Snooze(msgspec.Struct, frozen=True, kw_only=True):
    """A pause with an end."""

    until_ms: Count | None = None
    """None: until the game closes."""
    asked_ms: Count = 0
    """When it was asked, by the same clock; with a clock set back it lasts no longer than then."""
    game: Name = ""
    """The program that it waits for; empty: whichever game runs."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that is wanted by hand."""

    number: Count = 0
    lend: bool = False
    snooze: Snooze | None = None
    finish: bool = False
    """End the round under way, then stop lending."""
