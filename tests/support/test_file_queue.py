"""Files of whole networks run one at a time, starting with the first file."""

from __future__ import annotations

from tests.support.file_queue import next_of

SMALL, OTHER = "tests/client/test_heap.py", "tests/ledger/test_main.py"
NETWORK, ANOTHER = "tests/whole/test_demo.py", "tests/whole/test_faults.py"


def test_a_network_starts_as_soon_as_none_is_running() -> None:
    waiting = [SMALL, OTHER, NETWORK, ANOTHER]
    assert next_of(waiting, []) == NETWORK
    assert next_of(waiting, [SMALL]) == NETWORK
    assert next_of(waiting, [ANOTHER, SMALL]) == SMALL


def test_no_worker_idles_when_only_one_kind_of_file_is_left() -> None:
    assert next_of([NETWORK], [ANOTHER]) == NETWORK
    assert next_of([OTHER, SMALL], []) == OTHER
