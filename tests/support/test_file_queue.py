"""Files of whole networks run one at a time, and from the beginning on."""

from __future__ import annotations

from tests.support.file_queue import next_of

SMALL, OTHER = "tests/client/test_heap.py", "tests/ledger/test_main.py"
NETWORK, ANOTHER = "tests/whole/test_demo.py", "tests/whole/test_faults.py"


def test_a_network_is_begun_as_soon_as_none_is_under_way() -> None:
    waiting = [SMALL, OTHER, NETWORK, ANOTHER]
    assert next_of(waiting, []) == NETWORK
    assert next_of(waiting, [SMALL]) == NETWORK
    assert next_of(waiting, [ANOTHER, SMALL]) == SMALL


def test_nobody_waits_for_a_turn_when_nothing_else_is_left() -> None:
    assert next_of([NETWORK], [ANOTHER]) == NETWORK
    assert next_of([OTHER, SMALL], []) == OTHER
