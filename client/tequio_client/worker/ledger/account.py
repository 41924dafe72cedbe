"""Account commands end to end: standing, appeal, joining by invitation, team, and vouching.

Each takes a ledger's address and a key, or a worker's folder and how to load its key, and raises
UserFacingError with one sentence.

Nothing that matters is believed. That an invitation counts, or that a connector vouched, is read
from the log with a proof. A connector's network is compared with the ledger's, and its address with
the one that was dialled; the page it asks to open must be an encrypted web address.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec
import trio

from tequio_client.clock import now_ms
from tequio_client.ipc.account import (
    AccountReply,
    RequestAppeal,
    RequestName,
    RequestTeam,
    TeamQuestion,
    TeamReply,
)
from tequio_client.keys import identity
from tequio_client.ledger.api import (
    ConnectorApi,
    ConnectorUnavailableError,
    LedgerApi,
    LedgerNetwork,
)
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.ledger.proofs import read_entries
from tequio_client.links import InvitationLink
from tequio_client.runtime import locked
from tequio_client.worker import shutdown
from tequio_client.worker.ledger import key_commands
from tequio_client.worker.ledger.connection import (
    ask_code,
    explain_connector,
    is_published,
    proven_tier,
)
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.ledger.standing import (
    advice,
    describe_entry,
    describe_standing,
    read_standing,
)
from tequio_shared.api.connector import ConnectCode, ConnectOutcome
from tequio_shared.api.peers import PeerAnswer
from tequio_shared.errors import MalformedError, RefusedError, UserFacingError
from tequio_shared.ids import NetworkId, PeerKey, key_from_text, to_text
from tequio_shared.keys import Signer
from tequio_shared.limits import APPEAL_BYTES
from tequio_shared.names import check_name
from tequio_shared.statements.network import KeyRegister
from tequio_shared.wording import plural

REGISTRATION_TIMEOUT_S = 300.0
"""Limit for the whole registration, the new key's proof of work included."""
_REFUSALS = {
    "invitation-spent": "this invitation has no uses left: ask for another one",
    "invitation-ended": "this invitation has ended: ask for another one",
    "not-admitted": "the network does not know this invitation: "
    "it is for another network, or the organisers still have to sign it",
}
_STRIPPED = (
    "log entry {index} registers the key without the invitation's signature, so the key does not "
    "count as invited: the ledger or something between you and it removed the signature. Tell the "
    "organisers. The invitation is not used up; join with a new key in another --dir"
)

T = TypeVar("T")
LoadKey: TypeAlias = Callable[[], Signer]
"""Opens the key of a folder; only called if no worker runs there, which has it open."""


def standing_lines(ledger: str, key: PeerKey) -> list[str]:
    one, evidence = shutdown.ask_ledger(ledger, partial(read_standing, key=key))
    lines = [describe_standing(one)]
    lines += [describe_entry(index, entry.statement) for index, entry in sorted(evidence.items())]
    return lines + advice(one, now_ms())


def standing_json(ledger: str, key: PeerKey) -> bytes:
    one, evidence = shutdown.ask_ledger(ledger, partial(read_standing, key=key))
    report = {
        "key": to_text(key),
        **msgspec.structs.asdict(one),
        "says": describe_standing(one),
        "entries": {
            str(index): describe_entry(index, entry.statement) for index, entry in evidence.items()
        },
        "what_to_do": advice(one, now_ms()),
    }
    return msgspec.json.format(msgspec.json.encode(report), indent=2)


def submit_appeal(ledger: str, folder: Path, load: LoadKey, text: bytes) -> list[str]:
    """Appeal against the key's standing; returns what happens next."""
    if len(text) > APPEAL_BYTES:
        raise UserFacingError(
            f"the text has {len(text)} bytes, at most {APPEAL_BYTES} are allowed: shorten it"
        )
    try:
        question = RequestAppeal(text=text.decode())
    except UnicodeDecodeError as err:
        raise UserFacingError(f"the text is not UTF-8 ({err.reason}): save it as UTF-8") from err
    reply = key_commands.carry_out(ledger, folder, load, question, AccountReply)
    one, _ = shutdown.ask_ledger(ledger, partial(read_standing, key=key_from_text(reply.key)))
    return [f"appealed against entry {one.since} ({one.standing})", *advice(one, now_ms())]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedInvitation:
    """How the key of a folder stands to an invitation, after it was used."""

    said: str
    """The same in words."""
    is_invited: bool
    """False for a key that was registered before in another way."""
    run: str | None = None
    """The only run for which the invitation counts, if there is one."""


def register_by_invitation(link: InvitationLink, folder: Path) -> UsedInvitation:
    """Register the key in the folder, unless it is registered."""
    with locked(folder):
        signer = identity.load_or_create(folder)
        work = partial(join_network, folder=folder, signer=signer, link=link)
        return shutdown.ask_ledger(link.ledger, work)


