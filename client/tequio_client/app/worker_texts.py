"""Texts in the user's language for the codes that worker and app exchange.

The English templates are in `ipc.texts`; their translations are in the context `words`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale

from tequio_client.app.language import join_sentences, with_reason
from tequio_client.app.widgets import figures
from tequio_client.ipc import texts
from tequio_client.ipc.snapshot import (
    Decision,
    DesiredState,
    LendingState,
    PointsView,
    ReachabilityView,
    Snapshot,
    Value,
)
from tequio_client.ipc.texts import ActivityEvent
from tequio_shared.network.standing import describe_cause

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tequio_client.app.model import AppModel
    from tequio_client.ipc.points import ActivityRow

    TimeTemplate = Callable[
        [int, int, Callable[[int], texts.LocalTime]], tuple[str, Mapping[str, Value]]
    ]

CONTEXT = "words"
HEADLINE_CONTEXT = "headline"
STARTING_WORKER = ("Starting", "The worker is being started.")
PAUSING = ("Pausing…", "The device is given back at once.")
STARTING = ("Starting…", "Checking whether it's OK to start…")
CUT_OFF = (
    "No connection",
    "Neither the network's ledger nor another computer answers. Tequio keeps trying; work that has "
    "begun goes on.",
)
WORKING = (LendingState.LENDING, LendingState.FINISHING)


def is_cut_off(snapshot: Snapshot) -> bool:
    """True if this computer works, but nobody could receive the result now."""
    ledger, status = snapshot.ledger, snapshot.status
    is_away = bool(ledger.since_ms) and not ledger.is_reached
    has_peers = status is not None and status.peers > 0
    return snapshot.decision.state in WORKING and is_away and not has_peers


def shown_state(model: AppModel) -> LendingState:
    """The state whose shape is shown: without a worker or any connection, nothing is lent."""
    snapshot = model.snapshot
    if snapshot is None:
        return LendingState.ATTENTION if model.why_gone else LendingState.WAITING
    return LendingState.WAITING if is_cut_off(snapshot) else snapshot.decision.state


def headline(model: AppModel, now_ms: int) -> tuple[str, str]:
    """The word for the state and its reason, as shown above the pages and in the tray.

    Both come from the worker. Between the user's command and its confirmation the previous state
    would look as if the click was ignored, so this says what is in progress.
    """
    snapshot, command = model.snapshot, model.unconfirmed
    if snapshot is None:
        if model.why_gone:
            return state_name(LendingState.ATTENTION), model.why_gone
        return _headline(STARTING_WORKER)
    if command is None or _changes_nothing_yet(command, snapshot.decision):
        if is_cut_off(snapshot):
            return _headline(CUT_OFF)
        if snapshot.audits.is_running and snapshot.decision.state is LendingState.LENDING:
            return _auditing(snapshot.audits.ordered_round)
        return state_name(snapshot.decision.state), decision_reason(snapshot.decision, now_ms)
    return _headline(STARTING if command.lend and command.snooze is None else PAUSING)


def _changes_nothing_yet(command: DesiredState, now: Decision) -> bool:
    """True if the round under way goes on as it is."""
    return command.finish or (command.lend and command.snooze is None and now.may_compute)


def _headline(texts: tuple[str, str]) -> tuple[str, str]:
    word, reason = texts
    return (
        QCoreApplication.translate(HEADLINE_CONTEXT, word),
        QCoreApplication.translate(HEADLINE_CONTEXT, reason),
    )


def _auditing(of_round: int) -> tuple[str, str]:
    word, reason = (_translate(text) for text in texts.AUDITING)
    return word, reason.format(round=figures.count(of_round))


def vesting_text(points: PointsView) -> str:
    """Say how many points can still be lost, and how many were; empty: none."""
    lines = []
    if points.unvested:
        lines.append(
            QCoreApplication.translate(
                "vesting",
                "{points} of your points are still vesting: they can be lost if work turns out "
                "not to have been done.",
            ).format(points=figures.short_points(points.unvested))
        )
    if points.forfeited:
        lines.append(
            QCoreApplication.translate(
                "vesting", "{points} more were forfeited, and are no longer counted."
            ).format(points=figures.short_points(points.forfeited))
        )
    return "\n".join(lines)


def state_name(now: LendingState) -> str:
    return _translate(texts.STATE_WORDS[now])


def reachability_text(shown: ReachabilityView) -> str:
    """Say whether others can connect to this computer, what that means, and what to do."""
    words = join_sentences(*map(_translate, texts.reachability_templates(shown)))
    return words.format(**texts.reachability_values(shown))


def decision_reason(decision: Decision, now_ms: int) -> str:
    """The reason and its end, in one or two sentences."""
    text = _reason(decision, now_ms, texts.end_template)
    return text[:1].upper() + text[1:]


def _reason(decision: Decision, now_ms: int, time_template: TimeTemplate) -> str:
    values = {name: _localised(name, value) for name, value in decision.values.items()}
    if decision.until_ms is not None:
        template, time_values = time_template(decision.until_ms, now_ms, _local)
        values["until"] = _translate(template).format(**time_values)
    return _translate(texts.decision_template(decision)).format(**values)


def event_text(row: ActivityRow) -> str:
    """An event of the activity log, in one or two sentences."""
    try:
        if row.code == ActivityEvent.DECIDED:
            decision = texts.event_decision(row)
            # The end as a time: `in 5 min` would count from now.
            reason = _reason(decision, row.at_ms, texts.time_template)
            return with_reason(state_name(decision.state), reason)
        filled = {name: _localised(name, value) for name, value in row.values.items()}
        return _translate(texts.event_template(row)).format(**filled, code=row.code)
    except (KeyError, ValueError):
        return _translate(texts.UNKNOWN_EVENT).format(code=row.code)


def _local(at_ms: int) -> texts.LocalTime:
    weekday = QLocale().toString(QDateTime.fromMSecsSinceEpoch(at_ms).date(), "dddd")
    return texts.LocalTime(weekday=weekday, date=figures.day(at_ms), time=figures.clock(at_ms))


def round_state_name(name: str) -> str:
    return _translate(texts.ROUND_STATES.get(name, name))


def round_failure(name: str) -> str:
    """The reason why a round earned nothing, as half a sentence; empty for an empty code."""
    template = texts.ROUND_REASON_TEXTS.get(name, texts.UNKNOWN_REASON)
    return _translate(template).format(reason=name) if name else ""


def _localised(name: str, value: Value) -> object:
    if name in texts.POINT_VALUES:
        return figures.short_points(int(value))
    if name == "reason":
        return round_failure(str(value))
    if name == "standing":
        return _translate(texts.STANDING_TEXTS.get(str(value), str(value)))
    if name == "cause":
        return _translate(describe_cause(int(value)))
    if name == "declined":
        template = texts.DECLINED_AUDIT_TEXTS.get(str(value), texts.UNKNOWN_REASON)
        return _translate(template).format(reason=value)
    return _number(value) if isinstance(value, (int, float)) else value


def _number(value: float) -> str:
    return figures.count(value) if isinstance(value, int) else figures.decimal(value, 1)


def _translate(template: str) -> str:
    return QCoreApplication.translate(CONTEXT, template)
