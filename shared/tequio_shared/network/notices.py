"""Notices of organisers to the volunteers of a run: an announcement, and the reason of a pause.

Rules. A run has at most one of each; a later one replaces it, and an empty text takes it back. The
reason of a pause may come before or after the pause, and `run.resume` takes it back. Nothing in a
run depends on them. (docs/protocol.md, 9.2)
"""

from __future__ import annotations

from dataclasses import dataclass

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

    def apply(self, index: int, ts: int, body: RunNotice) -> None:
        notice = Notice(index=index, ts=ts, text=body.text) if body.text else None
        if body.about == "pause":
            self.pause_reason = notice
        else:
            self.announcement = notice
