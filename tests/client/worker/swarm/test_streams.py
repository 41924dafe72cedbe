"""Little is remembered of peers that sent wrong bytes, and nothing of those that left."""

from __future__ import annotations

import gc
from contextlib import suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
import trio

from tequio_client.worker.swarm.blob_server import BlobOp, BlobRequest
from tequio_client.worker.swarm.streams import BANNED_PEERS, FIRST_BAN_S, PeerBans, StreamPool
from tequio_shared.errors import PeerError
from tequio_shared.ids import Digest, PeerKey, sha256
from tests.support.attackers import key_number

if TYPE_CHECKING:
    from tequio_client.worker.swarm.peers import PeerNetwork


def test_bans_are_bounded_and_grow() -> None:
    async def main() -> None:
        bans = PeerBans()
        for number in range(BANNED_PEERS + 9):
            name = sha256(bytes([number]))
            bans.suspect(name, PeerKey(name), "lies")
            assert not bans.is_banned(PeerKey(name))
            bans.confirm(name)
            assert bans.is_banned(PeerKey(name))
        assert len(bans.newest_first) == BANNED_PEERS
        again = bans.newest_first[0]
        bans.suspect(name, again.peer, "lies again")
        bans.confirm(name)
        assert bans.newest_first[0].times == 2
        assert bans.newest_first[0].until_s > again.until_s + FIRST_BAN_S / 2

    trio.run(main)


@pytest.mark.trio
async def test_peers_that_could_not_be_asked_leave_nothing_behind() -> None:
    async def open_stream(_peer: PeerKey, _protocol: str) -> None:
        await trio.lowlevel.checkpoint()
        raise PeerError("gone")

    def locks() -> int:
        return sum(isinstance(one, trio.Lock) for one in gc.get_objects())

    network = cast("PeerNetwork", SimpleNamespace(open_stream=open_stream))
    async with StreamPool(network) as pool:
        before = locks()
        for number in range(50):
            with suppress(PeerError):
                asked = BlobRequest(op=BlobOp.HELD, name=Digest(bytes(32)))
                await pool.request(key_number(number), asked)
        assert locks() <= before
