"""The connector's service: connections in progress, from the request to the vouch.

A connection is in memory only, and lasts as long as its code. The provider is asked only when the
volunteer's program asks, and no more often than the provider permits: a volunteer who leaves costs
it nothing. Nothing of an account is stored except the derived name of its owner.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from tequio_ledger.connector.ledger import LedgerAwayError, StatementAuthor
from tequio_ledger.connector.providers import (
    Account,
    DeviceCode,
    Provider,
    ProviderAwayError,
    ProviderWrongError,
    owner,
)
from tequio_shared import ids
from tequio_shared.api import connector
from tequio_shared.api.connector import (
    ConnectChallenge,
    ConnectCode,
    ConnectorAbout,
    ConnectOutcome,
    ConnectProof,
    ConnectRequest,
)
from tequio_shared.errors import PeerError, RefusedError
from tequio_shared.ids import Digest, PeerKey
from tequio_shared.keys import check_key, verify
from tequio_shared.ratelimit import TokenBuckets
from tequio_shared.statements.network import MemberVouch
from tequio_shared.wording import plural

if TYPE_CHECKING:
    from tequio_ledger.runtime import Clock


# --- Challenges. Giving one costs no memory: only used ones are remembered.

LIFE_MS = 120_000
MAX_USED = 65_536
"""Maximum number of used challenges that are remembered until they expire."""
_TIME_BYTES = 8
_CHANCE_BYTES = 16
_MARK_BYTES = 32
_BYTES = _TIME_BYTES + _CHANCE_BYTES + _MARK_BYTES


class Challenges:
    """Gives challenges for a request and accepts each of them once; a restart ends them all."""

    def __init__(self, clock: Clock, *, max_used: int = MAX_USED) -> None:
        self._clock = clock
        self._max_used = max_used
        self._key = secrets.token_bytes(_MARK_BYTES)
        self._used: set[bytes] = set()
        self._order: deque[bytes] = deque()

    def issue(self, request: bytes) -> bytes:
        """Make a challenge for this request alone."""
        end = (self._clock() + LIFE_MS).to_bytes(_TIME_BYTES, "big")
        head = end + secrets.token_bytes(_CHANCE_BYTES)
        return head + self._mark(head, request)

    def redeem(self, challenge: bytes, request: bytes) -> None:
        """Use up a challenge; raises RefusedError for an unknown, expired or used one."""
        head, mark = challenge[:-_MARK_BYTES], challenge[-_MARK_BYTES:]
        is_ours = len(challenge) == _BYTES and hmac.compare_digest(mark, self._mark(head, request))
        if not is_ours or _end(challenge) < self._clock():
            raise RefusedError("expired", "the challenge is invalid or has expired: get a new one")
        while self._order and _end(self._order[0]) < self._clock():
            self._used.discard(self._order.popleft())
        if challenge in self._used:
            raise RefusedError("expired", "the challenge was used already: get a new one")
        # Dropping an old one instead would let it be used twice.
        if len(self._order) >= self._max_used:
            raise RefusedError("queue-full", "too many want to connect now: try again later")
        self._used.add(challenge)
        self._order.append(challenge)

    def _mark(self, head: bytes, request: bytes) -> bytes:
        return hmac.digest(self._key, head + request, "sha256")


def _end(challenge: bytes) -> int:
    return int.from_bytes(challenge[:_TIME_BYTES], "big")


OPEN = 1_000
"""Maximum number of connections: each is a code at a provider."""
HURRY_S = 5
"""Seconds that a provider's `slow_down` adds to the pause (RFC 8628, 3.5)."""
DAY_MS = 86_400_000
HOUR_S = 3_600
AT_ONCE = 6
"""Divisor of an hour's codes: a sixth of them may come in a burst."""

log = structlog.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class Connection:
    """One key that waits for a person; only `ConnectionService` changes it."""

    peer: PeerKey
    provider: Provider
    device_code: str = field(repr=False)
    ends_ms: int
    interval_s: int
    next_ms: int
    owner: Digest | None = None
    """The owner of the account, once the provider has named it."""
    outcome: ConnectOutcome | None = None
    """The successful outcome."""
    problem: str = ""
    is_busy: bool = False


