"""Entering a network by an invitation: the key in a folder is registered, the link signs too.

The link's signature is no part of the statement that ours signs, so whoever carries or logs the
registration can leave it out: that it is there is read in the log, proved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.ledger.proofs import read_entries
from tequio_client.locks import locked
from tequio_client.worker import endings
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.errors import UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.members import KeyRegister

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_client.invitation_link import InvitationLink
    from tequio_client.ledger.api import Network
    from tequio_shared.api.peers import PeerAnswer
    from tequio_shared.keys import Signer


PATIENCE_S = 300.0
"""How long a ledger that takes nothing is spoken to; the work of a new key is part of it."""
SHOWN_S = 60.0
"""How long a ledger may take to show a registration in its log."""
LOOK_S = 1.0
_REFUSALS = {
    "invitation-spent": "the invitation has let in as many as it may: ask for another one",
    "invitation-ended": "the invitation has ended: ask for another one",
    "not-admitted": "the network does not know this invitation: "
    "the organisers may still have to sign it, or it is one to another network",
}
_STRIPPED = (
    "the key is registered by log entry {index}, but without the signature of the invitation: the "
    "ledger, or somebody on the way to it, left that out, and the key is nobody's guest. Tell the "
    "organisers; the invitation is not used up, and another --dir joins with a new key"
)


def enter(link: InvitationLink, folder: Path) -> str:
    """Register the key in the folder under the invitation; says what became of it.

    A key that is registered stays what it is. Raises UserFacingError.
    """
    with locked(folder), endings.reached(link.ledger):
        return trio.run(_enter, link, folder, identity.load_or_create(folder))


async def _enter(link: InvitationLink, folder: Path, signer: Signer) -> str:
    async with LedgerApi(link.ledger) as api:
        return await join(api, folder, signer, link)


async def join(api: LedgerApi, folder: Path, signer: Signer, link: InvitationLink) -> str:
    """Register that key under the invitation; says what became of it.

    The caller holds the folder. Raises UserFacingError, and what the API raises.
    """
    network = await api.network()
    if network.id != link.network:
        raise UserFacingError(
            f"{api.url} is the ledger of another network than the link names: "
            "ask whoever gave it to you"
        )
    known = await _account(api, signer)
    if known is not None:
        is_ours = await _is_signed_by(api, network, known, link)
        return _already(known, is_ours=is_ours)
    async with Outbox(api, folder, signer, invitation=link.signer) as outbox:
        await _register(outbox)
    known = await api.peer(signer.key)
    if not await _is_signed_by(api, network, known, link):
        raise UserFacingError(_STRIPPED.format(index=known.registered_index))
    return f"{to_text(signer.key)} joined the network {network.genesis.name!r}, invited"


async def _register(outbox: Outbox) -> None:
    with trio.move_on_after(PATIENCE_S) as patience:
        try:
            await outbox.register()
        except LedgerRefusedError as err:
            if err.code in _REFUSALS:
                raise UserFacingError(_REFUSALS[err.code]) from err
            raise
    if patience.cancelled_caught:
        raise LedgerUnavailableError(f"it took nothing for {PATIENCE_S:.0f} s")


async def _is_signed_by(
    api: LedgerApi, network: Network, known: PeerAnswer, link: InvitationLink
) -> bool:
    """Whether the link signed the registration of that key, as the log has it."""
    index = known.registered_index
    with trio.move_on_after(SHOWN_S) as patience:
        while (await api.checkpoint()).size <= index:  # noqa: ASYNC110 - it is elsewhere
            await trio.sleep(LOOK_S)
    if patience.cancelled_caught:
        raise UserFacingError(
            f"the ledger says that the key is registered by log entry {index}, which it does not "
            "show yet: run the same command again later"
        )
    entry = (await read_entries(api, network, [index]))[index]
    made = entry.statement
    if not isinstance(made.body, KeyRegister) or to_text(made.author) != known.key:
        raise UserFacingError(
            f"the ledger says that log entry {index} registered the key, but that is about "
            "something else: do not trust it"
        )
    return link.signer.key in dict(entry.signatures)


async def _account(api: LedgerApi, signer: Signer) -> PeerAnswer | None:
    try:
        return await api.peer(signer.key)
    except LedgerRefusedError as err:
        if err.code != "not-found":
            raise
    return None


def _already(known: PeerAnswer, *, is_ours: bool) -> str:
    if is_ours:
        return f"{known.key} joined by this invitation before"
    return (
        f"{known.key} is registered in this network already, and stays what it is: "
        "an invitation is for a new key (give another --dir to join with one)"
    )
