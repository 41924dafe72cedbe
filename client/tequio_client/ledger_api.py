"""The ledger's HTTP API as typed calls; the one file that imports httpx.

Nothing the ledger says is believed beyond what is checked here: the genesis document against the
network id, checkpoints against the log key, blobs against their digest. Tiles and entries are
checked by who holds a root (`worker.follower`). Every call has a deadline and every answer a size
limit, so a hostile ledger can waste neither time nor memory.

Errors: `LedgerUnavailableError` when trying again later may help, `LedgerRefusedError` with the
problem code when the ledger says no, MalformedError and other PeerErrors when its answer is wrong.
"""

from __future__ import annotations

from collections import deque
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Self

import httpx
import trio

from tequio_client.event_lines import EventLines
from tequio_client.ledger_answers import (
    ROWS,
    Network,
    PeerAnswer,
    PostedAnswer,
    Problem,
    QuarantineAnswer,
    RoundsAnswer,
    RunAnswer,
    RunsAnswer,
    SeedsAnswer,
    parse_answer,
)
from tequio_shared.errors import (
    MalformedError,
    PeerError,
    RefusedError,
    TequioError,
    UserFacingError,
)
from tequio_shared.ids import DIGEST_BYTES, Digest, sha256, to_text
from tequio_shared.limits import (
    BLOB_BYTES,
    DOCUMENT_BYTES,
    ENTRY_BYTES,
    POST_BYTES,
    POST_STATEMENTS,
)
from tequio_shared.notes import NOTE_BYTES, open_checkpoint
from tequio_shared.statement import statement_id
from tequio_shared.tlog import ENTRIES, TILE_WIDTH, Tile, bundle, parse_bundle

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence

    from tequio_client.event_lines import LogEvent
    from tequio_client.ledger_answers import Posted, RoundAnswer
    from tequio_shared.addresses import AddressRecord
    from tequio_shared.ids import NetworkId, PeerKey, RunId
    from tequio_shared.keys import Signer
    from tequio_shared.notes import Checkpoint
    from tequio_shared.statement import Entry

REQUEST_PREFIX = b"tequio/v1/request\x00"
ENTRIES_AT_ONCE = TILE_WIDTH
"""Most entries in one call of `entries`: at most two bundles are in memory."""

_NOT_FOUND = 404
_TOO_MANY = 429
_SERVER_FAULT = 500


