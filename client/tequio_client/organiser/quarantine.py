"""Restricted keys as an organiser reviews them, and the rulings on their appeals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import trio
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tequio_client.ledger.api import LedgerApi
from tequio_client.ledger.proofs import read_entries
from tequio_client.organiser import signing
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.standing import describe_entry, describe_standing, format_time
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import digest_from_text, key_from_text, peer_id_text, to_text
from tequio_shared.limits import APPEAL_BYTES
from tequio_shared.network.standing import describe_cause
from tequio_shared.statements.network import StandingAppeal, StandingRelease, StandingUphold

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from tequio_client.ledger.api import LedgerNetwork
    from tequio_shared.api.peers import PeerStandingAnswer, StandingAnswer
    from tequio_shared.ids import PeerKey


T = TypeVar("T")
PREFIX_LENGTH = 6
"""Shortest prefix of a restricted key that may be given in its place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """A ruling on the key `name`: a whole key, or the beginning of a restricted one.

    `make` builds the statement for the key that was found.
    """

    name: str
    make: Callable[[str], StandingRelease | StandingUphold]


def list_restricted(ledger: str) -> None:
    """Print the keys that are quarantined, banned, suspected or on probation."""
    table = Table("key", "standing", "since", "until", "appeal", "why")
    for one in _reach(ledger, _held):
        at = one.standing
        until = format_time(at.until) if at.until else ""
        appeal = "" if at.appeal is None else str(at.appeal)
        cells = (at.standing, str(at.since), until, appeal, describe_cause(at.cause))
        table.add_row(one.key, *map(escape, cells))
    Console(soft_wrap=True).print(table)


def print_key(name: str, ledger: str) -> None:
    """Print the standing of a key, the evidence, and its appeal."""
    for line in _reach(ledger, partial(_describe, name)):
        Console(soft_wrap=True).print(escape(line))


def release(name: str, reason: int) -> Ruling:
    return Ruling(name=name, make=lambda peer: StandingRelease(peer=peer, reason=reason))


def uphold(name: str, reason: int) -> Ruling:
    return Ruling(
        name=name,
        make=lambda peer: StandingUphold(peer=peer, to="quarantined", reason=reason),
    )


def ban(name: str, reason: int) -> Ruling:
    return Ruling(
        name=name, make=lambda peer: StandingUphold(peer=peer, to="banned", reason=reason)
    )


def submit_ruling(ledger: str, ruling: Ruling, folders: Sequence[Path], out: Path | None) -> str:
    """Sign a ruling as the organisers in the folders; returns a sentence about the result.

    With too few signatures, it is written to `out`. Raises UserFacingError.
    """
    with signing.locked_folders(folders):
        return _reach(ledger, partial(_rule, ruling, folders, out))


async def _held(api: LedgerApi) -> list[PeerStandingAnswer]:
    found: list[PeerStandingAnswer] = []
    after: int | None = 0
    while after is not None:
        page = await api.quarantine(after=after)
        found += page.peers
        after = page.next
    return found


async def _describe(name: str, api: LedgerApi) -> list[str]:
    key = await _key(name, api)
    network, account = await api.network(), await api.peer(key)
    one = account.standing
    lines = [f"{account.key} ({peer_id_text(key)})", describe_standing(one)]
    entries = await read_entries(api, network, one.evidence)
    lines += [describe_entry(index, entry.statement) for index, entry in sorted(entries.items())]
    return lines + await _appeal(api, network, one)


async def _appeal(api: LedgerApi, network: LedgerNetwork, one: StandingAnswer) -> list[str]:
    if one.appeal is None:
        return ["no appeal is open"]
    (entry,) = (await read_entries(api, network, [one.appeal])).values()
    lines = [describe_entry(one.appeal, entry.statement)]
    body = entry.statement.body
    if not isinstance(body, StandingAppeal) or not body.text:
        return [*lines, "the appeal has no text"]
    text = await api.get_blob(digest_from_text(body.text), most_bytes=APPEAL_BYTES)
    return [*lines, "text of the appeal:", *_printable(text or b"(the ledger does not have it)")]


def _printable(text: bytes) -> list[str]:
    # The text is written by a stranger: control characters could rewrite what the terminal shows.
    lines = text.decode(errors="replace").splitlines()
    return ["  " + "".join(c if c.isprintable() else "\ufffd" for c in line) for line in lines]


async def _rule(ruling: Ruling, folders: Sequence[Path], out: Path | None, api: LedgerApi) -> str:
    body = ruling.make(to_text(await _key(ruling.name, api)))
    return await signing.sign_decision(api, body, folders, out)


async def _key(name: str, api: LedgerApi) -> PeerKey:
    try:
        return key_from_text(name)
    except MalformedError:
        pass
    held = await _held(api)
    fitting = [one.key for one in held if one.key.startswith(name)]
    if len(name) >= PREFIX_LENGTH and len(fitting) == 1:
        return key_from_text(fitting[0])
    known = ", ".join(one.key[:10] for one in held) or "none"
    raise UserFacingError(
        f"{name!r} does not match exactly one key: give all 43 characters, or at least the first "
        f"{PREFIX_LENGTH} of one listed by `tequio quarantine list` ({known})"
    )


def _reach(ledger: str, question: Callable[[LedgerApi], Awaitable[T]]) -> T:
    with shutdown.explain_unreachable_ledger(ledger):
        return trio.run(partial(_asked, ledger, question))


async def _asked(ledger: str, question: Callable[[LedgerApi], Awaitable[T]]) -> T:
    async with LedgerApi(ledger) as api:
        return await question(api)
