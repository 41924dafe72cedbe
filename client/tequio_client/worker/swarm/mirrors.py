"""Mirrors of a run's data: folders on the web from which shards are fetched like from a peer.

An organiser names them in the rules of the run. A mirror has the files that `tequio data build`
writes, each shard with its leaf hashes beside it: on a web server, in a public bucket, or in a data
set on the Hugging Face Hub. It has to answer range requests (RFC 9110, section 14). Every piece is
checked against the shard's root, so a mirror can be slow, old or away, but not wrong; peers and
seeds are asked as well.

An organiser chooses here where strangers' computers connect to, so the rules of `dials` hold, as
for an address from the ledger, at each redirect again. The server sees the address of each computer
that fetches from it.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias
from urllib.parse import urljoin, urlsplit

import httpx
import structlog
import trio

from tequio_client.ledger.http import abandon, http_client
from tequio_client.worker.store.trees import TreeRef, hash_pieces, split_leaves
from tequio_client.worker.swarm.dials import NamedHosts, Reach
from tequio_client.worker.swarm.limits import ByteBudget
from tequio_client.worker.swarm.streams import REQUEST_S, SILENCE_S, NotWantedError
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import DIGEST_BYTES, Digest, PeerKey, digest_from_text, peer_id_text
from tequio_shared.round.corpus import LEAVES_SUFFIX, Corpus

log = structlog.get_logger(__name__)

REQUESTS = 8
"""Requests on their way to all mirrors together."""
REDIRECTS = 4
MOVES = 256
"""Redirects remembered: the Hub and object storages answer with a longer address for a while."""
MOST_FILES = 8
"""Mirrors remembered for one shard."""
FAILURES = 3
"""Failures in a row after which a mirror rests."""
FIRST_REST_S = 60.0
LONGEST_REST_S = 3_600.0


@dataclass(frozen=True, slots=True)
class MirroredFile:
    """One file of a mirror: a source of one tree."""

    mirror: str
    """Address of the folder."""
    name: str

    @property
    def url(self) -> str:
        return f"{self.mirror.rstrip('/')}/{self.name}"


Source: TypeAlias = PeerKey | MirroredFile


def source_text(source: Source) -> str:
    """Name a source for logs: a peer id, or a mirror's host."""
    if isinstance(source, MirroredFile):
        return urlsplit(source.mirror).netloc
    return peer_id_text(source)