class LedgerUnavailableError(TequioError):
    """The ledger cannot be reached, is too slow, or says that it cannot serve now; try later."""

    def __init__(self, message: str, retry_after_s: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class LedgerRefusedError(RefusedError):
    """The ledger said no; `code` is its problem code."""


class LogForkedError(PeerError):
    """The log is not what it was: shorter, or not an extension of what we saw of it before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiLimits:
    """Deadlines in seconds, sizes in bytes."""

    call_s: float = 20.0
    blob_s: float = 180.0
    """For a blob of at most 64 MiB, up or down."""
    idle_s: float = 40.0
    """Longest silence of an event stream; the ledger sends a heartbeat every 15 s."""
    answer_bytes: int = DOCUMENT_BYTES
    connections: int = 16


class LedgerApi:
    """One ledger, spoken to over a few connections that are kept; `async with` closes them."""

    def __init__(self, url: str, *, limits: ApiLimits | None = None) -> None:
        """Connect to nothing yet; raises UserFacingError for what is no http(s) address."""
        self._limits = limits or ApiLimits()
        self._network: Network | None = None
        self.url = _base_url(url)
        self.on_date: Callable[[int], None] = lambda _: None  # told what its clock showed, ms
        # Deadlines are trio's, and the environment's proxies and .netrc are none of our business.
        self._client = httpx.AsyncClient(
            base_url=self.url,
            headers={"accept-encoding": "identity"},
            limits=httpx.Limits(max_connections=self._limits.connections),
            timeout=None,  # noqa: S113 - `_deadline` bounds every call as a whole
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def network(self) -> Network:
        """Give the network, checked against its id; asked for once."""
        if self._network is None:
            self._network = Network.parse(await self._get("/v1/network"))
        return self._network

    async def runs(self) -> tuple[RunAnswer, ...]:
        """List all runs, oldest first."""
        return parse_answer(await self._get("/v1/runs"), RunsAnswer).runs

    async def run(self, run: RunId) -> RunAnswer:
        """Describe one run as it stands."""
        return parse_answer(await self._get(f"/v1/runs/{to_text(run)}"), RunAnswer)

    async def rounds(
        self, run: RunId, *, after: int = 0, limit: int = 100
    ) -> tuple[RoundAnswer, ...]:
        """List at most `limit` (1 to 1000) rounds of a run that come after a number, ascending."""
        path = f"/v1/runs/{to_text(run)}/rounds?after={after}&limit={limit}"
        return parse_answer(await self._get(path), RoundsAnswer).rounds

    async def peer(self, key: PeerKey) -> PeerAnswer:
        """Describe one key's account; LedgerRefusedError("not-found") when it is not registered."""
        answer = parse_answer(await self._get(f"/v1/peers/{to_text(key)}"), PeerAnswer)
        if answer.key != to_text(key):
            raise PeerError(f"the ledger answered about key {answer.key}")
        return answer

    async def quarantine(self, *, after: int = 0) -> QuarantineAnswer:
        """List who is outside or watched since an entry above `after`: one page."""
        raw = await self._get(f"/v1/quarantine?after={after}&limit={ROWS}")
        return parse_answer(raw, QuarantineAnswer)

    async def post(self, entries: Sequence[Entry]) -> list[Posted]:
        """Send at most 256 entries of 1 MiB together; says what became of each, in this order."""
        content = bundle(entry.leaf() for entry in entries)
        if not 0 < len(entries) <= POST_STATEMENTS or len(content) > POST_BYTES:
            raise RefusedError("too-large", f"{len(entries)} entries of {len(content)} bytes")
        net = (await self.network()).id
        raw = await self._call("POST", "/v1/statements", content=content)
        items = parse_answer(raw, PostedAnswer).items
        names = tuple(to_text(statement_id(net, entry.statement.raw)) for entry in entries)
        # Of an entry that the ledger could not read it knows no id.
        said = tuple(
            n if i.status == "refused" else i.id for n, i in zip(names, items, strict=False)
        )
        if said != names or len(items) != len(names):
            raise PeerError("the ledger answered about other statements than those sent")
        return list(items)

    async def checkpoint(self) -> Checkpoint:
        """Get the newest size and root, signed by the genesis' log key."""
        return (await self.checkpoint_note())[0]

    async def checkpoint_note(self) -> tuple[Checkpoint, bytes]:
        """Get the newest size and root, and the note that the genesis' log key signed over them."""
        log_key = (await self.network()).log_key
        note = await self._get("/log/checkpoint", most=NOTE_BYTES)
        return open_checkpoint(note, log_key).checkpoint, note

    async def show_checkpoint(self, note: bytes) -> None:
        """Show a checkpoint that we keep; LedgerRefusedError("log-behind"): the log lacks it."""
        await self._call("POST", "/log/checkpoint", content=note)

    async def tile(self, level: int, index: int, width: int = TILE_WIDTH) -> list[Digest]:
        """Get the first `width` hashes of a tile, unverified."""
        raw = await self._tile(Tile(level=level, index=index, width=width), width * DIGEST_BYTES)
        raw = raw[: width * DIGEST_BYTES]
        if len(raw) != width * DIGEST_BYTES:
            raise MalformedError(f"tile of {len(raw)} bytes for {width} hashes")
        return [Digest(raw[at : at + DIGEST_BYTES]) for at in range(0, len(raw), DIGEST_BYTES)]

    async def entries(self, first: int, end: int) -> list[bytes]:
        """Leaves `first` to `end - 1`, at most 256, unverified; all of them must be published."""
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
            raw = await self._get(_blob(digest), most=most_bytes, seconds=self._limits.blob_s)
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            return None
        found = await trio.to_thread.run_sync(sha256, raw)
        if found != digest:
            raise PeerError(f"blob {digest.hex()} came with hash {found.hex()}")
        return raw

    async def has_blob(self, digest: Digest) -> bool:
        """Tell whether the ledger says that it has a blob."""
        try:
            await self._call("HEAD", _blob(digest))
        except LedgerRefusedError as err:
            if err.code != "not-found":
                raise
            return False
        return True

    async def put_blob(self, content: bytes, signer: Signer, now_ms: int) -> Digest:
        """Store a blob in the name of a registered key and give its digest."""
        net = (await self.network()).id
        digest = await trio.to_thread.run_sync(sha256, content)
        signed = signer.sign(REQUEST_PREFIX + net + digest + now_ms.to_bytes(8, "big"))
        headers = {
            "x-tequio-author": to_text(signer.key),
            "x-tequio-ts": str(now_ms),
            "x-tequio-signature": to_text(signed),
        }
        seconds = self._limits.blob_s
        await self._call("PUT", _blob(digest), content=content, headers=headers, seconds=seconds)
        return digest

    async def seeds(self, net: NetworkId) -> tuple[AddressRecord, ...]:
        """List where that network's peers can be dialled, signatures checked, the newest first."""
        return parse_answer(await self._get("/v1/seeds"), SeedsAnswer).records(net)

    async def put_seed(self, record: AddressRecord) -> None:
        """Say where we can be dialled; forgotten when the record is too old to be current."""
        await self._call("PUT", "/v1/seeds", content=record.encode())

    @asynccontextmanager
    async def events(self, after: int = -1) -> AsyncIterator[EventStream]:
        """Open the stream of entries above log index `after`; -1 is the whole log.

        The stream ends by LedgerUnavailableError when it is cut or silent: the caller connects
        again. Entries are unverified.
        """
        path = f"/v1/events?after={after}"
        request = self._client.build_request("GET", path)
        with _translated("GET", path), trio.fail_after(self._limits.call_s):
            response = await self._client.send(request, stream=True)
        try:
            with _translated("GET", path):
                await self._check(response)
            chunks = response.aiter_raw()
            try:
                yield EventStream(chunks, self._limits.idle_s)
            finally:
                await _abandon(chunks)
        finally:
            await response.aclose()

    async def _bundle(self, index: int, width: int) -> list[bytes]:
        tile = Tile(level=ENTRIES, index=index, width=width)
        leaves = parse_bundle(await self._tile(tile, width * (ENTRY_BYTES + 2)))[:width]
        if len(leaves) != width:
            raise MalformedError(f"bundle of {len(leaves)} leaves where {width} are due")
        return leaves

    async def _tile(self, tile: Tile, most: int) -> bytes:
        """Get a tile; a partial one may be gone once the full one is there (C2SP tlog-tiles)."""
        try:
            return await self._get(f"/log/{tile.path()}", most=most)
        except LedgerRefusedError as err:
            if err.code != "not-found" or tile.width == TILE_WIDTH:
                raise
        whole = Tile(level=tile.level, index=tile.index)
        return await self._get(f"/log/{whole.path()}", most=most // tile.width * TILE_WIDTH)

    async def _get(
        self, path: str, *, most: int | None = None, seconds: float | None = None
    ) -> bytes:
        return await self._call("GET", path, most=most, seconds=seconds)

    async def _call(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        most: int | None = None,
        seconds: float | None = None,
    ) -> bytes:
        """Send a request and read its whole answer within the deadline and the size limit."""
        with _translated(method, path), trio.fail_after(seconds or self._limits.call_s):
            async with self._client.stream(method, path, content=content, headers=headers) as got:
                await self._check(got)
                return await _read(got, self._limits.answer_bytes if most is None else most)

    async def _check(self, response: httpx.Response) -> None:
        shown_ms = _date_ms(response.headers.get("date", ""))
        if shown_ms is not None:
            self.on_date(shown_ms)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise MalformedError("the ledger's answer is encoded although we did not ask for it")
        if not response.is_success:
            with trio.fail_after(self._limits.call_s):
                raise _refusal(response, await _read(response, self._limits.answer_bytes))


def _date_ms(date: str) -> int | None:
    """Read an HTTP date, which has whole seconds; None for none, or one that is no date."""
    try:
        return int(parsedate_to_datetime(date).timestamp()) * 1000
    except (ValueError, OverflowError):
        return None


class EventStream:
    """Log entries as they come, in the order in which the ledger sends them."""

    def __init__(self, chunks: AsyncIterator[bytes], idle_s: float) -> None:
        self._chunks = chunks
        self._idle_s = idle_s
        self._lines = EventLines()
        self._ready: deque[LogEvent] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> LogEvent:
        """Wait for the next entry; LedgerUnavailableError when the stream is cut or silent."""
        while not self._ready:
            self._ready.extend(self._lines.feed(await self._chunk()))
        return self._ready.popleft()

    async def _chunk(self) -> bytes:
        with _translated("GET", "/v1/events"), trio.fail_after(self._idle_s):
            async for chunk in self._chunks:
                return chunk
        raise LedgerUnavailableError("the ledger ended its event stream")


@contextmanager
def _translated(method: str, path: str) -> Iterator[None]:
    try:
        yield
    except trio.TooSlowError as err:
        raise LedgerUnavailableError(f"the ledger did not answer {method} {path} in time") from err
    except (httpx.HTTPError, httpx.StreamError) as err:
        reason = str(err) or type(err).__name__
        raise LedgerUnavailableError(f"{method} {path} failed: {reason}") from err


async def _read(response: httpx.Response, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    chunks = response.aiter_raw()
    try:
        async for chunk in chunks:
            size += len(chunk)
            if size > most:
                raise MalformedError(f"the ledger's answer has more than {most} bytes")
            parts.append(chunk)
    finally:
        await _abandon(chunks)
    return b"".join(parts)


async def _abandon(chunks: AsyncIterator[bytes]) -> None:
    """End an iteration that may not be at its end.

    Below httpx's generator are others that it does not close; an error from the innermost, here a
    cancelled read, ends them all, and the connection.
    """
    with trio.CancelScope() as scope:
        scope.cancel()
        async for _ in chunks:
            pass


def _refusal(response: httpx.Response, raw: bytes) -> TequioError:
    """Turn an answer that is not a success into our error."""
    status = response.status_code
    problem = _problem(raw)
    said = f"{response.request.method} {response.request.url.path}: {status} {problem.detail[:500]}"
    if (status >= _SERVER_FAULT and problem.code != "quota") or status == _TOO_MANY:
        return LedgerUnavailableError(said, _retry_after_s(response))
    if status < 400:  # noqa: PLR2004 - redirection and the like: not a ledger's answer
        return LedgerUnavailableError(f"{said}: this address is not the ledger's own")
    code = "not-found" if status == _NOT_FOUND else problem.code
    return LedgerRefusedError(code, said)


def _problem(raw: bytes) -> Problem:
    try:
        return parse_answer(raw, Problem)
    except MalformedError:
        return Problem()  # a proxy's page: the status says enough


def _retry_after_s(response: httpx.Response) -> float:
    """Read how long the ledger asks us to wait, at most a minute; a date counts as nothing."""
    text = response.headers.get("retry-after", "")
    return min(float(text), 60.0) if text.isascii() and text.isdigit() else 0.0


def _blob(digest: Digest) -> str:
    return f"/v1/blobs/{to_text(digest)}"


def _base_url(text: str) -> str:
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as err:
        raise UserFacingError(f"{text!r} is not the address of a ledger: {err}") from err
    if url.scheme not in {"http", "https"} or not url.host or url.query or url.fragment:
        raise UserFacingError(
            f"{text!r} is not the address of a ledger, such as https://example.org"
        )
    return str(url).rstrip("/")
