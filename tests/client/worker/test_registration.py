"""Doing the work of a new key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio
from structlog.testing import CapturingLogger

from tequio_client.worker.ledger import outbox as module
from tequio_client.worker.ledger.outbox import registration
from tequio_shared.ids import NetworkId, PeerKey
from tequio_shared.statements.proof_of_work import find_nonce, has_work

if TYPE_CHECKING:
    from trio.testing import MockClock

NET, KEY = NetworkId(bytes([1]) * 32), PeerKey(bytes([2]) * 32)


@pytest.mark.trio
async def test_the_work_is_done_over_several_strides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STRIDE", 500)
    body = await registration(NET, KEY, 12)
    assert body.nonce > 500
    assert has_work(NET, KEY, 12, body.nonce)


@pytest.mark.trio
async def test_long_work_is_told_of_ever_more_seldom_and_can_be_given_up(
    monkeypatch: pytest.MonkeyPatch, mock_clock: MockClock
) -> None:
    def slowly(net: NetworkId, key: PeerKey, bits: int, first: int, count: int) -> int | None:
        mock_clock.jump(0.25)
        return find_nonce(net, key, bits, first, count)

    monkeypatch.setattr(module, "STRIDE", 10)
    monkeypatch.setattr(module, "find_nonce", slowly)
    said = CapturingLogger()  # a logger that is in use already is not caught by `capture_logs`
    monkeypatch.setattr(module, "log", said)
    with trio.move_on_after(60) as scope:
        await registration(NET, KEY, 256)  # nobody will ever find that
    assert scope.cancelled_caught
    assert {call.args for call in said.calls} == {("working for our key to be admitted",)}
    assert [call.kwargs["tried"] for call in said.calls] == [40, 80, 160, 320, 640, 1280]
