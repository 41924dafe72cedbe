"""How a volunteer has an account vouch for the key; end to end.

The connector is believed nothing that matters: which network it speaks for is held against the
ledger's, where it is against the address that was dialled, and that it vouched is read in the log,
proved. What it gives to be shown and opened is an address of the web or nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
import trio

from tequio_client.clock import now_ms
from tequio_client.keys import identity
from tequio_client.ledger.api import ConnectorApi, ConnectorAwayError, LedgerApi
from tequio_client.ledger.http import LedgerRefusedError, LedgerUnavailableError
from tequio_client.ledger.proofs import read_entries
from tequio_client.locks import locked
from tequio_client.worker import shutdown
from tequio_client.worker.ledger.outbox import Outbox
from tequio_client.worker.ledger.standing import (
    describe,
    moment,
    read_standing,
    sentence,
    what_to_do,
)
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.limits import APPEAL_BYTES
from tequio_shared.network.standing import OUTSIDE, Standing
from tequio_shared.statements.network import KeyRegister, MemberTeam, MemberVouch, StandingAppeal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_client.invitation_link import InvitationLink
    from tequio_client.ledger.api import Network
    from tequio_shared.api.connector import ConnectCode, ConnectorAbout, ConnectOutcome
    from tequio_shared.api.peers import PeerAnswer, StandingAnswer
    from tequio_shared.ids import NetworkId
    from tequio_shared.keys import Signer
    from tequio_shared.statements.statement import Entry

# --- How a volunteer sees its own standing, and says that it is wrong; end to end.

PATIENCE_S = 60.0


def show(ledger: str, folder: Path) -> list[str]:
    """How the key in the folder stands, why, and what to do. Raises UserFacingError."""
    one, evidence = _read(ledger, _signer(folder))
    lines = [sentence(one)]
    lines += [describe(index, entry.statement) for index, entry in sorted(evidence.items())]
    return lines + what_to_do(one, now_ms())


def show_json(ledger: str, folder: Path) -> bytes:
    """The same for machines: one JSON object. Raises UserFacingError."""
    signer = _signer(folder)
    one, evidence = _read(ledger, signer)
    said = {
        "key": to_text(signer.key),
        **msgspec.structs.asdict(one),
        "says": sentence(one),
        "entries": {
            str(index): describe(index, entry.statement) for index, entry in evidence.items()
        },
        "what_to_do": what_to_do(one, now_ms()),
    }
    return msgspec.json.format(msgspec.json.encode(said), indent=2)


def appeal(ledger: str, folder: Path, text: bytes) -> list[str]:
    """Appeal against the key's standing; what happens next. Raises UserFacingError."""
    if len(text) > APPEAL_BYTES:
        raise UserFacingError(
            f"the text has {len(text)} bytes: an appeal takes {APPEAL_BYTES}, the essence of it"
        )
    signer = _signer(folder)
    with locked(folder), shutdown.reached(ledger):
        one = trio.run(_appeal, ledger, folder, signer, text)
    return [f"appealed against entry {one.since} ({one.standing})", *what_to_do(one, now_ms())]


def _signer(folder: Path) -> Signer:
    """The key that is there: a command that only looks makes none."""
    if not (folder / identity.FILE).exists():
        raise UserFacingError(
            f"there is no key in {folder}: give the --dir of your worker, or start one first"
        )
    return identity.load_or_create(folder)


def _read(ledger: str, signer: Signer) -> tuple[StandingAnswer, dict[int, Entry]]:
    with shutdown.reached(ledger):
        return trio.run(_asked, ledger, signer)


async def _asked(ledger: str, signer: Signer) -> tuple[StandingAnswer, dict[int, Entry]]:
    async with LedgerApi(ledger) as api:
        return await read_standing(api, signer.key)


async def _appeal(ledger: str, folder: Path, signer: Signer, text: bytes) -> StandingAnswer:
    async with LedgerApi(ledger) as api:
        one, _ = await read_standing(api, signer.key)
        if one.standing not in OUTSIDE | {Standing.SUSPECTED}:
            raise UserFacingError(f"nothing to appeal against: {sentence(one)}")
        if one.appeal is not None:
            raise UserFacingError(f"the appeal in entry {one.appeal} is still open: wait for it")
        name = to_text(await api.put_blob(text, signer, now_ms())) if text else ""
        await _say(api, folder, signer, StandingAppeal(change=one.since, text=name))
        return (await read_standing(api, signer.key))[0]


