"""A log of a million entries: disk space, memory, and the time of a proof.

It is filled without HTTP: members of one run come and go. Their signatures are not computed, which
saves minutes and changes no figure: a start does not verify them.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
from sqlalchemy import func, select, text
from tests.support.signing_swarm import manifest

from ledgers.program import ORGANISER, served, settings_of
from tequio_client.ledger.api import LedgerNetwork
from tequio_ledger.admin.move import Move
from tequio_ledger.data_folder import DataFolder
from tequio_ledger.ledger import open_ledger
from tequio_ledger.log.log import AdmittedEntry
from tequio_ledger.log.proofs import ProofCache
from tequio_ledger.runtime import now_ms
from tequio_ledger.store import log_rows
from tequio_ledger.store.database import Database
from tequio_ledger.store.models import LOG_ENTRY
from tequio_shared.ids import ZERO_DIGEST, Digest, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.merkle import leaf_hash, verify_inclusion
from tequio_shared.log.notes import open_checkpoint
from tequio_shared.log.policy import TlogProof
from tequio_shared.network.run import first_head
from tequio_shared.statements.network import KeyRegister, MemberLeave, MemberReady
from tequio_shared.statements.runs import RunOpen
from tequio_shared.statements.statement import Entry, make, sign

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tequio_ledger.ledger import Ledger
    from tequio_ledger.log.proofs import TileProofs
    from tequio_shared.ids import NetworkId, PeerKey, RunId
    from tequio_shared.statements.statement import Body


AUTHORS = 1_000
BATCH = 2_048
PROOFS = 300
_LIFE_MS = 60_000


class UnsignedMember:
    """A member with a growing chain of unsigned statements."""

    def __init__(self, key: PeerKey) -> None:
        self.key = key
        self.end: tuple[int, Digest] = (0, ZERO_DIGEST)
        """Number and digest of the last statement."""

    def next_entry(self, body: Body, at_ms: int, run: RunId | None = None) -> Entry:
        seq, last = self.end
        statement = make(
            body=body,
            author=self.key,
            seq=seq + 1,
            ts=at_ms,
            exp=at_ms + _LIFE_MS,
            prev=last,
            run=run,
        )
        self.end = statement.seq, statement.digest
        return Entry(statement=statement, signatures=((self.key, bytes(64)),))


class SignedMember(UnsignedMember):
    """The same with signatures, for logs whose readers verify them."""

    def __init__(self, signer: Signer, net: NetworkId) -> None:
        super().__init__(signer.key)
        self._signer = signer
        self._net = net

    def next_entry(self, body: Body, at_ms: int, run: RunId | None = None) -> Entry:
        statement = super().next_entry(body, at_ms, run).statement
        return sign(self._net, statement, self._signer)


MakeMember = Callable[["Signer", "NetworkId"], UnsignedMember]


def unsigned(signer: Signer, _net: NetworkId) -> UnsignedMember:
    return UnsignedMember(signer.key)


def fill(folder: Path, entries: int, member_of: MakeMember = unsigned) -> float:
    """Fill a new SQLite ledger; return the seconds."""
    begun_s = time.perf_counter()
    with DataFolder(folder) as held:
        ledger = open_ledger(settings_of(folder), held, now_ms)
        with closing(ledger.database):
            batch: list[AdmittedEntry] = []
            for entry in _story(ledger, entries - 1, member_of):
                batch.append(AdmittedEntry.of(entry, ledger.state.net, now_ms()))
                if len(batch) == BATCH:
                    ledger.log.append(batch, lambda _connection: None)
                    batch.clear()
            if batch:
                ledger.log.append(batch, lambda _connection: None)
    return time.perf_counter() - begun_s


def moved(folder: Path, target: str) -> float:
    """Move a filled ledger to PostgreSQL; return the seconds."""
    begun_s = time.perf_counter()
    with (
        DataFolder(folder) as held,
        closing(Database(held.database)) as old,
        closing(Database(target)) as new,
    ):
        Move(held, old, new).run(lambda _done, _of: None)
    return time.perf_counter() - begun_s


def measured(folder: Path, database: str) -> dict[str, float]:
    """Measure a filled ledger: disk, start, memory, proofs in the process and over HTTP."""
    report = {**sizes(folder, database), **_proofs(folder, database)}
    begun_s = time.perf_counter()
    with served(folder, database) as program:
        report["start_s"] = round(time.perf_counter() - begun_s, 1)
        report["http_proof_p50_ms"] = over_http(program.url, some_ids(folder, database))
        report["resident_mb"] = round(program.resident_bytes() / 1e6, 1)
    return report


def _story(ledger: Ledger, entries: int, member_of: MakeMember) -> Iterator[Entry]:
    """Keys are registered, a run opens, members come and go; at the end all are gone.

    So the coordinator has nothing to say, and derived rows, which are not written, are not missed.
    """
    rules = manifest()
    ledger.blobs.put(rules.encode())
    at_ms = now_ms()
    head = to_text(first_head(rules).hash)
    opening = RunOpen(manifest=to_text(rules.run_id), head=head)
    yield member_of(ORGANISER, ledger.state.net).next_entry(opening, at_ms, rules.run_id)
    names = (b"member %d" % number for number in range(AUTHORS))
    members = [member_of(Signer(sha256(name)), ledger.state.net) for name in names]
    ready = MemberReady(head=to_text(sha256(b"head")), roles=("trainer", "witness"))
    for member in members:
        yield member.next_entry(KeyRegister(nonce=0), at_ms)
    for _ in range(0, entries - 1 - AUTHORS, 2 * AUTHORS):  # rounded up to whole cycles
        for body in (ready, MemberLeave(reason=1)):
            for member in members:
                yield member.next_entry(body, now_ms(), rules.run_id)


def _open(folder: Path, database: str) -> Database:
    return Database(database or DataFolder(folder).database)


def sizes(folder: Path, database: str) -> dict[str, float]:
    with closing(_open(folder, database)) as rows, rows.reader.begin() as connection:
        count, leaves = connection.execute(
            select(func.count(), func.sum(func.length(LOG_ENTRY.c.leaf)))
        ).one()
        if database:
            whole = connection.scalar(text("SELECT pg_database_size(current_database())"))
        else:
            whole = sum(one.stat().st_size for one in folder.glob("ledger.sqlite*"))
    return {
        "entries": count,
        "leaf_bytes": round(int(leaves) / count),
        "bytes_per_entry": round(int(whole or 0) / count),
    }


def _proofs(folder: Path, database: str) -> dict[str, float]:
    rng = random.Random(7)  # noqa: S311 - which entries are asked for
    with closing(_open(folder, database)) as rows, rows.reader.begin() as connection:
        head = log_rows.read_head(connection)
        size = head.size if head else 0
        asked, others = ([rng.randrange(size) for _ in range(PROOFS)] for _ in range(2))
        first = [_timed(ProofCache(rows).at(size), index) for index in asked]
        kept = ProofCache(rows).at(size)
        for index in others:
            kept.inclusion(index)
        new = [_timed(kept, index) for index in asked]
        again = [_timed(kept, index) for index in asked]
    return {
        "first_proof_p50_ms": _p50(first),
        "proof_p50_ms": _p50(new),
        "cached_proof_p50_ms": _p50(again),
    }


def _timed(proofs: TileProofs, index: int) -> float:
    begun_s = time.perf_counter()
    proofs.inclusion(index)
    return time.perf_counter() - begun_s


def _p50(times: list[float]) -> float:
    return round(1e3 * sorted(times)[len(times) // 2], 3)


def some_ids(folder: Path, database: str) -> list[str]:
    rng = random.Random(8)  # noqa: S311 - which entries are asked for
    with closing(_open(folder, database)) as rows, rows.reader.begin() as connection:
        head = log_rows.read_head(connection)
        size = head.size if head else 0
        wanted = [rng.randrange(size) for _ in range(PROOFS)]
        query = select(LOG_ENTRY.c.id).where(LOG_ENTRY.c.idx.in_(wanted))
        return [to_text(Digest(name)) for name in connection.execute(query).scalars()]


def over_http(url: str, names: list[str]) -> float:
    """Median time to fetch a proof, in ms; each is verified afterwards."""
    times = []
    with httpx.Client(base_url=url, timeout=60) as http:
        key = LedgerNetwork.parse(http.get("/v1/network").content).log_key
        for name in names:
            begun_s = time.perf_counter()
            answer = http.get(f"/v1/statements/{name}/proof").raise_for_status()
            times.append(time.perf_counter() - begun_s)
            proof = TlogProof.parse(answer.content)
            signed = open_checkpoint(proof.note, key).checkpoint
            leaf = leaf_hash(proof.extra or b"")
            verify_inclusion(leaf, proof.index, signed.size, proof.path, signed.root)
    return _p50(times)
