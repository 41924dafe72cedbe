"""Doing the work of a new key."""

from __future__ import annotations

import pytest
import structlog
import trio

from tequio_client.worker import registration as module
from tequio_client.worker.registration import registration
from tequio_shared.ids import NetworkId, PeerKey
from tequio_shared.work import has_work

NET, KEY = NetworkId(bytes([1]) * 32), PeerKey(bytes([2]) * 32)


@pytest.mark.trio
async def test_the_work_is_done_over_several_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STRIDE", 500)
    body = await registration(NET, KEY, 12)
    assert body.nonce > 500
    assert has_work(NET, KEY, 12, body.nonce)


@pytest.mark.trio
async def test_long_work_is_told_of_and_can_be_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FIRST_WORD_S", 0.01)
    with structlog.testing.capture_logs() as said, trio.move_on_after(0.5) as scope:
        await registration(NET, KEY, 256)  # nobody will ever find that
    assert scope.cancelled_caught
    assert {line["event"] for line in said} == {"working for our key to be admitted"}
    assert 2 <= len(said) < 10