async def join_network(
    api: LedgerApi, folder: Path, signer: Signer, link: InvitationLink
) -> UsedInvitation:
    """Register that key, whose folder the caller holds, unless it is registered."""
    network = await api.network()
    if network.id != link.network:
        raise UserFacingError(
            f"{api.url} is the ledger of a different network than the invitation: "
            "ask the person who gave you the link"
        )
    known = await api.find_peer(signer.key)
    if known is not None:
        if await _is_signed_by(api, network, known, link):
            said = f"{known.key} already joined with this invitation"
            return UsedInvitation(said=said, is_invited=True, run=known.tier.run)
        said = (
            f"{known.key} is already registered in this network without this invitation, which is "
            "for a new key: give another --dir to join with one"
        )
        return UsedInvitation(said=said, is_invited=False)
    async with Outbox(api, folder, signer, invitation=link.signer) as outbox:
        await _register(outbox)
    known = await api.peer(signer.key)
    # The key's signature does not cover the invitation's, so anything between us and the log could
    # have dropped it: only the published entry shows that it is there.
    if not await _is_signed_by(api, network, known, link):
        raise UserFacingError(_STRIPPED.format(index=known.registered_index))
    said = f"{known.key} joined the network {network.genesis.name!r} by invitation"
    return UsedInvitation(said=said, is_invited=True, run=known.tier.run)


async def _register(outbox: Outbox) -> None:
    with trio.move_on_after(REGISTRATION_TIMEOUT_S) as patience:
        try:
            await outbox.register()
        except LedgerRefusedError as err:
            if err.code in _REFUSALS:
                raise UserFacingError(_REFUSALS[err.code]) from err
            raise
    if patience.cancelled_caught:
        raise LedgerUnavailableError(
            f"the ledger accepted nothing for {REGISTRATION_TIMEOUT_S:.0f} s"
        )


async def _is_signed_by(
    api: LedgerApi, network: LedgerNetwork, known: PeerAnswer, link: InvitationLink
) -> bool:
    """Check in the log whether the invitation signed the registration of that key."""
    index = known.registered_index
    if not await is_published(api, index):
        raise UserFacingError(
            f"the ledger reports that log entry {index} registers the key, but has not published "
            "that entry yet: run the same command again later"
        )
    entry = (await read_entries(api, network, [index]))[index]
    made = entry.statement
    if not isinstance(made.body, KeyRegister) or to_text(made.author) != known.key:
        raise UserFacingError(
            f"the ledger reports that log entry {index} registers the key, but that entry is "
            "about something else: do not trust this ledger"
        )
    return link.signer.key in dict(entry.signatures)


def set_name(ledger: str, folder: Path, load: LoadKey, name: str) -> str:
    """Give the key in the folder that name, or none; returns the result in words."""
    if name:
        _check_name(name)
    question = RequestName(name=name)
    key_commands.carry_out(ledger, folder, load, question, AccountReply)
    return f"the key is called {name!r} now" if name else "the key has no name now"


def team(ledger: str, folder: Path, load: LoadKey, question: TeamQuestion) -> TeamReply:
    """Do what concerns the team of the key in the folder."""
    if isinstance(question, RequestTeam) and question.name is not None:
        _check_name(question.name)
    return key_commands.carry_out(ledger, folder, load, question, TeamReply)


def _check_name(name: str) -> None:
    """Raise UserFacingError for a name that nobody can have, before a worker is asked."""
    try:
        check_name(name)
    except MalformedError as err:
        raise UserFacingError(str(err)) from err


def connect_account(
    ledger: str,
    signer: Signer,
    *,
    connector: str,
    provider: str,
    show: Callable[[str], None],
    visit: Callable[[str], object],
) -> None:
    """Have an account vouch for the key.

    An empty `provider` is the only one that the connector supports. `show` shows a line to the
    person, `visit` opens an address in the browser.
    """

    async def connect(api: LedgerApi) -> None:
        async with ConnectorApi(connector) as server:
            net = (await api.network()).id
            outcome = await _at_connector(server, net, signer, provider, show, visit)
            show(await proven_tier(api, signer, outcome))

    shutdown.ask_ledger(ledger, connect)


async def _at_connector(
    connector: ConnectorApi,
    net: NetworkId,
    signer: Signer,
    wanted: str,
    show: Callable[[str], None],
    visit: Callable[[str], object],
) -> ConnectOutcome:
    with explain_connector(connector.url):
        provider, code = await ask_code(connector, net, signer, wanted)
        for line in _instructions(code, provider):
            show(line)
        visit(code.url)
        return await _poll_outcome(connector, code, show)


def _instructions(code: ConnectCode, provider: str) -> list[str]:
    minutes = math.ceil(code.expires_s / 60)
    return [
        f"open   {code.url}",
        f"enter  {code.user_code}",
        f"within {plural(minutes, 'minute')}, signed in with your {provider} account.",
        "Never share this code, and never enter a code that somebody else gave you.",
    ]


async def _poll_outcome(
    connector: ConnectorApi, code: ConnectCode, show: Callable[[str], None]
) -> ConnectOutcome:
    pause_s, problem = float(code.interval_s), ""
    with trio.move_on_after(code.expires_s):
        while True:
            await trio.sleep(pause_s)
            try:
                outcome = await connector.poll(code.id)
            except ConnectorUnavailableError as err:
                latest = f"the connector does not answer ({err})"
            else:
                if outcome.state == "vouched":
                    return outcome
                pause_s, latest = float(outcome.interval_s), outcome.problem
            if latest and latest != problem:
                show(f"{latest}; waiting")
            problem = latest
    raise RefusedError("code-expired", "the code was not used in time: run the command again")
