"""Events of rounds, energy by round, and sums, without a ledger."""

from __future__ import annotations

from contextlib import closing
from random import Random
from typing import TYPE_CHECKING, cast

import pytest

from tequio_client.ipc.points import AskActivity, AskPoints
from tequio_client.worker.points import points
from tequio_client.worker.points.activity import ActivityDatabase
from tequio_client.worker.points.points import Bookkeeping
from tequio_client.worker.points.points_db import VOIDED, PointsDatabase, RoundOutcome
from tests.client.ipc.test_texts import local
from tests.client.worker.points.test_points_db_points_book import KEY, PAID, checkpoint, place
from tests.support.event_sentences import event_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Bookkeeping]:
    with (
        closing(PointsDatabase.opened(tmp_path, KEY)) as book,
        closing(ActivityDatabase.opened(tmp_path, lambda: 5)) as activity,
    ):
        nowhere = cast("LedgerApi", None)
        yield Bookkeeping(book, activity, nowhere, KEY, tmp_path / "log.json", rng=Random(1))


@pytest.mark.parametrize(
    ("outcome", "level", "said"),
    [
        (PAID, "good", "tiny, round 1: your work was accepted, for 105 points."),
        (
            RoundOutcome(state="verified"),
            "good",
            "tiny, round 1: your work was accepted, for 0 points.",
        ),
        (
            RoundOutcome(state="verified", witnessed=2_500),
            "good",
            "tiny, round 1: 0.25 points for checking others' work.",
        ),
        (
            RoundOutcome(state="verified", reason="not-selected", witnessed=2_500),
            "good",
            "tiny, round 1: 0.25 points for checking others' work.",
        ),
        (
            RoundOutcome(state="rejected", reason="not-selected"),
            "info",
            "tiny, round 1: too few witnesses received your work in time. This does not "
            "count against you.",
        ),
        (
            RoundOutcome(state="rejected", reason="silent"),
            "warning",
            "tiny, round 1: the round ended without your work.",
        ),
        (
            VOIDED,
            "info",
            "tiny, round 1: the round is void, and its work is assigned again.",
        ),
        (
            RoundOutcome(state="verified", reason="no-points"),
            "info",
            "tiny, round 1: you were not asked to do anything that earns points.",
        ),
        (
            RoundOutcome(state="rejected", reason="cosine"),
            "error",
            "tiny, round 1: the witnesses refused your work (cosine).",
        ),
        (
            RoundOutcome(state="verified", reason="copy", witnessed=9),
            "error",
            "tiny, round 1: the witnesses refused your work (copy).",
        ),
    ],
)
def test_the_end_of_a_round_is_said_in_words(
    kept: Bookkeeping, outcome: RoundOutcome, level: str, said: str
) -> None:
    kept.points_db.on_end(place(10), outcome)
    (row,) = kept.activity.answer(AskActivity()).rows
    assert (event_sentence(row, local), row.level) == (said, level)


def test_energy_goes_to_the_round_that_it_was_spent_in(kept: Bookkeeping) -> None:
    kept.points_db.add_round(place(10))
    kept.points_db.add_round(place(20))
    kept.add_energy(10, 10.0)
    kept.add_energy(20, 3.0)  # another card's round, at the same time
    kept.add_energy(10, 5.0)
    kept.save()
    kept.add_energy(20, 4.0)
    kept.save()
    kept.save()
    rows = points.read_rounds(kept.points_db.file, AskPoints()).rows
    assert {row.number: row.energy_j for row in rows} == {10: 15.0, 20: 7.0}


def test_points_beyond_those_proven_are_shown_as_unverified(kept: Bookkeeping) -> None:
    each = PAID.gflop
    kept.catch_up.claimed = 3 * each
    assert (kept.totals(0).total, kept.totals(0).unverified) == (0, 3 * each)
    kept.points_db.record_proven_end(place(10), 19, PAID, checkpoint(20))
    assert (kept.totals(0).total, kept.totals(0).unverified) == (each, 2 * each)
    kept.catch_up.claimed = 0  # asked before the round ended
    assert (kept.totals(0).total, kept.totals(0).unverified) == (each, 0)
    assert kept.totals(10_001).today == 0


def test_a_difference_is_told_once(kept: Bookkeeping) -> None:
    kept.catch_up.on_difference(50_000, 30_000)
    kept.catch_up.on_difference(50_000, 30_000)
    kept.catch_up.on_difference(60_000, 30_000)
    said = [event_sentence(row, local) for row in kept.activity.answer(AskActivity()).rows]
    assert len(said) == 2
    assert said[1] == (
        "The ledger says that you have 5.00 points, but its log proves 3.00. What is not proven "
        "is not counted here."
    )
