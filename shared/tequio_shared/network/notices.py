"""Notices of organisers: announcements to a run or to the whole network, and reasons of pauses.

Rules. A run has at most one announcement, one reason and one address of a chat; a later one
replaces it, and an empty text takes it back. The reason of a pause may come before or after the
pause, and `run.resume` takes it back. Nothing in a run depends on them. (docs/protocol.md, 9.2) A
network has at most one announcement, under the same rules; a new one has to wait
`ANNOUNCEMENT_INTERVAL_MS` after the last one, also after that was taken back. (9.14)
"""

from __future__ import annotations

from dataclasses import dataclass

from tequio_shared.errors import RefusedError
from tequio_shared.limits import ANNOUNCEMENT_INTERVAL_MS
from tequio_shared.statements.network import NetNotice
from tequio_shared.statements.runs import RunNotice


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Plain text of organisers, and the entry that states it; `ts` is their own time, ms."""

    index: int
    ts: int
    text: str


@dataclass(slots=True, kw_only=True)
class RunNotices:
    """The notices of a run that are in force."""

    announcement: Notice | None = None
    pause_reason: Notice | None = None
    chat: Notice | None = None
    """Address of a service at which the organisers let people try the model."""

    def apply(self, index: int, ts: int, body: RunNotice) -> None:
        notice = Notice(index=index, ts=ts, text=body.text) if body.text else None
        match body.about:
            case "chat":
                self.chat = notice
            case "pause":
                self.pause_reason = notice
            case "run":
                self.announcement = notice


@dataclass(slots=True, kw_only=True)
class NetworkNotices:
    """The announcement to the whole network that is in force; only `apply` changes it."""

    announcement: Notice | None = None
    announced_ms: int = 0
    """`ts` of the last statement with a text, in force or not; 0: none yet."""

    def apply(self, index: int, ts: int, body: NetNotice) -> None:
        """Apply net.notice; raises RefusedError("too-early") so soon after the last one."""
        if not body.text:
            self.announcement = None
            return
        # Announcements interrupt people on their desktops, and stay in the log permanently.
        wait_ms = self.announced_ms + ANNOUNCEMENT_INTERVAL_MS - ts
        if self.announced_ms and wait_ms > 0:
            passed_ms = max(ts - self.announced_ms, 0)
            raise RefusedError(
                "too-early",
                f"the last announcement to the network was {passed_ms // 60_000} min ago: wait "
                f"{-(-wait_ms // 60_000)} min; until then, it can be withdrawn",
            )
        self.announcement = Notice(index=index, ts=ts, text=body.text)
        self.announced_ms = ts
