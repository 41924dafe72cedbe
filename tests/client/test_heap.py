"""Garbage is found soon, and free pages return to the system."""

from __future__ import annotations

import gc
import sys
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tequio_client import heap
from tests.support.heap_programs import GARBAGE, HOLES, run

if TYPE_CHECKING:
    from collections.abc import Iterator

MODULE = "tequio_client.heap"


def test_nothing_is_collected_while_modules_are_imported_and_then_it_is_again() -> None:
    enabled = []
    with suppress(ModuleNotFoundError), heap.collection_paused():
        enabled.append(gc.isenabled())
        raise ModuleNotFoundError
    assert [*enabled, gc.isenabled()] == [False, True]


class Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def _not_by_itself() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_not_by_itself")
def test_garbage_of_every_age_is_collected_once_it_is_due() -> None:
    old_cycle = Cycle()
    gc.collect(1)
    old, young = weakref.ref(old_cycle), weakref.ref(Cycle())
    del old_cycle
    heap.collect_due()
    assert young() is not None
    most, middle, oldest = gc.get_threshold()
    rounds = 0
    while old() is not None:
        assert rounds <= (middle + 2) * (oldest + 2)
        rounds += 1
        kept = [Cycle() for _ in range(most + 1)]
        heap.collect_due()
        assert young() is None
        del kept
    assert rounds > middle


def test_dead_streams_do_not_wait_for_a_quarter_of_all_objects() -> None:
    assert run(GARBAGE, MODULE, is_tuned=True) < 15_000
    assert run(GARBAGE, MODULE, is_tuned=False) > 20_000, "else this test means nothing"


@pytest.mark.skipif(sys.platform != "linux", reason="glibc, and /proc")
def test_pages_of_large_blocks_go_back_whatever_lies_between_them() -> None:
    assert run(HOLES, MODULE, is_tuned=True) < 8
    assert run(HOLES, MODULE, is_tuned=False) > 20  # MiB
