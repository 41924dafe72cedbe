"""Garbage is found soon, and free pages return to the system."""

from __future__ import annotations

import gc
import sys
from contextlib import suppress

import pytest

from tequio_client import heap
from tests.support.heap_programs import GARBAGE, HOLES, run

MODULE = "tequio_client.heap"


def test_nothing_is_collected_while_modules_are_imported_and_then_it_is_again() -> None:
    enabled = []
    with suppress(ModuleNotFoundError), heap.collection_paused():
        enabled.append(gc.isenabled())
        raise ModuleNotFoundError
    assert [*enabled, gc.isenabled()] == [False, True]


def test_dead_streams_do_not_wait_for_a_quarter_of_all_objects() -> None:
    assert run(GARBAGE, MODULE, is_tuned=True) < 15_000
    assert run(GARBAGE, MODULE, is_tuned=False) > 20_000, "else this test means nothing"


@pytest.mark.skipif(sys.platform != "linux", reason="glibc, and /proc")
def test_pages_of_large_blocks_go_back_whatever_lies_between_them() -> None:
    assert run(HOLES, MODULE, is_tuned=True) < 8
    assert run(HOLES, MODULE, is_tuned=False) > 20  # MiB
