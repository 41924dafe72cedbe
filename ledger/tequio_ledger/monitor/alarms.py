"""What a monitor found, as a file that others can check.

What is final is named after what was found, not when: a monitor that is started again meets it
again, and leaves the file that is there as it is. Anything else may come and go, and come again.
"""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

import msgspec
import structlog
from msgspec import Struct

from tequio_ledger.store import files
from tequio_shared.errors import TequioError
from tequio_shared.fork import ForkEvidence
from tequio_shared.ids import sha256

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.clock import Clock

log = structlog.get_logger(__name__)


class Kind(enum.Enum):
    """What an alarm is about."""

    FORK = "fork"
    """The log signed two histories."""
    ROLLBACK = "rollback"
    """The log shows less than it showed before, for long."""
    ENTRIES = "entries"
    """Entries or tiles are not those under the signed root."""
    RULES = "rules"
    """An entry does not verify, or does not follow from those before it."""
    DERIVED = "derived"
    """The ledger's answers are not what follows from its log."""
    QUORUM = "quorum"
    """No checkpoint has the cosignatures that the policy asks for."""
    AWAY = "away"
    """The ledger does not answer."""


FINAL = {Kind.FORK, Kind.ENTRIES, Kind.RULES}
"""After these there is no log any more that one could read on in."""


class Alarm(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """The file."""

    kind: Kind
    url: str
    at_ms: int
    why: str
    fork: ForkEvidence | None = None
    note: str = ""
    """The checkpoint that was judged, as it came."""
    entries: dict[str, str] = msgspec.field(default_factory=dict)
    """Leaves by index, base64url."""
    differences: tuple[str, ...] = ()


class FoundError(TequioError):
    """Something is wrong with the log; the alarm says what."""

    def __init__(self, alarm: Alarm) -> None:
        super().__init__(f"{alarm.kind.value}: {alarm.why}")
        self.alarm = alarm


class Alarms:
    """Rings each alarm once, and keeps its evidence in a folder."""

    def __init__(self, folder: Path, url: str, clock: Clock) -> None:
        self._folder = folder
        self._url = url
        self._clock = clock
        self._ringing: set[tuple[Kind, str]] = set()
        self.rang = False
        """Whether there was any alarm."""

    def make(
        self,
        kind: Kind,
        why: str,
        *,
        fork: ForkEvidence | None = None,
        note: bytes = b"",
        entries: dict[str, str] | None = None,
        differences: tuple[str, ...] = (),
    ) -> Alarm:
        """Describe what was found."""
        return Alarm(
            kind=kind,
            url=self._url,
            at_ms=self._clock(),
            why=why,
            fork=fork,
            note=note.decode("utf-8", "replace"),
            entries=entries or {},
            differences=differences,
        )

    def ring(self, alarm: Alarm) -> None:
        """Keep the evidence and tell the log, unless that was done for the same thing before."""
        if (alarm.kind, alarm.why) in self._ringing:
            return
        self._ringing.add((alarm.kind, alarm.why))
        self.rang = True
        raw = msgspec.json.encode(alarm)
        path = self._folder / f"{alarm.kind.value}-{_name(alarm)}.json"
        try:
            files.make_folder(self._folder)
            if not path.exists():
                files.write_file(path, raw)
        except OSError as err:
            log.error("evidence not kept", error=str(err), evidence=raw.decode())  # noqa: TRY400 - the event holds it
        log.error("alarm", kind=alarm.kind.value, why=alarm.why, evidence=str(path))

    def quiet(self, kind: Kind) -> None:
        """Note that all is well again in that respect."""
        self._ringing = {one for one in self._ringing if one[0] is not kind}


def _name(alarm: Alarm) -> str:
    if alarm.fork is not None:
        return alarm.fork.name
    if alarm.kind in FINAL:
        alarm = msgspec.structs.replace(alarm, at_ms=0)
    return sha256(msgspec.json.encode(alarm)).hex()[:16]
