"""The log of a process, which strangers cannot fill, and the end of its tasks."""

from __future__ import annotations

import asyncio
from typing import Never

import pytest
import structlog

from tequio_ledger.runtime import LINES_AT_ONCE, LINES_PER_S, EventRates, end_tasks
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


def test_a_task_whose_group_fails_while_it_is_cancelled_ends_too() -> None:
    failing = asyncio.Event()

    async def fail() -> Never:
        raise ValueError("the lead is lost")

    async def clean_up() -> None:
        try:
            await asyncio.sleep(3_600)
        finally:
            failing.set()
            await asyncio.sleep(0.2)

    async def lead_again() -> None:
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(clean_up())
                await asyncio.sleep(0)
                tasks.create_task(fail())
        except* ValueError:
            pass
        await asyncio.sleep(3_600)

    async def main() -> None:
        task = asyncio.create_task(lead_again())
        await failing.wait()
        await end_tasks([task])
        assert task.cancelled()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_the_error_of_a_task_is_raised_when_all_have_ended() -> None:
    async def fail() -> Never:
        raise ValueError("the disk is full")

    async def main() -> None:
        tasks = [asyncio.create_task(fail()), asyncio.create_task(asyncio.sleep(3_600))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        try:
            await end_tasks(tasks)
        finally:
            assert all(one.done() for one in tasks)

    with pytest.raises(ValueError, match="the disk is full"):
        asyncio.run(main())
