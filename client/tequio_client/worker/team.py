"""A volunteer says which team it earns for; end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import trio

from tequio_client.keys import identity
from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.locks import locked
from tequio_client.worker import endings
from tequio_client.worker.ledger.outbox import Outbox
from tequio_shared.errors import UserFacingError
from tequio_shared.statements.members import MemberTeam

if TYPE_CHECKING:
    from pathlib import Path

    from tequio_shared.keys import Signer


PATIENCE_S = 60.0


def join(ledger: str, folder: Path, name: str) -> str:
    """Have the log say that the key in the folder is in that team; says what holds then.

    Raises UserFacingError.
    """
    try:
        body = msgspec.convert({"team": name or None}, MemberTeam)
    except msgspec.ValidationError as err:
        raise UserFacingError(
            f"{name!r} is no name of a team: 1 to 32 of a-z, 0-9 and -, no dash in front"
        ) from err
    return _logged(ledger, folder, body)


def leave(ledger: str, folder: Path) -> str:
    """Have the log say that it is in none; as `join`."""
    return _logged(ledger, folder, MemberTeam(team=""))


def _logged(ledger: str, folder: Path, body: MemberTeam) -> str:
    if not (folder / identity.FILE).exists():
        raise UserFacingError(
            f"there is no key in {folder}: give the --dir of your worker, or start one first"
        )
    with locked(folder), endings.reached(ledger):
        return trio.run(_say, ledger, folder, identity.load_or_create(folder), body)


async def _say(ledger: str, folder: Path, signer: Signer, body: MemberTeam) -> str:
    async with LedgerApi(ledger) as api:
        try:
            await api.peer(signer.key)
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            raise UserFacingError("the key is not registered yet: start your worker once") from err
        async with Outbox(api, folder, signer) as outbox:
            with trio.move_on_after(PATIENCE_S) as patience:
                try:
                    await outbox.submit(body)
                except LedgerRefusedError as err:
                    if err.code != "already-said":
                        raise
                    return f"nothing to change: {err}"
        if patience.cancelled_caught:
            raise LedgerUnavailableError(
                f"it took nothing for {PATIENCE_S:.0f} s; the statement is kept and goes out with "
                "the worker's next start"
            )
    if not body.team:
        return "the key is in no team: what it earns counts for itself alone"
    return f"the key is in the team {body.team}: rounds that close from now on count for it"
