"""Rosters and results as documents."""

from __future__ import annotations

import msgspec
import pytest

from tequio_shared.errors import MalformedError
from tequio_shared.ids import sha256, to_text
from tequio_shared.round.documents import (
    TRAINER,
    WITNESS,
    Roster,
    RosterMember,
    RoundResult,
    SlotResult,
)


def member(name: str, share: int = 2, roles: tuple[str, ...] = (TRAINER, WITNESS)) -> RosterMember:
    return RosterMember(peer=to_text(sha256(name.encode())), roles=roles, speed=0, share=share)


ROSTER = Roster(
    members=(member("a"), member("b", 0, (WITNESS,)), member("c", 3)),
    pool=((1, 2), (7, 3)),
    train_ms=60_000,
)


def row(contribution: str) -> SlotResult:
    return SlotResult(
        contribution=contribution,
        verdict=1,
        reason=0,
        windows=3,
        ms=4,
        trainer_gflop=5,
        witness_gflop=6,
    )


def test_a_roster_survives_its_bytes() -> None:
    assert Roster.parse(ROSTER.encode()) == ROSTER


def test_the_pool_is_dealt_in_order_of_slots() -> None:
    assert ROSTER.assignment == {0: ((1, 2),), 2: ((7, 3),)}
    assert ROSTER.slots_of(WITNESS) == (0, 1, 2)
    assert ROSTER.slots_of(TRAINER) == (0, 2)


@pytest.mark.parametrize(
    "change",
    [
        {"pool": ((1, 2), (7, 2))},
        {"pool": ((1, 2), (2, 3))},
        {"pool": ((7, 3), (1, 2))},
        {"members": (member("a"), member("a", 0), member("c", 3))},
    ],
)
def test_a_roster_that_cannot_be_is_refused(change: dict[str, object]) -> None:
    broken = msgspec.structs.replace(ROSTER, **change)
    with pytest.raises(MalformedError):
        Roster.parse(broken.encode())


def test_a_result_survives_its_bytes_also_with_a_silent_slot() -> None:
    result = RoundResult(slots=(row(to_text(sha256(b"id"))), row("")))
    assert RoundResult.parse(result.encode()) == result


def test_a_result_names_contributions_in_full_or_not_at_all() -> None:
    with pytest.raises(MalformedError):
        RoundResult.parse(RoundResult(slots=(row("AAAA"),)).encode())
