"""A client's observations of a log through faults, and a check of the log against them."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Self

import httpx

from tequio_shared.log import merkle
from tequio_shared.log.notes import VerifierKey, open_checkpoint
from tequio_shared.log.tiles import encode_bundle
from tests.support.authors import newcomers
from tests.support.log_reader import read_leaves

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_shared.ids import Digest, NetworkId

BATCH = 16
_PAUSE_S = 0.05
_REQUEST_S = 3.0
_PATIENCE_S = 60.0


class ObservedLog:
    """Acknowledged leaves by index, and roots by size; thread-safe."""

    def __init__(self) -> None:
        self.acknowledged: dict[int, bytes] = {}
        self.roots: dict[int, Digest] = {}
        self.forks: list[str] = []
        self.answered = threading.Event()
        """Set when something is acknowledged; the waiting thread clears it."""
        self._lock = threading.Lock()

    def acknowledge(self, leaves: Sequence[bytes], items: list[dict[str, object]]) -> None:
        """Record the indices in an answer."""
        with self._lock:
            for leaf, item in zip(leaves, items, strict=True):
                index = item["index"]
                assert isinstance(index, int)
                if self.acknowledged.setdefault(index, leaf) != leaf:
                    self.forks.append(f"index {index} was given twice")
        self.answered.set()

    def wait_for_answer(self, patience_s: float = _PATIENCE_S) -> None:
        """Wait until something is acknowledged that was not yet; fails after `patience_s`."""
        self.answered.clear()
        assert self.answered.wait(patience_s), f"nothing was acknowledged within {patience_s} s"

    def record_checkpoint(self, http: httpx.Client) -> int:
        """Record the newest checkpoint; returns its size."""
        vkey = VerifierKey.parse(http.get("/v1/network").json()["log_key"])
        signed = open_checkpoint(http.get("/log/checkpoint").content, vkey).checkpoint
        with self._lock:
            if self.roots.setdefault(signed.size, signed.root) != signed.root:
                self.forks.append(f"size {signed.size} has two roots")
        return signed.size

    def check(self, http: httpx.Client) -> None:
        """Check the whole log against all recorded leaves and roots."""
        leaves = read_leaves(http, self.record_checkpoint(http))
        assert not self.forks
        with self._lock:
            for index, leaf in self.acknowledged.items():
                assert leaves[index] == leaf, f"entry {index} was acknowledged and is another now"
            grown = merkle.Frontier()
            for size, leaf in enumerate(leaves, 1):
                grown.append(merkle.leaf_hash(leaf))
                if size in self.roots:
                    assert grown.root() == self.roots[size], f"the log forked before size {size}"
            assert max(self.roots) <= len(leaves)


class Ingest:
    """A client that registers keys without end, and tries the next address when one fails."""

    def __init__(self, urls: Sequence[str], net: NetworkId, seen: ObservedLog, name: str) -> None:
        self.urls = list(urls)
        self._net = net
        self._seen = seen
        self._name = name
        self._stopping = threading.Event()
        self._at = 0
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        """Begin."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop after the request under way."""
        self._stopping.set()
        self._thread.join(30)
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        number = 0
        try:
            while not self._stopping.is_set():
                number += 1
                now_ms = time.time_ns() // 1_000_000
                entries = newcomers(f"{self._name} {number}", self._net, BATCH, now_ms)
                self._post([entry.leaf() for entry in entries])
        except BaseException as err:  # noqa: BLE001 - the test raises it
            self.failure = err

    def _post(self, leaves: list[bytes]) -> None:
        """Post until the leaves are acknowledged or the client stops."""
        while not self._stopping.is_set():
            url = self.urls[self._at % len(self.urls)]
            try:
                with httpx.Client(base_url=url, timeout=_REQUEST_S) as http:
                    answer = http.post("/v1/statements", content=encode_bundle(leaves))
                    if answer.status_code == httpx.codes.OK:
                        items = answer.json()["items"]
                        statuses = {item["status"] for item in items}
                        assert statuses <= {"logged", "known"}, items
                        self._seen.acknowledge(leaves, items)
                        self._seen.record_checkpoint(http)
                        return
                    assert answer.status_code == httpx.codes.SERVICE_UNAVAILABLE, answer.text
            except httpx.TransportError:
                pass
            self._at += 1
            self._stopping.wait(_PAUSE_S)
