"""Notifications about competitions: start, deadline, result, and this computer's judging.

Each is shown once. The keys of those shown are saved with the app's settings, so a restart does not
repeat them. Of several that came up while the app was not running, only the last is shown. A new
installation treats everything past as shown, and so does the switch when it is turned on again, and
an app that joins another network, except that this computer was drawn and its scores are not all in
the log yet.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from tequio_client.app.model import PeriodicQuestion
from tequio_client.app.pages import competition_text
from tequio_client.app.widgets import figures
from tequio_client.ipc.competitions import AskCompetitions, CompetitionRow, CompetitionsReply

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
    """Stages that are worth a notification; the last two are of this computer's judging."""

    BEGUN = "begun"
    NEAR = "near"
    DECIDED = "decided"
    DRAWN = "drawn"
    JUDGED = "judged"


JUDGING_STAGES = {
    "drawn": (CompetitionStage.DRAWN,),
    "waiting": (CompetitionStage.DRAWN,),
    "scored": (CompetitionStage.DRAWN, CompetitionStage.JUDGED),
}
"""Stages reached, by this computer's part in a competition."""


def reached_stages(row: CompetitionRow, now_ms: int) -> tuple[CompetitionStage, ...]:
    """Stages of the competition itself, in their order."""
    if row.phase == "decided":
        return (CompetitionStage.BEGUN, CompetitionStage.NEAR, CompetitionStage.DECIDED)
    if row.phase != "open" or now_ms >= row.deadline_ms:
        return (CompetitionStage.BEGUN, CompetitionStage.NEAR)  # too late for either
    near_ms = min(NEAR_MS, (row.deadline_ms - row.opens_ms) // NEAR_FRACTION)
    found = []
    if now_ms >= row.opens_ms:
        found.append(CompetitionStage.BEGUN)
    if now_ms >= row.deadline_ms - near_ms:
        found.append(CompetitionStage.NEAR)
    return tuple(found)


def due_stages(
    rows: Sequence[CompetitionRow], known_keys: Sequence[str], now_ms: int
) -> list[tuple[CompetitionRow, tuple[CompetitionStage, ...]]]:
    """Competitions with the stages reached, judging first, unless the last one was shown before."""
    judging = [(row, JUDGING_STAGES.get(row.part, ())) for row in rows]
    reached = [(row, reached_stages(row, now_ms)) for row in rows]
    return [
        (row, stages)
        for row, stages in (*judging, *reached)
        if stages
        and notification_key(row, stages[-1]) not in known_keys
        and _is_in_time(row, stages[-1], now_ms)
    ]


def notification_key(row: CompetitionRow, stage: CompetitionStage) -> str:
    return f"{row.competition[:ID_LETTERS]}:{stage}"


def _is_in_time(row: CompetitionRow, stage: CompetitionStage, now_ms: int) -> bool:
    """False for the start or deadline of a competition that is over already."""
    is_open = row.phase == "open" and now_ms < row.deadline_ms
    return is_open or stage not in (CompetitionStage.BEGUN, CompetitionStage.NEAR)


class CompetitionNotifier(QObject):
    """Requests the list from time to time, and sends what is due to `send`."""

    def __init__(
        self,
        model: AppModel,
        settings_store: SettingsStore,
        send: Callable[[str, str, str], None],
        now_ms: Callable[[], int],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._store, self._send, self._now_ms = settings_store, send, now_ms
        self._list = PeriodicQuestion(model, now_ms, CompetitionsReply, REFRESH_MS, parent=self)
        self._list.set_question(AskCompetitions())
        model.network_changed.connect(self._start_over)

    def refresh(self) -> None:
        """Request the list if it is old, and send what is due; never call it in full screen."""
        settings, now_ms = self._store.settings, self._now_ms()
        if not settings.notify_competitions:
            self._start_over()
            return
        self._list.poll()
        if self._list.reply is None:
            return
        rows, is_first = self._list.reply.rows, not settings.knows_competitions
        if is_first:  # what is past by now is never reported
            due = [(row, reached_stages(row, now_ms)) for row in rows]
            due += [(row, JUDGING_STAGES["scored"]) for row in rows if row.part == "scored"]
        else:
            due = due_stages(rows, settings.competitions_told, now_ms)
        keys = [notification_key(row, stage) for row, stages in due for stage in stages]
        if keys or is_first:
            known = dict.fromkeys((*settings.competitions_told, *keys))
            self._store.change(competitions_told=tuple(known)[-MOST_KEYS:], knows_competitions=True)
        if not is_first:
            for row, stages in due:
                self._send(*self._texts(row, stages[-1]), COMPETITIONS_PAGE)

    def _start_over(self) -> None:
        """Ask again, and treat what is past in that list as shown."""
        self._list.forget()
        self._store.change(knows_competitions=False)

    def _texts(self, row: CompetitionRow, stage: CompetitionStage) -> tuple[str, str]:
        now_ms = self._now_ms()
        if stage is CompetitionStage.DRAWN:
            text = self.tr("This computer scores %n model(s) when it may lend.", "", row.to_judge)
            return self.tr("You were drawn to judge {name}").format(name=row.name), text
        if stage is CompetitionStage.JUDGED:
            title = self.tr("You have judged {name}").format(name=row.name)
            return title, self.tr("All your scores are in the log. See how the entrants are doing.")
        if stage is CompetitionStage.BEGUN:
            text = self.tr("{sides} compete until {time}. See the rules, and join one of them.")
            names = self._names([side.name for side in row.entrants if side.run])
            when = figures.moment(row.deadline_ms, now_ms)
            title = self.tr("{name} has begun").format(name=row.name)
            return title, text.format(sides=names, time=when)
        if stage is CompetitionStage.NEAR:
            left = figures.duration((row.deadline_ms - now_ms) // 1_000)
            title = self.tr("{name}: {time} until the deadline").format(name=row.name, time=left)
            return title, self.tr(
                "Nothing submitted after it counts. See how the entrants are doing."
            )
        return self.tr("{name} is decided").format(name=row.name), self._result(row)

    def _names(self, names: list[str]) -> str:
        if not names:
            return self.tr("Runs")
        if len(names) > 3:  # noqa: PLR2004 - more do not fit a notification
            return self.tr("{name} and %n other(s)", "", len(names) - 1).format(name=names[0])
        if len(names) == 1:
            return names[0]
        return self.tr("{names} and {last}").format(names=", ".join(names[:-1]), last=names[-1])

    def _result(self, row: CompetitionRow) -> str:
        first = [one for one in row.entrants if one.rank == 1]
        if not first:
            return self.tr("It ended without a ranking. See the reason and the scores.")
        score = competition_text.format_score(first[0].nanobits_per_byte)
        perplexity = competition_text.format_perplexity(first[0].nanobits_per_byte)
        names = self._names([one.name for one in first])
        text = self.tr(
            "First: {names}, with {score} bits per byte of text (perplexity {perplexity} per byte)."
        )
        return text.format(names=names, score=score, perplexity=perplexity)
