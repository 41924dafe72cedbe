"""A test ledger and the witnesses of its policy, all of them the real programs."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Self

import httpx

from tequio_ledger.data_folder import DataFolder
from tequio_ledger.signing import client
from tequio_shared.log.notes import KeyKind, VerifierKey
from tequio_shared.log.policy import NoQuorumError, Policy
from tequio_shared.log.tiles import encode_bundle
from tests.support.authors import newcomers
from tests.support.ledgers import UNLIMITED, Served, served
from tests.support.witnesses import Witness, witnessing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.log.notes import Checkpoint

ORIGIN = "ledger.example/test"
PATIENCE_S = 30.0


class WitnessGroup:
    """The witnesses, and the policy file that names them."""

    def __init__(self, folder: Path, count: int) -> None:
        self.folder = folder
        self.witnesses: list[Witness] = []
        self._stack = ExitStack()
        self._count = count

    @property
    def ledger(self) -> Path:
        """The ledger's folder."""
        return self.folder / "ledger"

    @property
    def log_key(self) -> VerifierKey:
        """The log's key, created here if the ledger has not been started."""
        self.ledger.mkdir(exist_ok=True, mode=0o700)
        key = client.open_signer(DataFolder(self.ledger)).key
        return VerifierKey(name=ORIGIN, kind=KeyKind.LOG, key=key)

    def start(self, at: int) -> Witness:
        """Start a witness again on its old port."""
        port = int(self.witnesses[at].url.rpartition(":")[2])
        self.witnesses[at] = self._run(at, port)
        return self.witnesses[at]

    def _run(self, at: int, port: int = 0) -> Witness:
        name = f"witness.example/w{at}"
        starting = witnessing(self.folder / f"w{at}", self.log_key, name=name, port=port)
        return self._stack.enter_context(starting)

    def policy(self, quorum: str) -> Path:
        """Write the policy file; `quorum` is the threshold of a group of all witnesses."""
        lines = [one.line(f"w{at}") for at, one in enumerate(self.witnesses)]
        names = " ".join(f"w{at}" for at in range(len(self.witnesses)))
        text = f"log {self.log_key.text()}\n{''.join(lines)}group g {quorum} {names}\nquorum g\n"
        path = self.folder / "policy"
        path.write_text(text)
        return path

    def __enter__(self) -> Self:
        _ = self.log_key  # created once, before the threads use it
        with ThreadPoolExecutor(self._count) as pool:
            self.witnesses = list(pool.map(self._run, range(self._count)))
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()


@contextmanager
def cosigned(ring: WitnessGroup, policy: Path, *options: str) -> Iterator[Served]:
    """Serve the group's ledger under a policy."""
    brisk = ("--trust", str(policy), "--publish-pause-ms", "0")
    with served(ring.ledger, *UNLIMITED, *brisk, *options) as ledger:
        yield ledger


def send_keys(ledger: Served, name: str, count: int) -> httpx.Response:
    """Ask for the registration of `count` new keys."""
    now_ms = time.time_ns() // 1_000_000
    leaves = [one.leaf() for one in newcomers(name, ledger.net, count, now_ms)]
    return httpx.post(f"{ledger.url}/v1/statements", content=encode_bundle(leaves), timeout=30)


def register_keys(ledger: Served, name: str, count: int) -> list[int]:
    """Register `count` new keys; returns the indices of their entries."""
    items = send_keys(ledger, name, count).json()["items"]
    assert [item["status"] for item in items] == ["logged"] * count, items
    return [item["index"] for item in items]


def published_checkpoint(ledger: Served, policy: Path) -> Checkpoint | None:
    """The published checkpoint, checked under the policy; None while there is none."""
    answer = httpx.get(f"{ledger.url}/log/checkpoint", timeout=30)
    if answer.status_code == 503:
        return None
    return Policy.parse(policy.read_bytes()).open(answer.content).checkpoint


def wait_for_status(ledger: Served, status: str) -> None:
    """Wait until the ledger reports that status."""
    deadline_s = time.monotonic() + PATIENCE_S
    while httpx.get(f"{ledger.url}/healthz", timeout=30).json()["status"] != status:
        assert time.monotonic() < deadline_s, f"never {status}"
        time.sleep(0.05)


def wait_until_published(ledger: Served, policy: Path, size: int) -> Checkpoint:
    """Wait until `size` entries are published."""
    deadline_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline_s:
        try:
            found = published_checkpoint(ledger, policy)
        except NoQuorumError as err:
            raise AssertionError("shown without its quorum") from err
        if found is not None and found.size >= size:
            return found
        time.sleep(0.02)
    raise AssertionError(httpx.get(f"{ledger.url}/v1/witnesses", timeout=30).text)