async def _say(api: LedgerApi, folder: Path, signer: Signer, body: StandingAppeal) -> None:
    async with Outbox(api, folder, signer) as outbox:
        with trio.move_on_after(PATIENCE_S) as patience:
            await outbox.submit(body)
        if patience.cancelled_caught:
            raise LedgerUnavailableError(
                f"it took nothing for {PATIENCE_S:.0f} s; the appeal is kept and goes out with "
                "the worker's next start"
            )


# --- Entering a network by an invitation: the key in a folder is registered, the link signs too.
#
# The link's signature is no part of the statement that ours signs, so whoever carries or logs the
# registration can leave it out: that it is there is read in the log, proved.

ENTERING_PATIENCE_S = 300.0
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
    with locked(folder), shutdown.reached(link.ledger):
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
    with trio.move_on_after(ENTERING_PATIENCE_S) as patience:
        try:
            await outbox.register()
        except LedgerRefusedError as err:
            if err.code in _REFUSALS:
                raise UserFacingError(_REFUSALS[err.code]) from err
            raise
    if patience.cancelled_caught:
        raise LedgerUnavailableError(f"it took nothing for {ENTERING_PATIENCE_S:.0f} s")


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


# --- A volunteer says which team it earns for; end to end.

TEAM_PATIENCE_S = 60.0


def team_join(ledger: str, folder: Path, name: str) -> str:
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
    with locked(folder), shutdown.reached(ledger):
        return trio.run(_team_say, ledger, folder, identity.load_or_create(folder), body)


async def _team_say(ledger: str, folder: Path, signer: Signer, body: MemberTeam) -> str:
    async with LedgerApi(ledger) as api:
        try:
            await api.peer(signer.key)
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            raise UserFacingError("the key is not registered yet: start your worker once") from err
        async with Outbox(api, folder, signer) as outbox:
            with trio.move_on_after(TEAM_PATIENCE_S) as patience:
                try:
                    await outbox.submit(body)
                except LedgerRefusedError as err:
                    if err.code != "already-said":
                        raise
                    return f"nothing to change: {err}"
        if patience.cancelled_caught:
            raise LedgerUnavailableError(
                f"the ledger accepted nothing for {TEAM_PATIENCE_S:.0f} s; the statement is kept "
                "and sent at the worker's next start"
            )
    if not body.team:
        return "the key is in no team: what it earns counts for itself alone"
    return f"the key is in the team {body.team}: rounds that close from now on count for it"


