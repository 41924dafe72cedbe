"""Doing the work that a network asks of a new key before it is registered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog
import trio

from tequio_shared.statements.members import KeyRegister
from tequio_shared.work import find_nonce

if TYPE_CHECKING:
    from tequio_shared.ids import NetworkId, PeerKey

log = structlog.get_logger(__name__)

STRIDE = 1 << 15
"""Nonces tried between two looks at whether somebody wants us to stop: some 15 ms."""
FIRST_WORD_S = 1.0
"""Work that takes longer is told of, and then each time that it has taken twice as long."""


async def registration(net: NetworkId, key: PeerKey, bits: int) -> KeyRegister:
    """Find the work and write the registration; may be cancelled at any time."""
    first, began_s, word_s = 0, trio.current_time(), FIRST_WORD_S
    while True:
        nonce = await trio.to_thread.run_sync(find_nonce, net, key, bits, first, STRIDE)
        if nonce is not None:
            return KeyRegister(nonce=nonce)
        first += STRIDE
        if trio.current_time() - began_s >= word_s:
            word_s *= 2
            log.info("working for our key to be admitted", tried=first, about=1 << bits)