class ConnectionService:
    """Serves volunteers; used from one event loop."""

    def __init__(
        self,
        about: ConnectorAbout,
        secret: bytes,
        providers: Mapping[str, Provider],
        author: StatementAuthor,
        clock: Clock,
        *,
        codes_per_hour: int,
    ) -> None:
        """Owners' names are derived from `secret`."""
        self.about = about
        self._secret = secret
        self._providers = providers
        self._challenges = Challenges(clock)
        self._author = author
        self._clock = clock
        self._open: dict[str, Connection] = {}
        self._vouching = asyncio.Lock()
        hourly = codes_per_hour
        self._buckets = TokenBuckets(hourly / HOUR_S, max(1, hourly / AT_ONCE)) if hourly else None

    def challenge(self, request: ConnectRequest) -> ConnectChallenge:
        """Give a key a challenge to sign; raises RefusedError for an unknown provider."""
        self._provider(request.provider)
        made = self._challenges.issue(_named(request.peer, request.provider))
        return ConnectChallenge(challenge=ids.to_text(made))

    async def begin(self, proof: ConnectProof, network: str) -> ConnectCode:
        """Get a code for a key that signed its challenge; raises RefusedError, PeerError."""
        provider = self._provider(proof.provider)
        peer = self._proven(proof)
        self._limit(network, peer)
        await self._check_registered(peer)
        try:
            code = await provider.code()
        except ProviderAwayError as err:
            raise _away(provider, err) from err
        except ProviderWrongError as err:
            raise _wrong(provider, err) from err
        self._open_connection(peer, provider, code)
        return code.shown

    async def ask(self, name: str) -> ConnectOutcome:
        """Give the outcome of a code; raises RefusedError when it has failed."""
        connection = self._open.get(name)
        if connection is None or connection.ends_ms < self._clock():
            self._open.pop(name, None)
            raise RefusedError(
                "not-found", "the code has expired, or the connector was restarted: begin again"
            )
        if connection.outcome is None and not connection.is_busy:
            connection.is_busy = True
            try:
                if connection.owner is None and self._clock() >= connection.next_ms:
                    await self._ask_provider(connection)
                if connection.owner is not None:
                    await self._vouch(connection, connection.owner)
            except RefusedError as err:
                self._open.pop(name, None)
                log.info("refused", code=err.code, provider=connection.provider.name)
                raise
            finally:
                connection.is_busy = False
        return connection.outcome or ConnectOutcome(
            state="waiting", interval_s=connection.interval_s, problem=connection.problem
        )

    # --- the request

    def _provider(self, name: str) -> Provider:
        found = self._providers.get(name)
        if found is None:
            raise RefusedError(
                "not-found", f"unknown provider {name}: choose one of {', '.join(self._providers)}"
            )
        return found

    def _proven(self, proof: ConnectProof) -> PeerKey:
        peer = check_key(ids.key_from_text(proof.peer))
        challenge = ids.from_text(proof.challenge, None)
        message = connector.signed_message(
            self._author.net, self.about.url, proof.provider, challenge
        )
        verify(peer, ids.from_text(proof.signature, None), message)
        # After the signature: a challenge that a stranger saw cannot be used up without the key.
        self._challenges.redeem(challenge, _named(proof.peer, proof.provider))
        return peer

    def _limit(self, network: str, peer: PeerKey) -> None:
        now_ms = self._clock()
        self._open = {name: one for name, one in self._open.items() if one.ends_ms >= now_ms}
        if len(self._open) >= OPEN:
            raise RefusedError("queue-full", "too many want to connect now: try again later")
        for sender in (network, peer):
            if self._buckets and not self._buckets.try_spend(sender, 1, now_ms / 1000):
                raise RefusedError("rate-limited", "too many codes were requested: try again later")

    async def _check_registered(self, peer: PeerKey) -> None:
        try:
            is_member = await self._author.is_member(peer)
        except (LedgerAwayError, PeerError) as err:
            log.warning("the ledger does not answer whether a key is registered", error=str(err))
            raise RefusedError(
                "ledger-away", "the ledger does not answer: try again later"
            ) from err
        if not is_member:
            raise RefusedError(
                "not-admitted",
                "this key is not in the log yet: start your worker once, then try again",
            )

    def _open_connection(self, peer: PeerKey, provider: Provider, code: DeviceCode) -> None:
        """Open a connection, which ends the key's former one."""
        self._open = {name: one for name, one in self._open.items() if one.peer != peer}
        now_ms = self._clock()
        self._open[code.shown.id] = Connection(
            peer=peer,
            provider=provider,
            device_code=code.device_code,
            ends_ms=now_ms + code.shown.expires_s * 1000,
            interval_s=code.shown.interval_s,
            next_ms=now_ms,  # the provider's interval is between two requests
        )
        log.info("a key wants to be vouched for", peer=ids.to_text(peer), provider=provider.name)

    # --- the person's decision

    async def _ask_provider(self, connection: Connection) -> None:
        provider = connection.provider
        try:
            found = await provider.account_of(connection.device_code)
        except ProviderAwayError as err:
            log.warning("a provider is away", provider=provider.name, error=str(err))
            connection.problem = f"{provider.name} does not answer now"
            self._slow(connection, connection.interval_s)
            return
        except ProviderWrongError as err:
            raise _wrong(provider, err) from err
        connection.problem = ""
        if isinstance(found, Account):
            connection.owner = owner(self._secret, found)
        else:
            self._slow(connection, HURRY_S if found.is_hurried else 0)

    def _slow(self, connection: Connection, more_s: int) -> None:
        connection.interval_s = min(connection.interval_s + more_s, connector.INTERVAL_S)
        connection.next_ms = self._clock() + connection.interval_s * 1000

    # --- the vouch

    async def _vouch(self, connection: Connection, owner_name: Digest) -> None:
        async with self._vouching:  # two keys of one account must not both pass the count below
            until = self._clock() + self.about.term_days * DAY_MS
            body = MemberVouch(
                peer=ids.to_text(connection.peer), owner=ids.to_text(owner_name), until=until
            )
            try:
                await self._count(body)
                index = await self._log_vouch(body)
            except (LedgerAwayError, PeerError) as err:
                log.warning("the ledger does not answer", error=str(err))
                connection.problem = "the ledger does not answer now"
                return
        log.info("vouched", peer=body.peer, provider=connection.provider.name, index=index)
        connection.outcome = ConnectOutcome(state="vouched", index=index, until=until)

    async def _count(self, body: MemberVouch) -> None:
        others = self._author.book.keys_of(body.owner, self._clock())
        others.pop(body.peer, None)
        if len(others) < self.about.keys_per_account:
            return
        # Some of them may have ended since; a replaced key has handed its vouch to its successor.
        held = [(await self._author.holder(key), until) for key, until in others.items()]
        others = {key: until for key, until in held if key and key != body.peer}
        if len(others) < self.about.keys_per_account:
            return
        soonest = (min(others.values()) - self._clock()) // DAY_MS + 1
        raise RefusedError(
            "owner-full",
            f"this account already vouches for {len(others)} keys, which is the limit: the first "
            f"of these vouches ends in {plural(soonest, 'day')}",
        )

    async def _log_vouch(self, body: MemberVouch) -> int:
        try:
            return await self._author.vouch(body)
        except RefusedError as err:
            raise self._refused(err) from err

    def _refused(self, err: RefusedError) -> RefusedError:
        if err.code == "wrong-role":
            log.error("organisers have not admitted this connector", key=self.about.key)
            return RefusedError(
                "wrong-role",
                "this network's organisers have not admitted this connector, or have removed it: "
                "tell its operator",
            )
        log.error("the ledger refuses a vouch", code=err.code, detail=str(err))
        return err


def _named(peer: str, provider: str) -> bytes:
    return f"{peer} {provider}".encode()


def _away(provider: Provider, err: ProviderAwayError) -> RefusedError:
    log.warning("a provider is away", provider=provider.name, error=str(err))
    return RefusedError("provider-away", f"{provider.name} does not answer: try again later")


def _wrong(provider: Provider, err: ProviderWrongError) -> RefusedError:
    log.error("a provider cannot be used", provider=provider.name, error=str(err))
    return RefusedError(
        "provider-wrong", f"{provider.name} cannot be used now ({err}): tell the operator"
    )
