"""The owners of a cell's ranks, checked against a real ledger before anything is shared."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import trio

from tequio_client.ledger.api import LedgerApi
from tequio_client.worker.ledger.standing import check_receivers
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.network import KeyReplace, KeyRevoke
from tests.ledger.log.test_coordinator import RULES, LedgerSwarm
from tests.support.authors import registration
from tests.support.ledgers import VirtualClock, make_settings, opened, running, served
from tests.support.signing_swarm import SigningPeer
from tests.support.tiny_run import signer

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_ledger.ledger import Ledger

pytestmark = pytest.mark.trio


async def _register(ledger: Ledger, clock: VirtualClock) -> list[SigningPeer]:
    """An owner, one whose key was replaced by a third, and one that revoked its key."""
    async with running(ledger):
        swarm = LedgerSwarm(ledger, clock)
        found = [SigningPeer(name, ledger, RULES.run_id) for name in ("one", "old", "new", "lost")]
        one, old, new, lost = found
        await swarm.post([each.register(clock()) for each in (one, old, lost)])
        nonce = registration(ledger.state.net, new.key).nonce
        replace = KeyReplace(former=to_text(old.key), nonce=nonce)
        await swarm.post([new.sign(replace, clock(), old.signer)])
        await swarm.post([lost.sign(KeyRevoke(peer=to_text(lost.key)), clock())])
        return found


async def test_owners_that_cannot_receive_points_are_named(tmp_path: Path) -> None:
    clock = VirtualClock()
    with opened(make_settings(tmp_path), clock) as ledger:
        made = await trio.to_thread.run_sync(lambda: asyncio.run(_register(ledger, clock)))
    one, old, new, lost = (each.key for each in made)
    with served(tmp_path) as program:
        async with LedgerApi(program.url) as api:
            await check_receivers(api, {1: one, 3: new})
            with pytest.raises(UserFacingError, match=r"points 2=.*: this key is not registered"):
                await check_receivers(api, {1: one, 2: signer("nobody").key})
            with pytest.raises(UserFacingError, match=f"was replaced by {to_text(new)}"):
                await check_receivers(api, {1: old})
            with pytest.raises(UserFacingError, match=r"points 1=.*: this key was revoked"):
                await check_receivers(api, {1: lost})
