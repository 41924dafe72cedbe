"""Decisions of organisers: invitations, connectors, and rulings on restricted keys."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rich.console import Console
from rich.markup import escape

from tequio_client.clock import now_ms
from tequio_client.ledger.api import LedgerApi, LedgerNetwork
from tequio_client.ledger.proofs import read_entries
from tequio_client.links import SCHEME, InvitationLink
from tequio_client.names import find_one, read_key
from tequio_client.organiser import signing
from tequio_client.organiser.signing import Decision, SigningOptions
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.standing import describe_entry, describe_standing, format_time
from tequio_shared.api.admission import InvitationAnswer
from tequio_shared.api.peers import StandingAnswer
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import PeerKey, digest_from_text, key_from_text, peer_id_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import APPEAL_BYTES
from tequio_shared.network.run_states import RunState
from tequio_shared.network.standing import describe_cause
from tequio_shared.statements.network import (
    InviteClose,
    InviteOpen,
    InviteRevoke,
    NameWithdraw,
    RoleGrant,
    RoleRevoke,
    StandingAppeal,
)

PREFIX_LENGTH = 6
"""Shortest prefix of an invitation or a restricted key that may be given in its place."""
_DAY_MS = 86_400_000


def open_invitation(
    options: SigningOptions, *, uses: int, days: float, run: str | None, seed: bytes
) -> tuple[str, str]:
    """Open an invitation, whose key has that random seed of 32 bytes.

    `run` is a name or the beginning of an id, None for every run. Returns a sentence about the
    result, and the link. Raises UserFacingError.
    """

    async def opened(api: LedgerApi) -> tuple[str, str]:
        network = await api.network()
        body = InviteOpen(
            invitation=to_text(Signer(seed).key),
            uses=uses,
            until=now_ms() + round(days * _DAY_MS),
            run=await _run(api, run) if run else "",
        )
        link = InvitationLink(ledger=options.ledger, network=network.id, seed=seed).text()
        return await signing.sign_decision(api, body, options), link

    with signing.locked_folders(options.folders):
        return shutdown.ask_ledger(options.ledger, opened)


def end_invitation(
    options: SigningOptions, name: str, how: type[InviteClose | InviteRevoke]
) -> str:
    """Close or revoke an invitation, given by its key, a prefix of it, or its link."""

    async def make(api: LedgerApi) -> Decision:
        return how(invitation=await _invitation(api, name))

    return signing.decide(make, options)


def list_invitations(ledger: str) -> None:
    found = shutdown.ask_ledger(ledger, LedgerApi.invitations)
    if not found:
        Console(soft_wrap=True).print("No invitations yet. `tequio invite open` makes one.")
        return
    for one in found:
        where = f"run {one.run[:10]}" if one.run else "every run"
        used = f"{one.used} of {one.uses} used"
        _print_line(one.invitation, _state(one), used, f"until {format_time(one.until)}", where)


async def _run(api: LedgerApi, name: str) -> str:
    run = find_one("run", await api.runs(), lambda one: (one.name, one.run), name)
    if run.state in (RunState.COOLDOWN, RunState.FINISHED):
        raise UserFacingError(f"the run {run.name} has ended: nobody can join it")
    return run.run


async def _invitation(api: LedgerApi, name: str) -> str:
    if name.startswith(f"{SCHEME}:"):
        name = to_text(InvitationLink.parse(name).signer.key)
    found = [one.invitation for one in await api.invitations() if one.invitation.startswith(name)]
    if len(name) < PREFIX_LENGTH or len(found) != 1:
        raise UserFacingError(
            f"{name!r} does not match exactly one invitation: give its link, or at least the first "
            f"{PREFIX_LENGTH} characters of one listed by `tequio invite list`"
        )
    return found[0]


def _state(one: InvitationAnswer) -> str:
    if one.revoked is not None:
        return f"revoked by entry {one.revoked}"
    if one.closed is not None:
        return f"closed by entry {one.closed}"
    if now_ms() >= one.until:
        return "expired"
    return "used up" if one.used >= one.uses else "open"


def grant_connector(options: SigningOptions, key: str, days: float) -> str:
    """Make a key a connector for a number of days; returns a sentence about the result."""
    until = now_ms() + round(days * _DAY_MS)
    return signing.decide(RoleGrant(peer=_checked(key), role="connector", until=until), options)


def revoke_connector(options: SigningOptions, key: str) -> str:
    """Revoke a connector, and all that it vouched for."""
    return signing.decide(RoleRevoke(peer=_checked(key), role="connector"), options)


def list_connectors(ledger: str) -> None:
    found = shutdown.ask_ledger(ledger, LedgerApi.connectors).connectors
    if not found:
        Console(soft_wrap=True).print("No connectors: no service vouches for keys.")
        return
    for one in found:
        expired = " (expired: cannot vouch for new keys)" if now_ms() >= one.until else ""
        _print_line(one.key, f"until {format_time(one.until)}{expired}")


def _print_line(name: str, *told: str) -> None:
    """Print one thing with its whole id, to give to another command."""
    Console(soft_wrap=True).print(escape(f"{name}  {', '.join(filter(None, told))}"))


def _checked(key: str) -> str:
    read_key(key)
    return key


def list_restricted(ledger: str) -> None:
    found = shutdown.ask_ledger(ledger, LedgerApi.quarantine)
    if not found:
        Console(soft_wrap=True).print("No key is restricted, and no appeal is open.")
        return
    for one in found:
        at = one.standing
        until = f"until {format_time(at.until)}" if at.until else ""
        appeal = "" if at.appeal is None else f"appeal in entry {at.appeal}"
        why = describe_cause(at.cause)
        _print_line(one.key, f"{at.standing} since entry {at.since}", until, appeal, why)


def print_key(name: str, ledger: str) -> None:
    for line in shutdown.ask_ledger(ledger, partial(_describe, name)):
        Console(soft_wrap=True).print(escape(line))


def submit_ruling(options: SigningOptions, name: str, make: Callable[..., Decision]) -> str:
    """Rule on the key `name`: a whole key, or the beginning of a restricted one.

    `make` builds the statement from the argument `peer`.
    """

    async def ruling(api: LedgerApi) -> Decision:
        return make(peer=to_text(await _key(name, api)))

    return signing.decide(ruling, options)


def withdraw_name(options: SigningOptions, key: str, team: int, reason: int) -> str:
    """Withdraw the name of a key, or of a team if `key` is empty."""

    async def withdrawal(api: LedgerApi) -> Decision:
        peer = to_text(await _key(key, api)) if key else ""
        return NameWithdraw(peer=peer, team=team, reason=reason)

    return signing.decide(withdrawal, options)


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


async def _key(name: str, api: LedgerApi) -> PeerKey:
    try:
        return key_from_text(name)
    except MalformedError:
        pass
    restricted = await api.quarantine()
    fitting = [one.key for one in restricted if one.key.startswith(name)]
    if len(name) >= PREFIX_LENGTH and len(fitting) == 1:
        return key_from_text(fitting[0])
    known = ", ".join(one.key[:10] for one in restricted) or "none"
    raise UserFacingError(
        f"{name!r} does not match exactly one key: give all 43 characters, or at least the first "
        f"{PREFIX_LENGTH} of one listed by `tequio quarantine list` ({known})"
    )
