"""Admission rules, tiers and health of the ledger in words."""

from __future__ import annotations

from tequio_ledger.log.guard import Cause
from tequio_ledger.web.pages import text
from tequio_ledger.web.pages.home import HEALTH_LABELS
from tequio_shared.network.tiers import Tier
from tequio_shared.round.manifest import Admission


def test_a_run_that_takes_everybody_asks_nothing() -> None:
    assert text.admission_conditions(Admission()) == ()


def test_what_a_run_asks_is_said_rule_by_rule() -> None:
    rules = Admission(trainer_tier=1, witness_tier=2, owner_slots=1, owner_seats=1)
    assert text.admission_conditions(rules) == (
        "Only keys that a connector vouches for or organisers invited may train.",
        "Only keys that organisers invited may witness.",
        "An owner has at most 1 slot in a round.",
        "At most 1 of an owner's keys may witness.",
        "Ask an organiser for an invitation (tequio join), or connect an account (tequio connect).",
    )
    assert text.admission_conditions(Admission(witness_tier=2))[-1:] == (
        "Ask an organiser for an invitation (tequio join).",
    )
    assert text.admission_conditions(Admission(owner_seats=2)) == (
        "At most 2 of an owner's keys may witness.",
    )


def test_every_tier_has_a_word_and_one_of_a_newer_program_its_number() -> None:
    assert [text.tier(number).word for number in Tier] == ["Anonymous", "Vouched for", "Invited"]
    assert text.tier(3).word == "Tier 3"


def test_every_cause_for_which_a_ledger_does_not_sign_has_words_of_its_own() -> None:
    marks = [HEALTH_LABELS[cause.value] for cause in Cause]
    assert all(mark.description for mark in marks)
    assert len({mark.word for mark in marks}) == len(Cause)
