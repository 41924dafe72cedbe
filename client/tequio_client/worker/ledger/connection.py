"""Linking an account to a key, for the app and the command: a connector's code, and its outcome.

Nothing that matters is believed. The connector's network is compared with the ledger's, its address
with the one that was dialled, and the page that it sends a person to must be an encrypted web
address. A vouch counts once it is read in the log, with a proof. Linking writes no statement of the
key's own, so it needs neither the key's chain nor a pause of the worker.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import trio

from tequio_client.ipc.account import AskConnection, ConnectionReply, RequestConnection
from tequio_client.ledger.api import ConnectorApi, ConnectorUnavailableError, LedgerApi
from tequio_client.ledger.proofs import read_entries
from tequio_client.worker.ledger.standing import format_time
from tequio_shared.api.connector import ConnectCode, ConnectorAbout, ConnectOutcome
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.ids import NetworkId, to_text
from tequio_shared.keys import Signer
from tequio_shared.statements.network import MemberVouch

PUBLISHED_S = 60.0
"""Time that a ledger may take to publish an entry in its log."""
POLL_S = 1.0
TIER_WORDS = ("anonymous", "linked to an account", "invited by the organisers")
_LOOPBACK = {"localhost", "127.0.0.1", "::1"}


async def answer(
    api: LedgerApi, signer: Signer, question: RequestConnection | AskConnection
) -> ConnectionReply:
    """Do what a controller requests; raises TequioError."""
    net = (await api.network()).id
    async with ConnectorApi(question.connector) as server:
        with explain_connector(server.url):
            if isinstance(question, RequestConnection):
                provider, code = await ask_code(server, net, signer, question.provider)
                return ConnectionReply(
                    code=code.id,
                    user_code=code.user_code,
                    url=code.url,
                    provider=provider,
                    expires_s=code.expires_s,
                    interval_s=code.interval_s,
                )
            outcome = await server.poll(question.code)
    if outcome.state == "vouched":
        return ConnectionReply(outcome=await proven_tier(api, signer, outcome))
    return ConnectionReply(
        code=question.code, interval_s=outcome.interval_s, problem=outcome.problem
    )


async def ask_code(
    connector: ConnectorApi, net: NetworkId, signer: Signer, wanted: str
) -> tuple[str, ConnectCode]:
    """Get a code for a person's account; returns the provider, too."""
    provider = choose_provider(await connector.about(), connector.url, net, wanted)
    code = await connector.begin(signer, net, provider)
    parts = urlsplit(code.url)
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise PeerError(f"it sends you to {code.url}, which is not encrypted")
    return provider, code


@contextmanager
def explain_connector(url: str) -> Iterator[None]:
    """Turn errors of a connector into sentences for the person."""
    try:
        yield
    except ConnectorUnavailableError as err:
        raise UserFacingError(f"the connector at {url} is unavailable: {err}") from err
    except RefusedError as err:
        raise UserFacingError(f"the connector refused: {err}") from err
    except PeerError as err:
        raise UserFacingError(f"the server at {url} is not a trustworthy connector: {err}") from err


def choose_provider(about: ConnectorAbout, url: str, net: NetworkId, wanted: str) -> str:
    if about.network != to_text(net):
        raise UserFacingError(f"the connector at {url} serves a different network than the ledger")
    if about.url != url:
        raise UserFacingError(
            f"the connector at {url} reports its address as {about.url}: if that is the one you "
            "mean, give that address, since proofs are bound to it"
        )
    if wanted in about.providers:
        return wanted
    if not wanted and len(about.providers) == 1:
        return about.providers[0]
    known = ", ".join(about.providers)
    raise UserFacingError(f"choose an account provider: {known}")


async def proven_tier(ledger: LedgerApi, signer: Signer, outcome: ConnectOutcome) -> str:
    """Find the vouch in the log, and describe the key's tier."""
    index = outcome.index
    if index is None:
        raise UserFacingError("the connector vouched, but did not report the log entry")
    if not await is_published(ledger, index):
        raise UserFacingError(
            f"the connector reports that it vouched in log entry {index}, which the ledger has not "
            "published yet: check your key's page later"
        )
    found = await read_entries(ledger, await ledger.network(), [index])
    body = found[index].statement.body
    if not isinstance(body, MemberVouch) or body.peer != to_text(signer.key):
        raise UserFacingError(
            f"the connector reports that it vouched in log entry {index}, but that entry is about "
            "something else: do not trust this connector"
        )
    known = (await ledger.peer(signer.key)).tier
    if known.tier >= len(TIER_WORDS):
        raise UserFacingError(
            f"the ledger reports tier {known.tier} for your key, which this version of Tequio does "
            "not know: update it"
        )
    return (
        f"your key has tier {known.tier} ({TIER_WORDS[known.tier]}); log entry {index} vouches "
        f"for it until {format_time(body.until)}: run this command again before that"
    )


async def is_published(api: LedgerApi, index: int) -> bool:
    """Wait until the log has that entry; False when it still does not after a while."""
    with trio.move_on_after(PUBLISHED_S) as patience:
        while (await api.checkpoint()).size <= index:  # noqa: ASYNC110 - it is elsewhere
            await trio.sleep(POLL_S)
    return not patience.cancelled_caught