VOUCHING_SHOWN_S = 60.0
"""How long a ledger may take to show what a connector says is logged."""
VOUCHING_LOOK_S = 1.0
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}
TIERS = ("anonymous", "an account is behind it", "invited by the organisers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the person wants."""

    ledger: str
    folder: Path
    connector: str
    provider: str
    """Empty: the only one that the connector has."""


def connect(asked: Asked, tell: Callable[[str], None], visit: Callable[[str], object]) -> None:
    """Have an account vouch for the key in the folder; `tell` a person, `visit` an address.

    Raises UserFacingError with one sentence when nothing comes of it.
    """
    signer = _vouching_signer(asked.folder)
    with shutdown.reached(asked.ledger):
        trio.run(_connect, asked, signer, tell, visit)


def _vouching_signer(folder: Path) -> Signer:
    """The key that is there: nobody vouches for one that does nothing."""
    if not (folder / identity.FILE).exists():
        raise UserFacingError(
            f"there is no key in {folder}: give the --dir of your worker, or start one first"
        )
    return identity.load(folder)


async def _connect(
    asked: Asked, signer: Signer, tell: Callable[[str], None], visit: Callable[[str], object]
) -> None:
    async with LedgerApi(asked.ledger) as ledger, ConnectorApi(asked.connector) as connector:
        net = (await ledger.network()).id
        outcome = await _at_connector(asked, connector, net, signer, tell, visit)
        tell(await _seen(ledger, signer, outcome))


async def _at_connector(
    asked: Asked,
    connector: ConnectorApi,
    net: NetworkId,
    signer: Signer,
    tell: Callable[[str], None],
    visit: Callable[[str], object],
) -> ConnectOutcome:
    try:
        about = await connector.about()
        provider = _chosen(about, connector.url, net, asked.provider)
        code = await connector.begin(signer, net, provider)
        _check_address(code.url)
        for line in _told(code, provider):
            tell(line)
        visit(code.url)
        return await _decided(connector, code, tell)
    except ConnectorAwayError as err:
        raise UserFacingError(f"the connector at {connector.url} cannot help now: {err}") from err
    except RefusedError as err:
        raise UserFacingError(f"nothing came of it: {err}") from err
    except PeerError as err:
        raise UserFacingError(
            f"what answers at {connector.url} is no connector to trust: {err}"
        ) from err


def _chosen(about: ConnectorAbout, url: str, net: NetworkId, wanted: str) -> str:
    if about.network != to_text(net):
        raise UserFacingError(f"the connector at {url} is one of another network than this ledger")
    if about.url != url:
        raise UserFacingError(
            f"the connector at {url} says that it is at {about.url}: if that is whom you mean, "
            "give that address, as proofs name it"
        )
    if wanted in about.providers:
        return wanted
    if not wanted and len(about.providers) == 1:
        return about.providers[0]
    known = ", ".join(about.providers)
    raise UserFacingError(f"say whose account it is with --provider; this connector knows {known}")


def _check_address(url: str) -> None:
    """Raise PeerError for what a browser should not be sent to."""
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise PeerError(f"it sends you to {url}, which is not encrypted")


def _told(code: ConnectCode, provider: str) -> list[str]:
    minutes = math.ceil(code.expires_s / 60)
    return [
        f"open   {code.url}",
        f"enter  {code.user_code}",
        f"within {minutes} minutes, with the account at {provider} that is to vouch for this key.",
        "Tell the code to nobody, and never enter one that somebody else gave you.",
    ]


async def _decided(
    connector: ConnectorApi, code: ConnectCode, tell: Callable[[str], None]
) -> ConnectOutcome:
    """Ask as often as the connector wants until there is an end, or the code has one."""
    pause_s, problem = float(code.interval_s), ""
    with trio.move_on_after(code.expires_s):
        while True:
            await trio.sleep(pause_s)
            try:
                outcome = await connector.ask(code)
            except ConnectorAwayError as err:
                said = f"the connector does not answer ({err})"
            else:
                if outcome.state == "vouched":
                    return outcome
                pause_s, said = float(outcome.interval_s), outcome.problem
            if said and said != problem:
                tell(f"{said}; waiting")
            problem = said
    raise RefusedError("code-expired", "the code was not used in time: begin again")


async def _seen(ledger: LedgerApi, signer: Signer, outcome: ConnectOutcome) -> str:
    """Find the vouch in the log, and say what the key is now; raises UserFacingError."""
    index = outcome.index
    if index is None:
        raise UserFacingError("the connector does not say where in the log it vouched")
    with trio.move_on_after(VOUCHING_SHOWN_S):
        while (await ledger.checkpoint()).size <= index:  # noqa: ASYNC110 - it is elsewhere
            await trio.sleep(VOUCHING_LOOK_S)
        return await _proved(ledger, signer, index)
    raise UserFacingError(
        f"the connector says that it vouched in log entry {index}, which the ledger does not show "
        "yet: look at your key's page later"
    )


async def _proved(ledger: LedgerApi, signer: Signer, index: int) -> str:
    found = await read_entries(ledger, await ledger.network(), [index])
    body = found[index].statement.body
    if not isinstance(body, MemberVouch) or body.peer != to_text(signer.key):
        raise UserFacingError(
            f"the connector says that it vouched in log entry {index}, but that is about something "
            "else: do not trust it"
        )
    known = (await ledger.peer(signer.key)).tier
    if known.tier >= len(TIERS):
        raise UserFacingError(
            f"this ledger says that the key is of tier {known.tier}, which this version does not "
            "know: update it"
        )
    return (
        f"your key is of tier {known.tier} ({TIERS[known.tier]}); log entry {index} vouches for it "
        f"until {moment(body.until)}: come back before that"
    )
