"""Words: every state and reason has its sentence, which its values fill and which has an end."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from string import Formatter
from typing import TYPE_CHECKING

import pytest

from tequio_client.ipc import texts
from tequio_client.ipc.snapshot import Decision, LendingReason, LendingState

if TYPE_CHECKING:
    from tequio_client.ipc.snapshot import Value

NOW_MS = 1_800_000_000_000
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS

VALUES: dict[str, dict[str, Value]] = {
    "plugin": {"plugin": "tiny 1.0", "archive": "AyWYp"},
    "lending-while-used": {"share": 30},
    "until-game-closes": {"program": "doom"},
    "until-game-closes.until": {"program": "doom"},
    "finishing": {"round": 7},
    "trainer-broken": {"problem": "exit 1 {}"},
    "key": {"problem": "the keyring is locked"},
    "ledger-unknown": {"address": "http://x"},
    "ledger-away": {"address": "http://x"},
    "no-swarm": {"problem": "the port is in use"},
    "no-run.barred": {"problem": "its rules are newer"},
    "quarantined": {"problem": "until Monday"},
    "outdated": {"wanted": "0.3.0", "own": "0.1.0"},
    "clock": {"minutes": 10},
    "clock.behind": {"minutes": 10},
    "no-device.small": {"device": "GT 710", "wanted": 4_000},
    "disk": {"free": 19.5, "wanted": 20},
    "disk.store": {"used": 34.5, "most": 30},
    "hot": {"device": "RTX 5070", "degrees": 86, "limit": 80},
    "game": {"program": "doom"},
    "fullscreen": {"program": "game.exe"},
    "film": {"program": "mpv"},
    "exclusive": {"program": "blender"},
    "quota": {"gb": 100},
    "in-use": {"minutes": 5},
    "others-gpu": {"device": "RTX 5070", "percent": 40},
    "others-gpu.until": {"device": "RTX 5070", "percent": 0},
    "others-cpu": {"percent": 60, "below": 40},
    "gpu-memory": {"device": "RTX 5070", "free": 3_000, "wanted": 4_000},
    "gpu-unknown.load": {"device": "RTX 5070"},
    "gpu-unknown.memory": {"device": "RTX 5070"},
}
"""Values of each template, except for the fact that selects it."""
ENDS = {"after-game", "schedule", "quota", "slowed"}
"""Reasons whose end is always known."""


def decision(key: str, state: LendingState = LendingState.WAITING) -> Decision:
    reason, _, fact = key.partition(".")
    values = dict(VALUES.get(key, {}))
    has_end = fact == "until" or key in ENDS
    if fact and fact != "until":
        values["fact"] = fact
    return Decision(
        state=state,
        reason=LendingReason(reason),
        values=values,
        until_ms=NOW_MS + 10 * MINUTE_MS if has_end else None,
    )


def local(at_ms: int) -> texts.LocalTime:
    at = datetime.fromtimestamp(at_ms / 1_000, UTC)
    return texts.LocalTime(weekday=f"{at:%A}", date=f"{at.day} {at:%B}", time=f"{at:%H:%M}")


def test_every_reason_and_every_state_has_words() -> None:
    assert {key.partition(".")[0] for key in texts.REASON_TEMPLATES} == {
        str(reason) for reason in LendingReason
    }
    assert set(texts.STATE_WORDS) == set(LendingState)
    assert all(word.isalpha() for word in texts.STATE_WORDS.values())


@pytest.mark.parametrize("key", texts.REASON_TEMPLATES)
def test_a_template_is_filled_by_the_values_of_its_reason(key: str) -> None:
    found = decision(key)
    assert texts.decision_template(found) == texts.REASON_TEMPLATES[key]
    said = texts.decision_sentence(found, NOW_MS, local)
    assert said.startswith("Waiting: ")
    assert said.endswith(".")
    assert not re.search(r"\{\w", said)


@pytest.mark.parametrize("key", texts.REASON_TEMPLATES)
def test_a_template_asks_for_nothing_that_its_reason_does_not_give(key: str) -> None:
    asked = {
        name for _, name, _, _ in Formatter().parse(texts.REASON_TEMPLATES[key]) if name is not None
    }
    given = {*VALUES.get(key, {}), *(("until",) if decision(key).until_ms else ())}
    assert asked <= given


def test_every_fact_that_the_contract_names_has_a_sentence_of_its_own() -> None:
    facts = {
        "ledger-unknown": {"none"},
        "lending": {"spare", "unseen"},
        "by-hand": {"finished", "device"},
        "until-game-closes": {"any"},
        "clock": {"behind"},
        "no-device": {"small"},
        "no-run": {"open", "fits", "taken", "ended", "barred"},
        "disk": {"unknown", "store"},
        "battery-unknown": {"saver", "probe", "starting"},
        "schedule": {"never"},
        "metered": {"unknown"},
        "cannot-tell": {"session", "idle", "fullscreen", "game", "programs", "other-user"},
        "others-cpu": {"unknown"},
        "gpu-unknown": {"load", "memory", "starting"},
    }
    named = {f"{reason}.{fact}" for reason, group in facts.items() for fact in group}
    assert {
        key for key in texts.REASON_TEMPLATES if "." in key and not key.endswith(".until")
    } == named
    sentences = list(texts.REASON_TEMPLATES.values())
    assert len(set(sentences)) == len(sentences)


@pytest.mark.parametrize(
    "key", [key for key in texts.REASON_TEMPLATES if not key.startswith("lending")]
)
def test_a_reason_to_stop_names_its_end_or_the_way_out(key: str) -> None:
    ways = "Resumes|Choose |Contribute|See |Settings|Hardware|Check |Then |Activity"
    assert re.search(ways, texts.REASON_TEMPLATES[key])


@pytest.mark.parametrize("key", ["lending", "lending-while-used", "lending-anyway", "judging"])
def test_a_reason_to_work_promises_no_pause_that_a_setting_may_turn_off(key: str) -> None:
    assert re.search("game|pause", texts.REASON_TEMPLATES[key], re.IGNORECASE) is None


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            decision("fullscreen"),
            "Waiting: a game is fullscreen (game.exe). Resumes 60 s after it closes.",
        ),
        (
            Decision(
                state=LendingState.SNOOZED,
                reason=LendingReason.SNOOZED,
                until_ms=NOW_MS + 15 * MINUTE_MS,
            ),
            "Snoozed: you asked for a break. Resumes in 15 min.",
        ),
        (
            Decision(
                state=LendingState.WAITING,
                reason=LendingReason.AFTER_GAME,
                until_ms=NOW_MS + 44_001,
            ),
            "Waiting: a game or another exclusive program has just closed. Resumes in 45 s.",
        ),
        (
            Decision(
                state=LendingState.WAITING,
                reason=LendingReason.SCHEDULE,
                until_ms=NOW_MS + 600 * MINUTE_MS,
            ),
            "Waiting: outside the hours in which you lend. Resumes at 18:00.",
        ),
        (
            Decision(state=LendingState.PAUSED, reason=LendingReason.BY_HAND),
            "Paused: you paused it. Resumes when you choose Contribute.",
        ),
    ],
)
def test_a_sentence_reads_as_one(found: Decision, said: str) -> None:
    assert texts.decision_sentence(found, NOW_MS, local) == said


@pytest.mark.parametrize(
    ("left_ms", "said"),
    [
        (-5, "in 0 s"),
        (1, "in 1 s"),
        (89_999, "in 90 s"),
        (90_000, "in 2 min"),
        (3_599_999, "in 60 min"),
        (3_600_000, "at 09:00"),
        (16 * HOUR_MS - 1, "at 23:59"),
        (16 * HOUR_MS, "on Saturday at 00:00"),
        (6 * DAY_MS - 1, "on Thursday at 07:59"),
        (6 * DAY_MS, "on 21 January at 08:00"),
    ],
)
def test_an_end_is_told_by_how_near_it_is(left_ms: int, said: str) -> None:
    template, values = texts.end_template(NOW_MS + left_ms, NOW_MS, local)
    assert template in texts.END_TEMPLATES.values()
    assert template.format(**values) == said


def test_a_fact_of_a_newer_program_has_the_reasons_plain_words() -> None:
    found = Decision(
        state=LendingState.WAITING, reason=LendingReason.CANNOT_TELL, values={"fact": "moon-phase"}
    )
    assert texts.decision_template(found) == texts.REASON_TEMPLATES["cannot-tell"]
