"""The plug-ins that a volunteer has allowed on this computer: a file in the worker's folder.

A consent names one archive by its hash, so another version of the same plug-in needs another one.
The app writes through the worker; `tequio plugin` writes the file itself, also while the worker
runs, which looks at the file about once a second. A file that cannot be read allows nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from tequio_client import files
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import Bytes32Text

REVIEWED: frozenset[str] = frozenset()
"""Archives that were reviewed with this release, by SHA-256: nobody needs to allow them.

Adding one is a decision about every volunteer's computer: somebody who did not write the plug-in
reads it whole, and the commit names both. The list ships with the package, whose bytes the
maintainers' keys sign.
"""
FILE = "plugins.json"
MOST = 256
_MOST_BYTES = 1 << 17


class PluginConsent(Struct, frozen=True, kw_only=True):
    archive: Bytes32Text
    """SHA-256 of the archive."""
    label: Annotated[str, Meta(max_length=128)] = ""
    """Name and version, for people."""
    at_ms: Annotated[int, Meta(ge=0)] = 0
    """Time of the consent, milliseconds since 1970."""


class _ConsentsFile(Struct, frozen=True, kw_only=True):
    allowed: Annotated[tuple[PluginConsent, ...], Meta(max_length=MOST)] = ()


class PluginConsents:
    """The consents in a worker's folder."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._stamp: object = None
        self.allowed: tuple[PluginConsent, ...] = ()
        self.problem = ""
        """Why the file cannot be read; empty: it can, or there is none."""
        self.refresh()

    def covers(self, archive: str) -> bool:
        """True if that archive may run: it is allowed here, or was reviewed with the release."""
        return archive in REVIEWED or any(one.archive == archive for one in self.allowed)

    def refresh(self) -> bool:
        """Read the file again if it has changed; True if the consents have. Costs one stat."""
        stamp = self._stamp_now()
        if stamp == self._stamp:
            return False
        self._stamp, before = stamp, self.allowed
        self.allowed, self.problem = self._read()
        return self.allowed != before

    def allow(self, consent: PluginConsent) -> None:
        """Add a consent; raises UserFacingError when the file cannot be written."""
        self.refresh()
        others = tuple(one for one in self.allowed if one.archive != consent.archive)
        if len(others) >= MOST:
            raise UserFacingError(
                f"{MOST} plug-ins are allowed already: revoke some with `tequio plugin revoke`"
            )
        self._write((*others, consent))

    def revoke(self, archive: str) -> bool:
        """Take a consent back; False if there was none. Raises UserFacingError."""
        self.refresh()
        left = tuple(one for one in self.allowed if one.archive != archive)
        if left == self.allowed:
            return False
        self._write(left)
        return True

    def _write(self, allowed: tuple[PluginConsent, ...]) -> None:
        if self.problem:
            raise UserFacingError(f"{self.problem}: delete it, and allow your plug-ins again")
        files.write_for_user(self._path, msgspec.json.encode(_ConsentsFile(allowed=allowed)))
        self._stamp, self.allowed = self._stamp_now(), allowed

    def _stamp_now(self) -> object:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> tuple[tuple[PluginConsent, ...], str]:
        try:
            found = files.read_record(self._path, _ConsentsFile, _MOST_BYTES)
        except (OSError, MalformedError) as err:
            return (), f"{self._path} cannot be read ({err})"
        return found.allowed if found else (), ""
