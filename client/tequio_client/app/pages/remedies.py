"""Problems that need the user, in words, and the page where they can be solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication

from tequio_client.app import snooze as app_words
from tequio_client.app.widgets import figures
from tequio_client.ipc.snapshot import Reason, State

if TYPE_CHECKING:
    from tequio_client.app.keys.service import KeyDesk
    from tequio_client.ipc.snapshot import Need, Snapshot

OPEN_SETTINGS = str(QT_TRANSLATE_NOOP("remedies", "Open Settings"))
OPEN_HARDWARE = str(QT_TRANSLATE_NOOP("remedies", "Open Hardware"))
TRY_AGAIN = str(QT_TRANSLATE_NOOP("remedies", "Try again"))
AWAY = str(QT_TRANSLATE_NOOP("remedies", "The ledger has not answered since {since}."))
AWAY_AT_WORK = str(
    QT_TRANSLATE_NOOP(
        "remedies",
        "The ledger has not answered since {since}. Work goes on, and points follow later.",
    )
)
BACK_UP = str(QT_TRANSLATE_NOOP("remedies", "Back it up"))
OPEN_ACTIVITY = str(QT_TRANSLATE_NOOP("remedies", "Open Activity"))
OPEN_RUNS = str(QT_TRANSLATE_NOOP("remedies", "Open Runs"))
WAYS = {
    Reason.TRAINER_BROKEN: (OPEN_ACTIVITY, "activity"),
    Reason.QUARANTINED: (OPEN_ACTIVITY, "activity"),
    Reason.NO_DEVICE: (OPEN_HARDWARE, "hardware"),
    Reason.NO_RUN: (OPEN_RUNS, "runs"),
}
OTHERWISE = (OPEN_SETTINGS, "settings")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remedy:
    """The text of a banner, and the page that its button opens."""

    level: str
    words: str
    button: str = ""
    target: str = ""


NEEDS = {
    "driver": str(QT_TRANSLATE_NOOP("remedies", "The graphics driver is too old to train with.")),
    "key-backup": str(
        QT_TRANSLATE_NOOP(
            "remedies", "Your key has no backup: if this disk fails, your points cannot be claimed."
        )
    ),
    "disk": str(QT_TRANSLATE_NOOP("remedies", "The disk is nearly full.")),
    "update": str(QT_TRANSLATE_NOOP("remedies", "A newer Tequio is needed to take part.")),
    "ledger": str(QT_TRANSLATE_NOOP("remedies", "The ledger's address has to be checked.")),
    "device": str(QT_TRANSLATE_NOOP("remedies", "A device cannot be used.")),
    "standing": str(
        QT_TRANSLATE_NOOP("remedies", "Your key's standing in the network has changed.")
    ),
    "clock": str(QT_TRANSLATE_NOOP("remedies", "This computer's clock is wrong.")),
}
PLACES = {
    "driver": (OPEN_HARDWARE, "hardware"),
    "device": (OPEN_HARDWARE, "hardware"),
    "standing": (OPEN_ACTIVITY, "activity"),
    "clock": ("", ""),
}


def remedy(snapshot: Snapshot | None, why_gone: str, now_ms: int) -> Remedy | None:
    """The most urgent problem; None: there is none."""
    if snapshot is None:
        return _gone(why_gone) if why_gone else None
    if snapshot.decision.state is State.ATTENTION:
        button, target = WAYS.get(snapshot.decision.reason, OTHERWISE)
        words = app_words.words_reason(snapshot.decision, now_ms)
        return Remedy(level="error", words=words, button=_say(button), target=target)
    if snapshot.ledger.since_ms and not snapshot.ledger.is_reached:
        return Remedy(level="warning", words=_away(snapshot, now_ms))
    for need in snapshot.needs:
        button, target = PLACES.get(need.kind, OTHERWISE)
        return Remedy(level="warning", words=need_words(need), button=_say(button), target=target)
    return None


def backup(keys: KeyDesk | None) -> Remedy | None:
    """A reminder while the key has no backup."""
    if keys is None or not keys.state.wants_backup:
        return None
    words, button = _say(NEEDS["key-backup"]), _say(BACK_UP)
    return Remedy(level="warning", words=words, button=button, target="key-backup")


def need_words(need: Need) -> str:
    return f"{_say(NEEDS[need.kind])} {need.text}".strip()


def _gone(why: str) -> Remedy:
    return Remedy(level="error", words=why, button=_say(TRY_AGAIN), target="try-again")


def _away(snapshot: Snapshot, now_ms: int) -> str:
    since = figures.moment(snapshot.ledger.since_ms, now_ms)
    waiting = figures.count(snapshot.ledger.waiting)
    kept = QCoreApplication.translate(
        "remedies", "Statements that wait here for it: {waiting}."
    ).format(waiting=waiting)
    is_waited_for = snapshot.decision.reason is Reason.LEDGER_AWAY
    away = _say(AWAY if is_waited_for else AWAY_AT_WORK).format(since=since)
    return f"{away} {kept}" if snapshot.ledger.waiting else away


def _say(text: str) -> str:
    return QCoreApplication.translate("remedies", text) if text else ""
