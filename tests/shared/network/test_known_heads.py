"""Heads that a long run still knows: the newest ones, and ever fewer of older ones."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from tequio_shared.limits import NEWEST_HEADS
from tequio_shared.network.accounts import RunProgress
from tequio_shared.network.full_run import FullRunView
from tests.support.memory_swarm import Swarm
from tests.support.tiny_run import tiny_manifest


def is_known(number: int, newest: int) -> bool:
    """The rule as the protocol has it."""
    step = 1
    while newest - number >= NEWEST_HEADS * step:
        step *= 2
    return number % step == 0


def view_with(numbers: list[int]) -> FullRunView:
    swarm = Swarm(manifest=tiny_manifest(most=1), seed=4)
    for name in ("ana", "luis", "inés"):
        swarm.volunteer(name)
    swarm.run_rounds(1)
    first, view = swarm.view.heads[0], swarm.view
    for number in numbers:
        view.accounts.trained[number] = RunProgress(tokens=number, ms=number)
        view._record_head(replace(first, round=number))  # noqa: SLF001 - promoted in rounds of days
    return view


def test_what_is_known_follows_from_the_numbers_of_the_rounds() -> None:
    rng, promoted = Random(1), [0, 1]
    while promoted[-1] < 40 * NEWEST_HEADS:  # a round in eight has no head
        promoted.append(promoted[-1] + 1 + (rng.random() < 1 / 8) * rng.randrange(9))
    view = view_with(promoted[2:])
    known = [number for number in promoted if is_known(number, promoted[-1])]
    assert list(view.heads) == known
    assert set(view.accounts.trained) <= set(known)
    assert len(known) < 5 * NEWEST_HEADS


def test_a_head_that_is_not_known_any_more_is_refused_with_its_neighbours() -> None:
    view = view_with(list(range(2, 4 * NEWEST_HEADS)))
    assert 81 not in view.heads
    assert view.why_unknown(81) == (
        "round 81 has no promoted head that is still known; near it, 80 and 84 have"
    )
