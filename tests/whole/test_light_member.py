"""A member without witness duty follows steps of heads: real programs, with torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tests.support import small_network
from tests.support.real_network import running_network, start_with_trainers

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.whole

PLAN = small_network.plan(train_s=4.0) + "\n[algorithm]\ndown_k = 64\n"


def test_it_holds_the_same_heads_and_its_work_is_accepted(tmp_path: Path) -> None:
    trio.run(_follows_steps, tmp_path)


async def _follows_steps(folder: Path) -> None:
    files = small_network.RunFiles(config=small_network.CONFIG, plan=PLAN)
    async with running_network(folder, start_with_trainers) as stage:
        await small_network.found(stage, files)
        stage.seed()
        full = [stage.volunteer(name) for name in ("ana", "bo")]
        light = stage.volunteer("light", "--role", "trainer")

        async def has_followed() -> bool:
            await trio.sleep(0.5)  # logs are long to read
            if not light.program.log.exists():
                return False
            # It may also follow heads of rounds that began before it was ready.
            followed = {event["round"] for event in light.events("head followed")}
            counts = {event["round"]: event["accepted"] for event in light.events("round closed")}
            return [counts.get(number) for number in followed].count(3) >= 2

        await stage.until("two steps followed, of rounds with its work", has_followed, 180)
        followed = {event["round"]: event["head"] for event in light.events("head followed")}
        computed = {event["round"]: event["head"] for event in full[0].events("head computed")}
        assert followed.items() <= computed.items()
        assert not list(light.events("head computed"))
