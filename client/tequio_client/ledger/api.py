"""Typed calls of the HTTP APIs of a ledger and of a connector.

Answers are only believed where they are checked here: the genesis document against the network id,
checkpoints against the log key, blobs against their digest. A caller that has a root checks tiles
and entries (`worker.ledger.follower`). Deadlines, size limits and errors are those of
`ledger.http`; the types of the answers, with their bounds, are `tequio_shared.api`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Self, TypeVar

import msgspec
import structlog
import trio

from tequio_client import clock
from tequio_client.ledger.http import (
    MAX_SERVER_TEXT,
    AddressOf,
    ApiLimits,
    LedgerHttp,
    LedgerRefusedError,
    LedgerUnavailableError,
)
from tequio_client.ledger.tile_mirror import TileMirror, open_mirror
from tequio_client.names import clean_text
from tequio_shared import encoding
from tequio_shared.addresses import AddressRecord
from tequio_shared.api import connector
from tequio_shared.api.admission import ConnectorsAnswer, InvitationAnswer, InvitationsAnswer
from tequio_shared.api.answer import PAGE_ROWS
from tequio_shared.api.competitions import CompetitionAnswer, CompetitionLine, CompetitionsAnswer
from tequio_shared.api.connector import (
    ConnectChallenge,
    ConnectCode,
    ConnectorAbout,
    ConnectOutcome,
    ConnectPoll,
    ConnectProof,
    ConnectRequest,
)
from tequio_shared.api.network import (
    LogEvent,
    NetworkAnswer,
    PostedAnswer,
    PostedStatement,
    ReleasesAnswer,
    SeedsAnswer,
    SnapshotsAnswer,
)
from tequio_shared.api.peers import (
    PeerAnswer,
    PeerRoundsAnswer,
    PeersAnswer,
    PeerStandingAnswer,
    QuarantineAnswer,
    RankingAnswer,
    TeamAnswer,
)
from tequio_shared.api.runs import (
    MeasuresAnswer,
    NetworkNoticeAnswer,
    RoundAnswer,
    RoundsAnswer,
    RunAnswer,
    RunsAnswer,
)
from tequio_shared.errors import MalformedError, PeerError, RefusedError, TequioError
from tequio_shared.ids import (
    DIGEST_BYTES,
    Digest,
    NetworkId,
    PeerKey,
    RunId,
    from_text,
    sha256,
    to_text,
)
from tequio_shared.keys import Signer
from tequio_shared.limits import BLOB_BYTES, JSON_INTEGER, POST_BYTES, POST_STATEMENTS
from tequio_shared.log.notes import NOTE_BYTES, Checkpoint, VerifierKey
from tequio_shared.log.policy import Policy
from tequio_shared.log.tiles import (
    BUNDLE_LEVEL,
    TILE_WIDTH,
    Tile,
    encode_bundle,
    open_signed,
    parse_bundle,
)
from tequio_shared.network.genesis import Genesis
from tequio_shared.statements.statement import Entry, statement_id

REQUEST_PREFIX = b"tequio/v1/request\x00"
ENTRIES_AT_ONCE = TILE_WIDTH
"""Maximum entries in one call of `entries`, so that at most two bundles are in memory."""

_MOST_PAGES = 128
"""Most pages of a list that are read, or 32,000 rows: one that a lying ledger makes has no end."""

CONNECTOR_LIMITS = ApiLimits(call_s=60.0, answer_bytes=16_384, connections=2)

T = TypeVar("T")
Place = TypeVar("Place", int, tuple[int, str])
P = TypeVar("P", RunsAnswer, CompetitionsAnswer, QuarantineAnswer, InvitationsAnswer)
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerNetwork:
    """A network whose genesis document has the hash that names the network."""

    id: NetworkId
    genesis: Genesis
    log_key: VerifierKey
    tiles_url: str = ""
    """The mirror of tiles that the ledger names, which nothing vouches for; empty for none."""

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Parse an answer of `/v1/network`; raises PeerError when it contradicts itself."""
        answer = encoding.read(raw, NetworkAnswer)
        genesis = answer.checked_genesis()
        return cls(
            id=genesis.network_id,
            genesis=genesis,
            log_key=VerifierKey.parse(genesis.log_key),
            tiles_url=answer.tiles_url or "",
        )


