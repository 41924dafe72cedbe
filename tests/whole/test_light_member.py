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
            is_up = light.program.log.exists()
            return is_up and len(list(light.events("head followed"))) >= 2

        await stage.until("the member followed two steps", has_followed, 180)
        followed = {event["round"]: event["head"] for event in light.events("head followed")}
        computed = {event["round"]: event["head"] for event in full[0].events("head computed")}
        assert followed.items() <= computed.items()
        assert not list(light.events("head computed"))
        closed = [event for event in light.events("round closed") if event["round"] in followed]
        assert {event["accepted"] for event in closed} == {3}, "its contributions count"
