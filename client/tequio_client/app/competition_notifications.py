"""Notifications about competitions: start, deadline, result, and this computer's judging.

Each is shown once. The keys of those shown are saved with the app's settings, so a restart does not
repeat them. Of several that came up while the app was not running, only the last is shown. A new
installation treats everything past as shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from tequio_client.app.pages import competition_text
from tequio_client.app.pages.page import PeriodicQuestion
from tequio_client.app.widgets import figures
from tequio_client.ipc.control import AskCompetitions, CompetitionRow, CompetitionsReply

if TYPE_CHECKING:
    from tequio_client.app.model import AppModel
    from tequio_client.app.settings_file import SettingsStore


REFRESH_MS = 15 * 60_000
"""Interval between two requests for the list."""
NEAR_MS = 24 * 3_600_000
NEAR_FRACTION = 4
"""A deadline is near in the last day, but never before the last quarter of the competition."""
ID_LETTERS = 12
MOST_KEYS = 192
"""Keys that are saved; a ledger lists fewer competitions, with five notifications each."""
COMPETITIONS_PAGE = "competitions"


class CompetitionStage(StrEnum):
    """Stages of a competition that are worth a notification, in their order."""

    BEGUN = "begun"
    NEAR = "near"
    DECIDED = "decided"


class JudgingStage(StrEnum):
    """Stages of this computer's judging that are worth a notification, in their order."""

    DRAWN = "drawn"
    DONE = "judged"


