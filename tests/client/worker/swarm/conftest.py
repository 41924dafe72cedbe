"""The fetching peer of the transfer tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import trio

from tests.support.loopback import network
from tests.support.transfer_peers import TransferPeers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def swarm(tmp_path: Path) -> AsyncIterator[TransferPeers]:
    async with network("ours") as ours, trio.open_nursery() as nursery:
        yield TransferPeers(tmp_path, ours, nursery)
        nursery.cancel_scope.cancel()
