"""Witnesses for tests: the real program, and a log in memory for it to cosign."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from tequio_shared.keys import Signer
from tequio_shared.log import merkle, notes
from tequio_shared.log.cosigning import AddCheckpoint, origin_hash
from tequio_shared.log.notes import Checkpoint, KeyKind, VerifierKey
from tests.support.forked_program import LEDGER, ForkedProgram
from tests.support.merkle_proofs import consistency_proof

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_shared.ids import Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """A running witness."""

    url: str
    key: VerifierKey
    process: ForkedProgram

    def kill(self) -> None:
        """Kill it as a power cut would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(10)

    def add(self, request: AddCheckpoint) -> httpx.Response:
        """Post a request to add a checkpoint."""
        return httpx.post(f"{self.url}/add-checkpoint", content=request.encode(), timeout=30)

    def held(self, origin: str) -> httpx.Response:
        """Fetch the checkpoint that it cosigned last."""
        return httpx.get(f"{self.url}/{origin_hash(origin)}/checkpoint", timeout=30)

    def line(self, name: str) -> str:
        """The witness's line in a policy."""
        return f"witness {name} {self.key.text()} {self.url}\n"


@contextmanager
def witnessing(
    folder: Path, *logs: VerifierKey, name: str = "witness.example/w1", port: int = 0
) -> Iterator[Witness]:
    """Start the real program and stop it afterwards."""
    options = [part for key in logs for part in ("--log", key.text())]
    place = ("--dir", str(folder), "--port", str(port), "--name", name, "--log-json")
    process = ForkedProgram(
        LEDGER,
        *("witness", *place, *options),
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        if not line.startswith("{"):
            process.kill()
            raise AssertionError(line + process.stderr.read())
        first = json.loads(line)
        yield Witness(url=first["url"], key=VerifierKey.parse(first["key"]), process=process)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        process.wait(10)
        assert process.stderr is not None
        process.stderr.close()


@dataclass
class WitnessedLog:
    """A log of numbered leaves, with signed checkpoints and proofs for witnesses."""

    origin: str = "log.example/one"
    signer: Signer = field(default_factory=lambda: Signer(bytes([21]) * 32))
    hashes: list[Digest] = field(default_factory=list)

    @property
    def key(self) -> VerifierKey:
        """The log's verifier key."""
        return VerifierKey(name=self.origin, kind=KeyKind.LOG, key=self.signer.key)

    def grow(self, count: int, what: str = "") -> WitnessedLog:
        """Append leaves."""
        first = len(self.hashes)
        self.hashes += [
            merkle.leaf_hash(f"{what}{at}".encode()) for at in range(first, first + count)
        ]
        return self

    def fork(self, size: int, count: int) -> WitnessedLog:
        """A log with another history after the first `size` entries, under the same key."""
        other = WitnessedLog(origin=self.origin, signer=self.signer, hashes=self.hashes[:size])
        return other.grow(count, "other ")

    def checkpoint(self, size: int | None = None) -> Checkpoint:
        """The checkpoint of the first `size` leaves, or of all."""
        hashes = self.hashes[:size]
        root = merkle.root_of_hashes(hashes)
        return Checkpoint(origin=self.origin, size=len(hashes), root=root)

    def request(self, old: int, size: int | None = None) -> AddCheckpoint:
        """A request for a cosignature."""
        checkpoint = self.checkpoint(size)
        hashes = self.hashes[: checkpoint.size]
        proof = consistency_proof(hashes, old) if 0 < old <= checkpoint.size else ()
        note = notes.sign_checkpoint(checkpoint, self.signer)
        return AddCheckpoint(old_size=old, proof=tuple(proof), note=note)
