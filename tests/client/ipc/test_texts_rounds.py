"""Words for rounds and standings: nothing that the protocol can say is without them."""

from __future__ import annotations

import pytest

from tequio_client.app import worker_texts
from tequio_client.ipc import texts
from tequio_client.worker.points import points_db
from tequio_shared.network.standing import Standing
from tequio_shared.round.proof import RejectionReason

OUTCOMES = (
    points_db.VOID,
    points_db.SILENT,
    points_db.NOT_SELECTED,
    points_db.NO_POINTS,
    points_db.NOT_AUDITED,
)
NAMES = (*OUTCOMES, *(one.name.lower().replace("_", "-") for one in RejectionReason))


def test_every_reason_of_the_protocol_has_words_and_no_other_has() -> None:
    assert set(texts.ROUND_REASON_TEXTS) == set(NAMES)


def test_every_reason_is_told_apart() -> None:
    assert len(set(texts.ROUND_REASON_TEXTS.values())) == len(NAMES)


@pytest.mark.parametrize("words", texts.ROUND_REASON_TEXTS.values())
def test_reasons_stand_in_brackets_too(words: str) -> None:
    assert words[0].islower()
    assert not words.endswith(".")


def test_a_reason_of_a_later_version_is_named() -> None:
    assert worker_texts.round_failure("reason-77").endswith("(reason-77)")


def test_every_state_and_standing_has_words() -> None:
    outcomes = {points_db.PENDING, points_db.VERIFIED, points_db.REJECTED}
    assert set(texts.ROUND_STATES) == outcomes
    assert set(texts.STANDING_TEXTS) == {str(one) for one in Standing}