JUDGING_STAGES: dict[str, tuple[JudgingStage, ...]] = {
    "drawn": (JudgingStage.DRAWN,),
    "waiting": (JudgingStage.DRAWN,),
    "scored": (JudgingStage.DRAWN, JudgingStage.DONE),
}
"""Stages reached, by this computer's part in a competition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueNotification:
    """One notification to show, with its own key and those of all stages before it."""

    row: CompetitionRow
    stage: CompetitionStage | JudgingStage
    keys: tuple[str, ...]


def reached_stages(row: CompetitionRow, now_ms: int) -> tuple[CompetitionStage, ...]:
    if row.phase == "decided":
        return tuple(CompetitionStage)
    if row.phase != "open" or now_ms >= row.deadline_ms:
        return (CompetitionStage.BEGUN, CompetitionStage.NEAR)  # too late for either
    near_ms = min(NEAR_MS, (row.deadline_ms - row.opens_ms) // NEAR_FRACTION)
    found = []
    if now_ms >= row.opens_ms:
        found.append(CompetitionStage.BEGUN)
    if now_ms >= row.deadline_ms - near_ms:
        found.append(CompetitionStage.NEAR)
    return tuple(found)


def due_competitions(
    rows: Sequence[CompetitionRow], known_keys: Sequence[str], now_ms: int
) -> tuple[DueNotification, ...]:
    """For each competition the last stage reached, unless it was shown before."""
    found = []
    for row in rows:
        past = reached_stages(row, now_ms)
        marks = tuple(notification_key(row, turn) for turn in past)
        if past and marks[-1] not in known_keys and _is_in_time(row, past[-1], now_ms):
            found.append(DueNotification(row=row, stage=past[-1], keys=marks))
    return tuple(found)


def due_judging(
    rows: Sequence[CompetitionRow], known_keys: Sequence[str]
) -> tuple[DueNotification, ...]:
    """For each competition the last stage of judging, unless it was shown before."""
    found = []
    for row in rows:
        marks = tuple(notification_key(row, one) for one in JUDGING_STAGES.get(row.part, ()))
        if marks and marks[-1] not in known_keys:
            found.append(DueNotification(row=row, stage=JUDGING_STAGES[row.part][-1], keys=marks))
    return tuple(found)


def notification_key(row: CompetitionRow, turn: CompetitionStage | JudgingStage) -> str:
    return f"{row.competition[:ID_LETTERS]}:{turn}"


def _is_in_time(row: CompetitionRow, turn: CompetitionStage, now_ms: int) -> bool:
    """False for the start or deadline of a competition that is over already."""
    return turn is CompetitionStage.DECIDED or (row.phase == "open" and now_ms < row.deadline_ms)


class CompetitionNotifier(QObject):
    """Requests the list from time to time, and sends what is due to `send`."""

    def __init__(
        self,
        model: AppModel,
        book: SettingsStore,
        send: Callable[[str, str, str], None],
        now_ms: Callable[[], int],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._book, self._send, self._now_ms = book, send, now_ms
        self._list = PeriodicQuestion(model, now_ms, CompetitionsReply, REFRESH_MS)
        self._list.set_question(AskCompetitions())

    def refresh(self) -> None:
        """Request the list if it is old, and send what is due; never call it in full screen."""
        if not self._book.settings.notify_competitions:
            return
        self._list.poll()
        if self._list.reply is not None:
            self._send_due(self._list.reply.rows)

    def _send_due(self, rows: Sequence[CompetitionRow]) -> None:
        now_ms, known_keys = self._now_ms(), self._book.settings.competitions_told
        found = (*due_judging(rows, known_keys), *due_competitions(rows, known_keys, now_ms))
        if not self._book.settings.knows_competitions:
            known = [
                notification_key(row, turn) for row in rows for turn in reached_stages(row, now_ms)
            ]
            self._remember(known, knows_competitions=True)
            return
        if found:
            self._remember([text for one in found for text in one.keys])
            for one in found:
                self._send(*self._texts(one), COMPETITIONS_PAGE)

    def _remember(self, marks: Sequence[str], **changes: bool) -> None:
        known_keys = self._book.settings.competitions_told
        kept = tuple(dict.fromkeys((*known_keys, *marks)))[-MOST_KEYS:]
        self._book.change(competitions_told=kept, **changes)

    def _texts(self, one: DueNotification) -> tuple[str, str]:
        row, now_ms = one.row, self._now_ms()
        if isinstance(one.stage, JudgingStage):
            return self._judging_texts(one.stage, row)
        left = figures.duration((row.deadline_ms - now_ms) // 1_000)
        if one.stage is CompetitionStage.BEGUN:
            text = self.tr("{sides} race until {time}. See the rules, and join a side.")
            names = self._names([side.name for side in row.entrants if side.run])
            when = figures.moment(row.deadline_ms, now_ms)
            return self.tr("{name} has begun").format(name=row.name), text.format(
                sides=names, time=when
            )
        if one.stage is CompetitionStage.NEAR:
            title = self.tr("{name}: {time} until the deadline").format(name=row.name, time=left)
            return title, self.tr("After it nothing counts any more. See how the sides stand.")
        return self.tr("{name} is decided").format(name=row.name), self._result(row)

    def _judging_texts(self, turn: JudgingStage, row: CompetitionRow) -> tuple[str, str]:
        if turn is JudgingStage.DRAWN:
            text = self.tr("This computer scores %n model(s) when it may lend.", "", row.to_judge)
            return self.tr("You were drawn to judge {name}").format(name=row.name), text
        title = self.tr("You have judged {name}").format(name=row.name)
        return title, self.tr("All your scores are in the log. See how the sides stand.")

    def _names(self, names: list[str]) -> str:
        if not names:
            return self.tr("Runs")
        if len(names) > 3:  # noqa: PLR2004 - more do not fit a notification
            return self.tr("{name} and %n other(s)", "", len(names) - 1).format(name=names[0])
        return (
            self.tr("{names} and {last}").format(names=", ".join(names[:-1]), last=names[-1])
            if len(names) > 1
            else names[0]
        )

    def _result(self, row: CompetitionRow) -> str:
        first = [one for one in row.entrants if one.rank == 1]
        if not first:
            return self.tr("It ended without a ranking. See the reason and the scores.")
        score = competition_text.format_score(first[0].nanobits_per_byte)
        names = self._names([one.name for one in first])
        text = self.tr("First: {names}, with {score} bits per byte of text.")
        return text.format(names=names, score=score)
