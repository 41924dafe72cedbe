"""Alarms of the monitor, as files that others can verify.

The name of a final alarm depends on the fault and not on the time: a monitor that is started again
finds it again, and leaves the file as it is. Other faults may pass and return.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog
from msgspec import Struct

from tequio_ledger.store import files
from tequio_shared.errors import TequioError
from tequio_shared.ids import sha256
from tequio_shared.log.cosigning import ForkEvidence

if TYPE_CHECKING:
    from tequio_ledger.runtime import Clock

log = structlog.get_logger(__name__)


class AlarmKind(enum.Enum):
    FORK = "fork"
    """The log signed two histories."""
    ROLLBACK = "rollback"
    """For a long time, the log has shown fewer entries than before."""
    ENTRIES = "entries"
    """Entries or tiles are not those under the signed root."""
    RULES = "rules"
    """An entry does not verify, or does not follow from those before it."""
    DERIVED = "derived"
    """The ledger's answers do not follow from its log."""
    QUORUM = "quorum"
    """No checkpoint has the cosignatures that the policy requires."""
    AWAY = "away"
    """The ledger does not answer."""


FINAL = {AlarmKind.FORK, AlarmKind.ENTRIES, AlarmKind.RULES}
"""Kinds after which the log cannot be followed any further."""


class Alarm(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """Content of the file."""

    kind: AlarmKind
    url: str
    at_ms: int
    why: str
    fork: ForkEvidence | None = None
    note: str = ""
    """The checkpoint in question, as it was received."""
    entries: dict[str, str] = msgspec.field(default_factory=dict)
    """Leaves by index, base64url."""
    differences: tuple[str, ...] = ()


class FoundError(TequioError):
    """The log has a final fault, which the alarm describes."""

    def __init__(self, alarm: Alarm) -> None:
        super().__init__(f"{alarm.kind.value}: {alarm.why}")
        self.alarm = alarm


class Alarms:
    """Raises each alarm once, and stores its evidence in a folder."""

    def __init__(self, folder: Path, url: str, clock: Clock) -> None:
        self._folder = folder
        self._url = url
        self._clock = clock
        self._ringing: set[tuple[AlarmKind, str]] = set()
        self.rang = False
        """True after any alarm."""

    def make(
        self,
        kind: AlarmKind,
        why: str,
        *,
        fork: ForkEvidence | None = None,
        note: bytes = b"",
        entries: dict[str, str] | None = None,
        differences: tuple[str, ...] = (),
    ) -> Alarm:
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
        """Store the evidence and log the alarm, unless the same alarm is ringing already."""
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
            log.error("evidence not stored", error=str(err), evidence=raw.decode())  # noqa: TRY400 - the event holds it
        log.error("alarm", kind=alarm.kind.value, why=alarm.why, evidence=str(path))

    def clear(self, kind: AlarmKind) -> None:
        """End the alarms of a kind, so that the next one rings again."""
        self._ringing = {one for one in self._ringing if one[0] is not kind}


def _name(alarm: Alarm) -> str:
    if alarm.fork is not None:
        return alarm.fork.name
    if alarm.kind in FINAL:
        alarm = msgspec.structs.replace(alarm, at_ms=0)
    return sha256(msgspec.json.encode(alarm)).hex()[:16]