class DataMirrors:
    """The mirrors of the runs that this node has to do with."""

    def __init__(self, *, download: ByteBudget | None = None, silence_s: float = SILENCE_S) -> None:
        self.least: Callable[[], Awaitable[Reach]] = _public
        """Tells the smallest reach that a mirror may have: that of the ledger that names it."""
        self.read_bytes = 0
        """Content received since the start, also of files that were given up."""
        self._budget = download or ByteBudget()
        self._silence_s = silence_s
        self._files: dict[Digest, tuple[MirroredFile, ...]] = {}
        self._failures: Counter[str] = Counter()  # in a row, by mirror
        self._rests_until_s: dict[str, float] = {}
        self._moved: OrderedDict[str, str] = OrderedDict()
        self._hosts = NamedHosts(lambda: self.least())  # noqa: PLW0108 - it is set later
        self._flight = trio.CapacityLimiter(REQUESTS)
        self._client = http_client(REQUESTS)

    async def aclose(self) -> None:
        await self._client.aclose()

    def add(self, mirrors: Sequence[str], corpus: Corpus) -> None:
        """Add the mirrors of a run's data: O(shards)."""
        for name, shard in corpus.files if mirrors else ():
            root = digest_from_text(shard.root)
            files = [MirroredFile(one, name) for one in mirrors]
            # Another run may have the same shard: neither takes the other's mirrors away.
            known = dict.fromkeys((*self._files.get(root, ()), *files))
            self._files[root] = tuple(known)[-MOST_FILES:]

    def files_of(self, root: Digest) -> tuple[MirroredFile, ...]:
        """Files of mirrors that have the tree, without mirrors that rest."""
        return tuple(one for one in self._files.get(root, ()) if not self._rests(one.mirror))

    async def leaves(self, file: MirroredFile, ref: TreeRef) -> tuple[bytes, ...]:
        """Fetch all leaf hashes of the tree, not yet verified; raises PeerError."""
        return split_leaves(await self._fetch(file, LEAVES_SUFFIX, None, ref.pieces * DIGEST_BYTES))

    async def pieces(
        self,
        file: MirroredFile,
        ref: TreeRef,
        first: int,
        count: int,
        may_send: Callable[[], bool] = lambda: True,
    ) -> bytes:
        """Fetch pieces, not yet verified; raises PeerError, or NotWantedError unless `may_send`."""
        start, size = ref.span(first, count)
        return await self._fetch(file, "", start, size, may_send)

    async def check(self, file: MirroredFile, ref: TreeRef) -> None:
        """Check that a mirror has a tree, by its leaf hashes and last piece; raises PeerError."""
        leaves = await self.leaves(file, ref)
        ref.check_leaves(leaves)
        last = await self.pieces(file, ref, ref.pieces - 1, 1)
        if hash_pieces(last, ref.piece_bytes) != leaves[-1:]:
            raise MalformedError(f"the end of {file.name} does not match its leaf hashes")

    def drop(self, file: MirroredFile, reason: str) -> None:
        """Ask a mirror nothing for a while: its bytes are not those of the tree."""
        self._failures[file.mirror] = max(self._failures[file.mirror], FAILURES - 1)
        self._fail(file, reason)

    async def _fetch(
        self,
        file: MirroredFile,
        suffix: str,
        start: int | None,
        size_bytes: int,
        may_send: Callable[[], bool] = lambda: True,
    ) -> bytes:
        if self._rests(file.mirror):
            raise PeerError("the mirror is not asked for a while")
        self._budget.charge(size_bytes)
        came_bytes = 0
        url = file.url + suffix
        try:
            async with self._flight:
                if not may_send():
                    raise NotWantedError
                content = await self._get(url, start, size_bytes)
            came_bytes = size_bytes
        except (PeerError, httpx.HTTPError, httpx.InvalidURL, OSError, trio.TooSlowError) as err:
            self._moved.pop(url, None)
            self._hosts.forget()
            reason = str(err) or type(err).__name__
            self._fail(file, reason)
            raise PeerError(f"{source_text(file)}: {reason}") from err
        finally:
            self._budget.charge(came_bytes - size_bytes)
        self._failures.pop(file.mirror, None)
        return content

    async def _get(self, url: str, start: int | None, size_bytes: int) -> bytes:
        at = self._moved.get(url, url)
        with trio.fail_after(REQUEST_S):
            for _ in range(REDIRECTS):
                request = await self._request(httpx.URL(at), start, size_bytes)
                answer = await self._client.send(request, stream=True)
                try:
                    if not answer.has_redirect_location:
                        return await self._content(answer, start, size_bytes)
                    at = urljoin(at, answer.headers["location"])
                finally:
                    with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
                        await answer.aclose()
                self._moved[url] = at
                while len(self._moved) > MOVES:
                    self._moved.popitem(last=False)
        raise PeerError("redirects too often")

    async def _request(self, url: httpx.URL, start: int | None, size_bytes: int) -> httpx.Request:
        """Address a request to an IP address that was checked; raises PeerError for none."""
        headers = {"host": url.netloc.decode("ascii")}
        if start is not None:
            headers["range"] = f"bytes={start}-{start + size_bytes - 1}"
        # The certificate must be the name's, although its address is dialled.
        extensions = {"sni_hostname": url.host} if url.scheme == "https" else {}
        at = url.copy_with(host=await self._hosts.address_of(url.host))
        return self._client.build_request("GET", at, headers=headers, extensions=extensions)

    async def _content(self, answer: httpx.Response, start: int | None, size_bytes: int) -> bytes:
        status = answer.status_code
        if status != (HTTPStatus.OK if start is None else HTTPStatus.PARTIAL_CONTENT):
            no_ranges = start is not None and status == HTTPStatus.OK
            raise PeerError("no range requests" if no_ranges else f"status {status}")
        content = bytearray()
        parts = aiter(answer.aiter_raw())
        try:
            while len(content) <= size_bytes:
                with trio.fail_after(self._silence_s):
                    part = await anext(parts, None)
                if part is None:
                    break
                self.read_bytes += len(part)
                content += part
        finally:
            await abandon(parts)
        if len(content) != size_bytes:
            raise PeerError(f"{len(content)} bytes or more where {size_bytes} were asked for")
        return bytes(content)

    def _rests(self, mirror: str) -> bool:
        return trio.current_time() < self._rests_until_s.get(mirror, 0.0)

    def _fail(self, file: MirroredFile, reason: str) -> None:
        self._failures[file.mirror] += 1
        over = self._failures[file.mirror] - FAILURES
        if over < 0:
            return
        rest_s = min(FIRST_REST_S * 2.0 ** min(over, 16), LONGEST_REST_S)
        self._rests_until_s[file.mirror] = trio.current_time() + rest_s
        log.warning("mirror not used", host=source_text(file), reason=reason, for_s=rest_s)


async def _public() -> Reach:
    return Reach.PUBLIC
