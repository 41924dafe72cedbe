"""Places of event streams: those who take all that they may leave room for everybody else."""

from __future__ import annotations

import pytest

from tequio_ledger.web.limits import CROWDED, Kind, Places
from tequio_shared.errors import RefusedError

MOST = 64


def take_all(places: Places, kind: Kind, network: str, most: int = MOST) -> int:
    """Take as many places as are given; says how many."""
    taken = 0
    while True:
        try:
            places.check(kind, network, most)
        except RefusedError:
            return taken
        places.enter(kind, network)
        taken += 1


@pytest.mark.parametrize("kind", Kind)
def test_32_networks_that_take_what_they_may_leave_places_for_others(kind: Kind) -> None:
    places = Places()
    for number in range(32):
        take_all(places, kind, f"greedy {number}")
    for number in range(64):
        assert take_all(places, kind, f"honest {number}") == CROWDED


def test_pages_take_no_place_of_a_program_and_programs_none_of_a_page() -> None:
    for full, other in ((Kind.LIVE, Kind.EVENTS), (Kind.EVENTS, Kind.LIVE)):
        places = Places()
        assert take_all(places, full, "everybody", most=0) == full.value
        assert take_all(places, other, "one") == MOST
        assert places.taken == full.value + MOST


def test_a_place_that_is_left_is_free_again() -> None:
    places = Places()
    assert take_all(places, Kind.EVENTS, "one") == MOST
    places.leave(Kind.EVENTS, "one")
    assert take_all(places, Kind.EVENTS, "one") == 1
