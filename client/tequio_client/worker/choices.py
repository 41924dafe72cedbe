"""What the volunteer has chosen and wished, on the disk: the worker does the same after a restart.

A file that cannot be read is kept aside and said to be so; nothing is lent on a guess, so what then
holds has no consent. One of a newer program is kept aside too before it is replaced: what this
version does not know would be lost. What cannot be written holds all the same, and is written as
soon as it can be: a pause counts on a full disk too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec
import structlog

from tequio_client import files
from tequio_client.link import preferences as link_preferences
from tequio_client.link.preferences import Preferences
from tequio_client.link.wish import Wish
from tequio_shared.errors import MalformedError, UserFacingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

log = structlog.get_logger(__name__)

PREFERENCES = "preferences.json"
WISH = "wish.json"
UNMINDED = Preferences(
    consent=True,
    while_used=True,
    used_share_percent=100,
    pause_for_games=False,
    on_battery=True,
    while_saving_power=True,
    others_cpu_percent=100,
    others_gpu_percent=100,
    month_gb=0,
    on_metered=True,
    disk_gib=1_000_000,
    disk_free_gib=0,
)
"""Who starts a worker by hand has said what it may take, on the command line."""
_MOST_BYTES = link_preferences.MOST_BYTES + 1

T = TypeVar("T")


class Choices:
    """Preferences and wish of one folder; whoever changes them owns this."""

    def __init__(self, folder: Path, *, wish: Wish, fixed: Preferences | None = None) -> None:
        """Read what is there; `wish` holds until there is another.

        Preferences that are `fixed` hold for good, and those on the disk stay as they are.
        """
        self._folder = folder
        self.kept_aside: list[str] = []
        """Names of files that could not be used and were kept."""
        self._is_fixed = fixed is not None
        self._unsaved: dict[str, bytes] = {}
        found = fixed or self._read(PREFERENCES, link_preferences.decode)
        if found is not None and found.version > link_preferences.VERSION:
            self._keep_aside(PREFERENCES, f"v{found.version}")
            found = msgspec.structs.replace(found, version=link_preferences.VERSION)
        self.preferences = found or Preferences()
        self.wish = self._read(WISH, _decode_wish) or wish

    def choose(self, preferences: Preferences) -> None:
        """Let preferences hold, unless others are fixed."""
        if preferences != self.preferences and not self._is_fixed:
            self.preferences = preferences
            self._unsaved[PREFERENCES] = link_preferences.encode(preferences)
            self.keep()

    def want(self, wish: Wish) -> None:
        """Let a wish hold; one that is not newer changes nothing."""
        if wish.number > self.wish.number:
            self.wish = wish
            self._unsaved[WISH] = msgspec.json.encode(wish)
            self.keep()

    def keep(self) -> None:
        """Write what is not on the disk yet, if that can be."""
        for name, content in list(self._unsaved.items()):
            try:
                files.write_or_explain(self._folder / name, content)
            except UserFacingError as err:
                log.warning("holds, and was not written", file=name, error=str(err))
            else:
                del self._unsaved[name]

    def _read(self, name: str, decode: Callable[[bytes], T]) -> T | None:
        try:
            with (self._folder / name).open("rb") as file:
                return decode(file.read(_MOST_BYTES))
        except FileNotFoundError:
            return None
        except (OSError, MalformedError) as err:
            log.warning("not read; kept aside", file=str(self._folder / name), error=str(err))
            self._keep_aside(name, "damaged")
            return None

    def _keep_aside(self, name: str, why: str) -> None:
        path = self._folder / name
        aside = path.with_name(f"{name}.{why}")
        try:
            aside.write_bytes(path.read_bytes())
        except OSError as err:
            log.warning("not kept aside", file=str(path), error=str(err))
        self.kept_aside.append(aside.name)


def _decode_wish(content: bytes) -> Wish:
    try:
        return msgspec.json.decode(content, type=Wish)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as err:
        raise MalformedError(f"not a wish: {err}") from err
