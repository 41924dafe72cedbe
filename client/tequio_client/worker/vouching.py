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

import trio

from tequio_client.keys import identity
from tequio_client.ledger.api import ConnectorApi, ConnectorAwayError, LedgerApi
from tequio_client.ledger.proofs import read_entries
from tequio_client.worker import endings
from tequio_client.worker.standing_words import moment
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.ids import to_text
from tequio_shared.statements.connectors import MemberVouch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tequio_shared.api.connector import ConnectCode, ConnectorAbout, ConnectOutcome
    from tequio_shared.ids import NetworkId
    from tequio_shared.keys import Signer

SHOWN_S = 60.0
"""How long a ledger may take to show what a connector says is logged."""
LOOK_S = 1.0
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
    signer = _signer(asked.folder)
    with endings.reached(asked.ledger):
        trio.run(_connect, asked, signer, tell, visit)


def _signer(folder: Path) -> Signer:
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
    with trio.move_on_after(SHOWN_S):
        while (await ledger.checkpoint()).size <= index:  # noqa: ASYNC110 - it is elsewhere
            await trio.sleep(LOOK_S)
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
