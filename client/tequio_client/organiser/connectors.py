"""The organisers' connectors: keys that they let vouch for others, end to end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from rich.console import Console
from rich.table import Table

from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi
from tequio_client.organiser import decision
from tequio_client.worker import endings
from tequio_client.worker.standing_words import moment
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import key_from_text
from tequio_shared.statements.connectors import RoleGrant, RoleRevoke

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_client.organiser.joint import Decision
    from tequio_shared.api.network import ConnectorsAnswer

_DAY_MS = 86_400_000


def grant(ledger: str, key: str, days: float, folders: Sequence[Path], out: Path | None) -> str:
    """Let a key vouch for others for so many days; says what became of it."""
    until = now_ms() + round(days * _DAY_MS)
    body = RoleGrant(peer=_checked(key), role="connector", until=until)
    return _decide(ledger, body, folders, out)


def revoke(ledger: str, key: str, folders: Sequence[Path], out: Path | None) -> str:
    """Let a key vouch for nobody any more, also not for whom it did."""
    return _decide(ledger, RoleRevoke(peer=_checked(key), role="connector"), folders, out)


def list_all(ledger: str) -> None:
    """Print who may vouch for others."""
    with endings.reached(ledger):
        found = trio.run(_all, ledger)
    table = Table("key", "until")
    for one in found.connectors:
        over = " (over: it vouches for nobody new)" if now_ms() >= one.until else ""
        table.add_row(one.key, moment(one.until) + over)
    Console(soft_wrap=True).print(table)


def _decide(ledger: str, body: Decision, folders: Sequence[Path], out: Path | None) -> str:
    with decision.held(folders), endings.reached(ledger):
        return trio.run(_decided, ledger, body, folders, out)


async def _decided(ledger: str, body: Decision, folders: Sequence[Path], out: Path | None) -> str:
    async with LedgerApi(ledger) as api:
        return await decision.make(api, body, folders, out)


async def _all(ledger: str) -> ConnectorsAnswer:
    async with LedgerApi(ledger) as api:
        return await api.connectors()


def _checked(key: str) -> str:
    try:
        key_from_text(key)
    except MalformedError as err:
        raise UserFacingError(f"{key!r} is no key: give all 43 characters of it") from err
    return key
