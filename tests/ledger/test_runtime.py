"""The log of a process: what strangers cause cannot fill it."""

from __future__ import annotations

import structlog

from tequio_ledger.runtime import LINES_AT_ONCE, LINES_PER_S, EventRates
from tests.support.attack_table import attack


class SettableTime:
    """Seconds that only the test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        """Give the time."""
        return self.now_s


def lines(rates: EventRates, event: str, count: int, method: str = "info") -> list[object]:
    """Log an event so often; returns what each line that was written says of dropped ones."""
    written: list[object] = []
    for _ in range(count):
        try:
            written.append(rates(None, method, {"event": event}).get("dropped"))
        except structlog.DropEvent:
            continue
    return written


@attack("D8", layer="net", ends="a few lines of each event, and the number of the others")
def test_a_flood_of_one_event_is_cut_and_counted() -> None:
    time = SettableTime()
    rates = EventRates(time)
    assert lines(rates, "statement refused", LINES_AT_ONCE + 7) == [None] * LINES_AT_ONCE
    assert lines(rates, "stopped signing", 1) == [None], "another event"
    time.now_s += 1 / LINES_PER_S
    assert lines(rates, "statement refused", 3) == [7]
    time.now_s += 1
    assert lines(rates, "statement refused", 1) == [2]


def test_what_is_logged_for_debugging_is_not_cut() -> None:
    count = 10 * LINES_AT_ONCE
    assert len(lines(EventRates(SettableTime()), "request", count, "debug")) == count