class LedgerApi:
    """A ledger, over a few kept connections; `async with` closes them."""

    def __init__(
        self,
        url: str,
        *,
        limits: ApiLimits | None = None,
        trust: Policy | None = None,
        address_of: AddressOf | None = None,
    ) -> None:
        """Checkpoints only count with the quorum of `trust`; raises as `LedgerHttp` does.

        With `address_of`, full tiles and bundles are fetched from the mirror that the ledger names,
        if it names one, at the address that this gives for the mirror's host.
        """
        self._trust = trust
        self._address_of = address_of
        self._mirror: TileMirror | None = None
        self._limits = limits or ApiLimits()
        self._network: LedgerNetwork | None = None
        self.http = LedgerHttp(url, self._limits)
        self.url = self.http.url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()
        if self._mirror is not None:
            await self._mirror.aclose()

    async def network(self) -> LedgerNetwork:
        """Get the network, checked against its id; asked for only once."""
        if self._network is None:
            found = LedgerNetwork.parse(await self.http.call("/v1/network"))
            if found.tiles_url and self._address_of is not None and self._mirror is None:
                self._mirror = open_mirror(found.tiles_url, self._ask_tile, self._address_of)
            self._network = found
        return self._network

    async def runs(self) -> tuple[RunAnswer, ...]:
        """List all runs, oldest first; raises PeerError when pages do not continue, or go on."""
        return tuple([one async for page in self._pages("runs", RunsAnswer) for one in page.runs])

    async def run(self, run: RunId) -> RunAnswer:
        return await self._get(f"runs/{to_text(run)}", RunAnswer)

    async def rounds(
        self, run: RunId, *, after: int = 0, limit: int = 100
    ) -> Sequence[RoundAnswer]:
        """List at most `limit` (1 to 250) rounds of a run that come after a number, ascending.

        Raises PeerError for another list.
        """
        path = f"runs/{to_text(run)}/rounds?after={after}&limit={limit}"
        found = (await self._get(path, RoundsAnswer)).rounds
        check_page("rounds", [after, *(one.round for one in found)], limit)
        return found

    async def measures(self, run: RunId, *, after: int, limit: int) -> MeasuresAnswer:
        """List at most `limit` measured heads of rounds above a number, ascending.

        Raises PeerError for another list.
        """
        path = f"runs/{to_text(run)}/measures?after={after}&limit={limit}"
        answer = await self._get(path, MeasuresAnswer)
        numbers = [after, *(one.round for one in answer.heads)]
        check_page("heads", numbers, limit)
        if answer.next is not None and (not answer.heads or answer.next != numbers[-1]):
            raise PeerError(f"the heads after {after} continue after {answer.next}")
        return answer

    async def peers(self, *, after: str, limit: int) -> PeersAnswer:
        """List at most `limit` keys in order of registration, after a key; "" for the first."""
        return await self._get(f"peers?after={after}&limit={limit}", PeersAnswer)

    async def peer(self, key: PeerKey) -> PeerAnswer:
        """Describe one key's account; LedgerRefusedError("not-found") when it is not registered."""
        answer = await self._get(f"peers/{to_text(key)}", PeerAnswer)
        if answer.key != to_text(key):
            raise PeerError(f"the ledger answered about key {answer.key}")
        return answer

    async def find_peer(self, key: PeerKey) -> PeerAnswer | None:
        """Describe one key's account; None when it is not registered."""
        try:
            return await self.peer(key)
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            return None

    async def team(self, team: int, *, after: int = 0, limit: int = PAGE_ROWS) -> TeamAnswer:
        """Describe a team and its members after a rank; LedgerRefusedError("not-found")."""
        answer = await self._get(f"teams/{team}?after={after}&limit={limit}", TeamAnswer)
        if answer.team != team:
            raise PeerError(f"the ledger answered about team {answer.team}")
        return answer

    async def peer_rounds(
        self, key: PeerKey, *, before: int = JSON_INTEGER, limit: int = 100
    ) -> PeerRoundsAnswer:
        """List a page of a key's ended rounds below an index, last ended first; PeerError."""
        path = f"peers/{to_text(key)}/rounds?before={before}&limit={limit}"
        answer = await self._get(path, PeerRoundsAnswer)
        ends = [before, *(one.closed_index for one in answer.rounds)]
        if len(ends) > limit + 1 or any(one <= other for one, other in pairwise(ends)):
            raise PeerError(f"rounds that ended at {ends[1:9]} are not a page below {before}")
        return answer

    async def ranking_around(self, key: PeerKey, reach: int) -> RankingAnswer:
        """List up to `reach` keys on either side of this one, best first; raises PeerError."""
        answer = await self._get(f"ranking?around={to_text(key)}&n={reach}", RankingAnswer)
        for one, other in pairwise(answer.rows):
            if other.rank != one.rank + 1 or other.gflop > one.gflop:
                raise PeerError(f"place {other.rank} of the ranking does not follow {one.rank}")
        return answer

    async def quarantine(self) -> list[PeerStandingAnswer]:
        """List all keys that are excluded or watched, as `runs`."""
        pages = self._pages("quarantine", QuarantineAnswer)
        return [one async for page in pages for one in page.peers]

    async def invitations(self) -> list[InvitationAnswer]:
        """List all invitations in the order of their opening, as `runs`."""
        pages = self._pages("invitations", InvitationsAnswer)
        return [one async for page in pages for one in page.invitations]

    async def competitions(self) -> tuple[CompetitionLine, ...]:
        """List all competitions, oldest first; raises PeerError when the pages do not continue."""
        return tuple([one for page in await self.competition_pages() for one in page.competitions])

    async def competition_pages(self) -> list[CompetitionsAnswer]:
        """Get the pages of that list, each with the log that it is true for."""
        return [page async for page in self._pages("competitions", CompetitionsAnswer)]

    async def competition(self, competition: Digest) -> CompetitionAnswer:
        """Get one competition; its rules are checked against the id."""
        answer = await self._get(f"competitions/{to_text(competition)}", CompetitionAnswer)
        answer.check(competition)
        return answer

    async def connectors(self) -> ConnectorsAnswer:
        return await self._get("connectors", ConnectorsAnswer)

    async def notice(self) -> NetworkNoticeAnswer:
        """Get the announcement to the network, unverified (`ledger.announcement` proves it)."""
        return await self._get("notice", NetworkNoticeAnswer)

    async def releases(self) -> ReleasesAnswer:
        """List the releases that the log names, unverified (`ledger.releases` proves them)."""
        return await self._get("release", ReleasesAnswer)

    async def snapshots(self) -> SnapshotsAnswer:
        """List the snapshots that the log names, unverified (`ledger.snapshots` proves them)."""
        return await self._get("snapshots", SnapshotsAnswer)

    async def post_entries(self, entries: Sequence[Entry]) -> list[PostedStatement]:
        """Send at most 256 entries of together 1 MiB; returns their results in the same order.

        Each `detail` is cleaned, so it can be shown and logged.
        """
        content = encode_bundle(entry.leaf() for entry in entries)
        if not 0 < len(entries) <= POST_STATEMENTS or len(content) > POST_BYTES:
            raise RefusedError("too-large", f"{len(entries)} entries of {len(content)} bytes")
        net = (await self.network()).id
        raw = await self.http.call("/v1/statements", method="POST", content=content)
        items = encoding.read(raw, PostedAnswer).items
        names = tuple(to_text(statement_id(net, entry.statement.raw)) for entry in entries)
        # Of an entry that the ledger could not read it knows no id.
        answered = tuple(
            n if i.status == "refused" else i.id for n, i in zip(names, items, strict=False)
        )
        if answered != names or len(items) != len(names):
            raise PeerError("the ledger answered about other statements than those sent")
        return [
            msgspec.structs.replace(i, detail=i.detail and clean_text(i.detail, MAX_SERVER_TEXT))
            for i in items
        ]

    async def checkpoint(self) -> Checkpoint:
        """Get the newest size and root; raises as `checkpoint_note` does."""
        return (await self.checkpoint_note())[0]

    async def checkpoint_note(self) -> tuple[Checkpoint, bytes]:
        """Get the newest signed checkpoint, and its note; raises as `Policy.open` with the time."""
        log_key = (await self.network()).log_key
        note = await self.http.call("/log/checkpoint", most=NOTE_BYTES)
        now_s = clock.now_ms() // 1_000
        checkpoint = open_signed(note, log_key, self._trust, now_s=now_s).checkpoint
        if self._mirror is not None:
            self._mirror.newest = checkpoint
        return checkpoint, note

    async def send_checkpoint(self, note: bytes) -> None:
        """Send a checkpoint that we stored; LedgerRefusedError("log-behind"): the log lacks it."""
        await self.http.call("/log/checkpoint", method="POST", content=note)

    async def tile(self, level: int, index: int, width: int = TILE_WIDTH) -> list[Digest]:
        """Get the first `width` hashes of a tile, unverified."""
        raw = await self._tile(Tile(level=level, index=index, width=width))
        raw = raw[: width * DIGEST_BYTES]
        if len(raw) != width * DIGEST_BYTES:
            raise MalformedError(f"tile of {len(raw)} bytes for {width} hashes")
        return [Digest(raw[at : at + DIGEST_BYTES]) for at in range(0, len(raw), DIGEST_BYTES)]

    async def entries(self, first: int, end: int) -> list[bytes]:
        """Get leaves `first` to `end - 1`, at most 256, unverified; all must be published."""
        if not 0 <= first < end <= first + ENTRIES_AT_ONCE:
            raise RefusedError("too-large", f"entries {first} to {end}: 1 to 256 at once")
        leaves: list[bytes] = []
        for index in range(first // TILE_WIDTH, (end - 1) // TILE_WIDTH + 1):
            start = index * TILE_WIDTH
            bundled = await self._bundle(index, min(end - start, TILE_WIDTH))
            leaves += bundled[max(first - start, 0) :]
        return leaves

    async def get_blob(self, digest: Digest, *, most_bytes: int = BLOB_BYTES) -> bytes | None:
        """Get a blob and check its hash; None when the ledger does not have it."""
        try:
            raw = await self.http.call(_blob(digest), most=most_bytes, seconds=self._limits.blob_s)
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            return None
        found = await trio.to_thread.run_sync(sha256, raw)
        if found != digest:
            raise PeerError(f"blob {digest.hex()} came with hash {found.hex()}")
        return raw

    async def put_blob(self, content: bytes, signer: Signer, now_ms: int) -> Digest:
        """Store a blob on behalf of a registered key; returns its digest."""
        net = (await self.network()).id
        digest = await trio.to_thread.run_sync(sha256, content)
        signed = signer.sign(REQUEST_PREFIX + net + digest + now_ms.to_bytes(8, "big"))
        headers = {
            "x-tequio-author": to_text(signer.key),
            "x-tequio-ts": str(now_ms),
            "x-tequio-signature": to_text(signed),
        }
        path, seconds = _blob(digest), self._limits.blob_s
        await self.http.call(path, method="PUT", content=content, headers=headers, seconds=seconds)
        return digest

    async def seeds(self, net: NetworkId) -> tuple[AddressRecord, ...]:
        """List dialable addresses of that network's peers, signatures checked."""
        found: list[AddressRecord] = []
        for raw in (await self._get("seeds", SeedsAnswer)).seeds:
            try:
                record = AddressRecord.parse(bytes(raw))
                record.verify(net)
            except PeerError as err:
                log.debug("invalid address record of a seed", error=str(err))
            else:
                found.append(record)
        return tuple(found)

    async def put_seed(self, record: AddressRecord) -> None:
        """Publish our addresses, until the record is too old to be current."""
        await self.http.call("/v1/seeds", method="PUT", content=record.encode())

    @asynccontextmanager
    async def events(self, after: int = -1) -> AsyncIterator[AsyncIterator[LogEvent]]:
        """Open the stream of unverified entries above log index `after`; -1 is the whole log.

        After an error it is over.
        """
        async with self.http.stream(f"/v1/events?after={after}") as events:
            yield events

    async def _get(self, path: str, kind: type[T]) -> T:
        return encoding.read(await self.http.call(f"/v1/{path}"), kind)

    async def _pages(self, what: str, kind: type[P]) -> AsyncIterator[P]:
        """Get all pages of a list; raises PeerError when one does not continue the one before."""
        after: int | None = 0
        for _ in range(_MOST_PAGES):
            page = await self._get(f"{what}?after={after}&limit={PAGE_ROWS}", kind)
            if page.next is not None and page.next <= (after or 0):
                raise PeerError(f"the page of {what} after {after} continues after {page.next}")
            yield page
            after = page.next
            if after is None:
                return
        raise PeerError(f"the list of {what} does not end after {_MOST_PAGES} pages")

    async def _bundle(self, index: int, width: int) -> list[bytes]:
        tile = Tile(level=BUNDLE_LEVEL, index=index, width=width)
        leaves = parse_bundle(await self._tile(tile))[:width]
        if len(leaves) != width:
            raise MalformedError(f"bundle of {len(leaves)} leaves instead of {width}")
        return leaves

    async def _tile(self, tile: Tile) -> bytes:
        """Get a tile, a full one from the mirror if it has it."""
        if self._mirror is None or tile.width != TILE_WIDTH:
            return await self._ask_tile(tile)
        if (found := await self._mirror.get(tile)) is not None:
            return found
        begun_s = trio.current_time()
        found = await self._ask_tile(tile)
        self._mirror.record_ledger(trio.current_time() - begun_s)
        return found

    async def _ask_tile(self, tile: Tile) -> bytes:
        """Get a tile; a partial one may disappear once the full one exists (C2SP tlog-tiles)."""
        try:
            return await self.http.call(f"/log/{tile.path()}", most=tile.most_bytes)
        except LedgerRefusedError as err:
            if err.code != "not-found" or tile.width == TILE_WIDTH:
                raise
        return await self._ask_tile(Tile(level=tile.level, index=tile.index))


def check_page(what: str, places: Sequence[Place], most: int) -> None:
    """Raise PeerError unless a page ascends from the first place, which is before the page."""
    for one, other in pairwise(places):
        if other <= one:
            raise PeerError(f"the {what} do not ascend: {other} comes after {one}")
    if len(places) > most + 1:
        raise PeerError(f"{len(places) - 1} {what} came where at most {most} were asked for")


def _blob(digest: Digest) -> str:
    return f"/v1/blobs/{to_text(digest)}"


class ConnectorUnavailableError(TequioError):
    """The connector, or a service behind it, is unavailable now; try later."""


class ConnectorApi:
    """A connector; `async with` closes its connections.

    Errors: `ConnectorUnavailableError` when trying again may help, RefusedError with the problem
    code and the connector's sentence when it refuses, MalformedError when its answer has another
    form.
    """

    def __init__(self, url: str, limits: ApiLimits = CONNECTOR_LIMITS) -> None:
        self._http = LedgerHttp(url, limits, "connector")
        self.url = self._http.url

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def about(self) -> ConnectorAbout:
        """Get the connector's key, address and providers."""
        return await self._call("GET", connector.ABOUT, None, ConnectorAbout)

    async def begin(self, signer: Signer, net: NetworkId, provider: str) -> ConnectCode:
        """Prove that the key asks for a vouch, and get a code for its person."""
        peer = to_text(signer.key)
        request = ConnectRequest(peer=peer, provider=provider)
        answer = await self._call("POST", connector.CHALLENGES, request, ConnectChallenge)
        challenge = from_text(answer.challenge, None)
        signed = signer.sign(connector.signed_message(net, self.url, provider, challenge))
        proof = ConnectProof(
            peer=peer, provider=provider, challenge=answer.challenge, signature=to_text(signed)
        )
        return await self._call("POST", connector.CONNECTIONS, proof, ConnectCode)

    async def poll(self, code: str) -> ConnectOutcome:
        """Ask for the outcome of the code with that id."""
        return await self._call("POST", connector.ASK, ConnectPoll(id=code), ConnectOutcome)

    async def _call(self, method: str, path: str, body: object, kind: type[T]) -> T:
        content = None if body is None else msgspec.json.encode(body)
        try:
            raw = await self._http.call(path, method=method, content=content)
        except LedgerUnavailableError as err:
            raise ConnectorUnavailableError(err.detail or str(err)) from err
        except LedgerRefusedError as err:
            raise RefusedError(err.code, err.detail or str(err)) from err
        try:
            return encoding.read(raw, kind)
        except MalformedError as err:
            message = clean_text(str(err), MAX_SERVER_TEXT)
            raise MalformedError(f"the connector's answer to {path} is wrong: {message}") from err
