"""Chooses where each chunk is fetched from: any mirror, or the peers of this computer's worker.

Every source shows how fast it is with the first chunk that it is asked for; from then on each chunk
is fetched where it should arrive first. So a fast source does most of the work, and a slow one is
asked for little. A source that fails, or sends wrong bytes, is left alone for a while.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from tequio_client import cli
from tequio_client.control_socket import WorkerCall
from tequio_client.ipc.control import AskChunk, ChunkReply
from tequio_client.platform.bundle import Chunk, check_chunk
from tequio_client.releases.mirror import IsLate, MirrorError
from tequio_shared.errors import MalformedError, UserFacingError
from tequio_shared.ids import to_text

_ATTEMPTS = 3
_PATIENCE_S = 10.0
_LATE = 20
"""How much later than from the fastest other source a chunk may arrive."""
_LEAST_RATE = 8 << 10  # bytes a second, below which a source is useless
_LONGEST_PAUSE_S = 60.0


class ChunkSource(Protocol):
    def fetch(self, chunk: Chunk, is_late: IsLate) -> bytes:
        """Fetch the plain bytes of a chunk, checked; give up once it is late. For any thread.

        Raises UserFacingError.
        """


@dataclass(slots=True, eq=False)
class _Rating:
    source: ChunkSource
    under_way: int = 0
    rate: float = 0.0
    """Plain bytes a second over all that is under way; 0: not known."""
    failures: int = 0
    """In a row."""
    pause_until_s: float = 0.0

    def expected_s(self, size: int) -> float:
        """Estimate when one more chunk would arrive; one chunk is a trial."""
        if self.rate:
            return (self.under_way + 1) * size / self.rate
        return float("inf") if self.under_way else 0.0


class ChunkSources:
    """All sources of a release's chunks; any thread may fetch."""

    def __init__(self, sources: Iterable[ChunkSource]) -> None:
        self._ratings = [_Rating(one) for one in sources]
        self._lock = threading.Lock()

    def fetch(self, chunk: Chunk) -> bytes:
        """Fetch the plain bytes of a chunk, checked. Raises MirrorError."""
        problems: list[str] = []
        for attempt in range(_ATTEMPTS):
            tried: list[_Rating] = []
            while (rating := self._begin(chunk, tried)) is not None:
                tried.append(rating)
                try:
                    return self._fetch(rating, chunk)
                except UserFacingError as err:
                    problems.append(str(err))
            if attempt + 1 < _ATTEMPTS:
                time.sleep(2**attempt)
        raise MirrorError("; ".join(dict.fromkeys(problems)) or "no mirror of releases is known")

    def _fetch(self, rating: _Rating, chunk: Chunk) -> bytes:
        began_s, abreast = time.monotonic(), rating.under_way
        content = b""
        try:
            content = rating.source.fetch(
                chunk, lambda: time.monotonic() - began_s > self._patience_s(rating, chunk)
            )
        finally:
            self._end(rating, abreast * len(content), time.monotonic() - began_s)
        return content

    def _begin(self, chunk: Chunk, tried: list[_Rating]) -> _Rating | None:
        with self._lock:
            now = time.monotonic()
            left = [one for one in self._ratings if one not in tried]
            best = min(
                left,
                key=lambda one: (one.pause_until_s > now, one.expected_s(chunk.size)),
                default=None,
            )
            if best is not None:
                best.under_way += 1
            return best

    def _end(self, rating: _Rating, amount: int, seconds: float) -> None:
        with self._lock:
            rating.under_way -= 1
            if amount:
                measured = amount / max(seconds, 1e-3)
                rating.rate = (rating.rate + measured) / 2 if rating.rate else measured
                rating.failures, rating.pause_until_s = 0, 0.0
            else:
                rating.failures += 1
                pause_s = min(2.0**rating.failures, _LONGEST_PAUSE_S)
                rating.pause_until_s = time.monotonic() + pause_s

    def _patience_s(self, rating: _Rating, chunk: Chunk) -> float:
        with self._lock:
            fastest = max((one.rate for one in self._ratings if one is not rating), default=0.0)
        return _PATIENCE_S + min(_LATE * chunk.size / max(fastest, 1), chunk.size / _LEAST_RATE)


def paced(fetch: Callable[[Chunk], bytes], bytes_per_s: float) -> Callable[[Chunk], bytes]:
    """Limit the mean rate, by the stored bytes of whole chunks: each one waits for its turn."""
    lock, free_at_s = threading.Lock(), time.monotonic()

    def fetch_in_turn(chunk: Chunk) -> bytes:
        nonlocal free_at_s
        with lock:
            begin_s = max(free_at_s, time.monotonic())
            free_at_s = begin_s + chunk.stored / bytes_per_s
        time.sleep(max(begin_s - time.monotonic(), 0.0))
        return fetch(chunk)

    return fetch_in_turn


def peer_sources() -> list[ChunkSource]:
    """List the peers of this computer's worker as one source; none if no worker runs."""
    try:
        with WorkerCall.to(cli.default_folder("worker")):
            return [_PeerSource()]
    except UserFacingError:
        return []


class _PeerSource:
    """Fetches through the worker, which alone speaks with peers."""

    def fetch(self, chunk: Chunk, is_late: IsLate) -> bytes:
        name = to_text(bytes.fromhex(chunk.digest))
        content = b""
        with WorkerCall.to(cli.default_folder("worker")) as call:
            while len(content) < chunk.size:
                question = AskChunk(name=name, first=len(content))
                reply = call.ask(question, ChunkReply, is_late)
                if not reply.content:
                    break
                content += reply.content
        try:
            return check_chunk(chunk, content)
        except MalformedError as err:
            raise MirrorError(f"the worker of this computer gave wrong bytes: {err}") from err
