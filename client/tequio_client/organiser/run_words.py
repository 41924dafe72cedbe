"""What organisers say of a run, signed by as many of them as the network asks for.

One organiser's word goes through an outbox, which keeps it until the ledger has it; several sign
one statement at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_client.clock import now_ms
from tequio_client.ledger.http import LedgerUnavailableError
from tequio_client.organiser import joint, signers
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.errors import UserFacingError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.ledger.api import LedgerApi, Network
    from tequio_shared.ids import RunId
    from tequio_shared.keys import Signer
    from tequio_shared.statements import Body


PATIENCE_S = 300.0
"""How long a ledger that does not take what we say is spoken to."""


def organisers(network: Network, folders: Sequence[Path]) -> tuple[Signer, ...]:
    """The organisers in the folders, who are enough to say it; raises UserFacingError."""
    ours = tuple(signers.of(folder, network) for folder in folders)
    found, needed = len({one.key for one in ours}), max(network.genesis.threshold, len(ours))
    if found < needed:
        raise UserFacingError(
            f"{needed} organisers of the network {network.genesis.name!r} have to sign this, and "
            f"{found} would: give the folder of another one by --with"
        )
    return ours


async def say(
    api: LedgerApi,
    folders: Sequence[Path],
    body: Body,
    run: RunId,
    documents: Sequence[bytes] = (),
) -> None:
    """Put the documents, then have the log say it; the folders are locked by the caller.

    Raises UserFacingError, and what the API raises.
    """
    network = await api.network()
    ours = organisers(network, folders)
    for one in documents:
        await api.put_blob(one, ours[0], now_ms())
    if len(ours) > 1:
        entry = await joint.signed(api, folders[0], body, ours, now_ms(), about=(run, None))
        await joint.send(api, entry, now_ms())
        return
    async with Outbox(api, folders[0], ours[0]) as outbox:
        with trio.move_on_after(PATIENCE_S) as patience:
            await outbox.submit(body, run)
        if patience.cancelled_caught:
            raise LedgerUnavailableError(f"not done after {PATIENCE_S:.0f} s")
