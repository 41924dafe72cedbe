"""Texts of events: every event has one, points in the user's way, and translated throughout."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, TypeAlias

import pytest
from PySide6.QtCore import QLocale

from tequio_client.app import worker_texts
from tequio_client.ipc import texts
from tequio_client.ipc.points import ActivityRow
from tequio_client.ipc.snapshot import Decision, LendingReason, LendingState
from tequio_client.ipc.texts import EVENT_TEMPLATES, ActivityEvent
from tests.support.app_language import PseudoLocale
from tests.support.app_scenes import NOW_MS

if TYPE_CHECKING:
    from tequio_client.app.language import Language

Values: TypeAlias = "dict[str, str | int | float]"
pytestmark = pytest.mark.usefixtures("language")


@pytest.mark.parametrize("code", EVENT_TEMPLATES)
def test_every_event_is_a_translated_sentence(code: ActivityEvent, language: Language) -> None:
    fields = {name for _, name, _, _ in Formatter().parse(EVENT_TEMPLATES[code]) if name}
    row = ActivityRow(number=1, at_ms=NOW_MS, code=code, values=dict.fromkeys(fields, 7))
    assert worker_texts.event_text(row).rstrip()[-1] == "."
    language.apply(QLocale("en_US"), PseudoLocale())
    assert worker_texts.event_text(row).startswith("[")


def test_points_of_an_event_are_written_in_the_users_way(language: Language) -> None:
    values: Values = {"run": "nova", "round": 12_345, "points": 12_349_999}
    row = ActivityRow(number=1, at_ms=NOW_MS, code=ActivityEvent.ROUND_ACCEPTED, values=values)
    assert "for 1,234 points" in worker_texts.event_text(row)
    language.apply(QLocale("de"), PseudoLocale())
    assert "1.234" in worker_texts.event_text(row)


def test_a_rejection_says_why_in_words() -> None:
    values: Values = {"run": "nova", "round": 3, "reason": "norm"}
    row = ActivityRow(number=1, at_ms=NOW_MS, code=ActivityEvent.ROUND_REJECTED, values=values)
    assert "(the contribution was far larger than the others)" in worker_texts.event_text(row)


def test_a_decision_of_the_past_ended_at_a_time() -> None:
    decision = Decision(
        state=LendingState.SNOOZED, reason=LendingReason.SNOOZED, until_ms=NOW_MS - 60_000
    )
    values = texts.event_values(decision)
    row = ActivityRow(number=1, at_ms=NOW_MS - 600_000, code=ActivityEvent.DECIDED, values=values)
    said = worker_texts.event_text(row)
    assert said.startswith("Snoozed: you asked for a break. Resumes at ")
    assert " min" not in said


@pytest.mark.parametrize(
    ("code", "values"),
    [("made-up", {}), (ActivityEvent.JOINED_RUN, {}), (ActivityEvent.DECIDED, {"state": "x"})],
)
def test_what_this_version_does_not_know_is_named(code: str, values: Values) -> None:
    row = ActivityRow(number=1, at_ms=NOW_MS, code=code, values=values)
    assert f"({code})" in worker_texts.event_text(row)


def test_a_round_has_a_state_and_a_reason_in_words() -> None:
    assert worker_texts.round_state_name("verified") == "Verified"
    assert worker_texts.round_failure("") == ""
    assert worker_texts.round_failure("copy").startswith("the contribution was nearly the same")
    assert "reason-99" in worker_texts.round_failure("reason-99")
