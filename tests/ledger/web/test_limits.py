"""Places of event streams: those who take all that they may leave room for everybody else."""

from __future__ import annotations

import pytest

from tequio_ledger.web.limits import CROWDED_STREAMS, StreamKind, StreamLimit
from tequio_shared.errors import RefusedError

MOST = 64


def take_all(limit: StreamLimit, kind: StreamKind, network: str, most: int = MOST) -> int:
    """Take as many places as are given; says how many."""
    taken = 0
    while True:
        try:
            limit.check(kind, network, most)
        except RefusedError:
            return taken
        limit.enter(kind, network)
        taken += 1


@pytest.mark.parametrize("kind", StreamKind)
def test_32_networks_that_take_what_they_may_leave_places_for_others(kind: StreamKind) -> None:
    limit = StreamLimit()
    for number in range(32):
        take_all(limit, kind, f"greedy {number}")
    for number in range(64):
        assert take_all(limit, kind, f"honest {number}") == CROWDED_STREAMS


def test_pages_take_no_place_of_a_program_and_programs_none_of_a_page() -> None:
    for full, other in ((StreamKind.LIVE, StreamKind.EVENTS), (StreamKind.EVENTS, StreamKind.LIVE)):
        limit = StreamLimit()
        assert take_all(limit, full, "everybody", most=0) == full.value
        assert take_all(limit, other, "one") == MOST
        assert limit.total == full.value + MOST


def test_a_place_that_is_left_is_free_again() -> None:
    limit = StreamLimit()
    assert take_all(limit, StreamKind.EVENTS, "one") == MOST
    limit.leave(StreamKind.EVENTS, "one")
    assert take_all(limit, StreamKind.EVENTS, "one") == 1
