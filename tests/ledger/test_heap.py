"""Garbage is found soon, and free pages return to the system."""

from __future__ import annotations

import sys

import pytest

from tests.support.heap_programs import BODIES, GARBAGE, HOLES, SMALL_HOLES, run

MODULE = "tequio_ledger.runtime"


def test_dead_requests_do_not_wait_for_a_quarter_of_all_objects() -> None:
    assert run(GARBAGE, MODULE, is_tuned=True) < 15_000
    assert run(GARBAGE, MODULE, is_tuned=False) > 20_000, "else this test means nothing"


@pytest.mark.skipif(sys.platform != "linux", reason="glibc, and /proc")
def test_pages_of_large_blocks_go_back_whatever_lies_between_them() -> None:
    assert run(HOLES, MODULE, is_tuned=True) < 8
    assert run(HOLES, MODULE, is_tuned=False) > 20  # MiB


@pytest.mark.skipif(sys.platform != "linux", reason="glibc, and /proc")
def test_pages_between_small_blocks_go_back_too() -> None:
    assert run(SMALL_HOLES, MODULE, is_tuned=True) < 8
    assert run(SMALL_HOLES, MODULE, is_tuned=False) > 20  # MiB


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_bodies_that_break_off_leave_no_holes() -> None:
    assert run(BODIES, MODULE, is_tuned=True) < 16  # MiB, 5 of which are still in use
