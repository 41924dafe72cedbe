"""The record of peers that sent wrong bytes."""

from __future__ import annotations

import trio

from tequio_client.worker.swarm.streams import BANNED_PEERS, FIRST_BAN_S, PeerBans
from tequio_shared.ids import PeerKey, sha256


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
