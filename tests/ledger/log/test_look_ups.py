"""Documents that statements name, of a ledger with a bucket: which are fetched, and when not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tequio_ledger.log.sequencer import Refused
from tequio_ledger.store.bucket import Bucket
from tequio_ledger.store.files import UnwritableError
from tequio_shared.ids import to_text
from tequio_shared.limits import EVIDENCE_BYTES
from tequio_shared.statements.network import FaultReport, StandingAppeal
from tequio_shared.statements.runs import RunOpen
from tests.ledger.log.test_coordinator import RULES, LedgerSwarm, drive

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tequio_shared.ids import Digest
    from tequio_shared.statements.statement import Body, Entry
    from tests.support.authors import Author


class Gets:
    """Every request for a blob of any bucket; `fails` names blobs that cannot be had."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.names: list[Digest] = []
        self.fails: set[Digest] = set()
        get = Bucket.get

        def counted(bucket: Bucket, digest: Digest) -> bytes | None:
            self.names.append(digest)
            if digest in self.fails:
                raise UnwritableError(f"the blobs at {bucket.url} cannot be reached")
            return get(bucket, digest)

        monkeypatch.setattr(Bucket, "get", counted)


@pytest.fixture
def gets(monkeypatch: pytest.MonkeyPatch) -> Gets:
    return Gets(monkeypatch)


def store_elsewhere(swarm: LedgerSwarm, content: bytes) -> Digest:
    """Store a blob as another process does: it is in the bucket, and not in the folder."""
    name = swarm.ledger.blobs.put(content)
    swarm.ledger.blobs.path(name).unlink()
    return name


def report(swarm: LedgerSwarm, piece: Digest) -> FaultReport:
    """Report a commitment of the last peer with this piece."""
    other = swarm.peers[2]
    chain = other.seq, other.last
    commitment = other.commit()
    other.seq, other.last = chain
    return FaultReport(leaves=(to_text(commitment.leaf()),), piece=to_text(piece))


def sign_without_chain(swarm: LedgerSwarm, author: Author, bodies: Sequence[Body]) -> list[Entry]:
    """Sign statements of which each follows the author's last one that is logged."""
    seq, last = author.seq, author.last
    entries = []
    for body in bodies:
        author.last = last
        entries.append(author.sign(body, swarm.clock()))
    author.seq, author.last = seq, last
    return entries


async def codes(swarm: LedgerSwarm, *entries: Entry) -> list[str]:
    outcomes = await swarm.ledger.sequencer.submit(entries)
    return [one.code if isinstance(one, Refused) else "logged" for one in outcomes]


async def in_round(swarm: LedgerSwarm) -> None:
    await swarm.open()
    await swarm.start_round(*swarm.peers[:3])


def test_no_text_of_an_appeal_is_fetched(tmp_path: Path, gets: Gets) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await swarm.open()
        texts = [store_elsewhere(swarm, b"text %d" % number) for number in range(8)]
        bodies = [StandingAppeal(change=0, text=to_text(text)) for text in texts]
        found = await codes(swarm, *sign_without_chain(swarm, swarm.peers[0], bodies))
        assert found == ["wrong-standing"] * 8
        assert gets.names == []

    drive(tmp_path / "ledger", scenario, blobs=(tmp_path / "bucket").as_uri())


def test_no_document_larger_than_its_reader_accepts_is_fetched(tmp_path: Path, gets: Gets) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await in_round(swarm)
        largest, larger = (
            store_elsewhere(swarm, bytes(size)) for size in (EVIDENCE_BYTES, EVIDENCE_BYTES + 1)
        )
        for piece, fetched in ((larger, []), (largest, [largest])):
            (entry,) = sign_without_chain(swarm, swarm.peers[0], [report(swarm, piece)])
            assert await codes(swarm, entry) == ["wrong-evidence"]
            assert gets.names == fetched

    drive(tmp_path / "ledger", scenario, blobs=(tmp_path / "bucket").as_uri())


def test_no_document_is_fetched_for_a_statement_that_is_not_next_of_its_author(
    tmp_path: Path, gets: Gets
) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await in_round(swarm)
        names = [store_elsewhere(swarm, b"%d" % number) for number in range(2)]
        author = swarm.peers[0]
        old, gap = (report(swarm, name) for name in names)
        author.seq += 1  # a number that is never logged
        await swarm.post([author.commit()])
        author.seq -= 2
        entries = sign_without_chain(swarm, author, [old])
        author.seq += 2
        last, author.last = author.last, names[0]
        entries += sign_without_chain(swarm, author, [gap])
        author.last = last
        assert await codes(swarm, *entries) == ["equivocation", "seq-gap"]
        assert gets.names == []

    drive(tmp_path / "ledger", scenario, blobs=(tmp_path / "bucket").as_uri())


def test_a_document_that_was_refused_is_not_fetched_again(tmp_path: Path, gets: Gets) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        name = store_elsewhere(swarm, b"no manifest")
        body = RunOpen(manifest=to_text(name), head=to_text(name))
        for _ in range(2):
            entry = swarm.organiser.sign(body, swarm.clock(), run=RULES.run_id)
            swarm.organiser.seq, swarm.organiser.last = (
                entry.statement.seq - 1,
                entry.statement.prev,
            )
            assert await codes(swarm, entry) == ["malformed"]
            swarm.ledger.blobs.path(name).unlink(missing_ok=True)
        assert gets.names == [name]

    drive(tmp_path / "ledger", scenario, blobs=(tmp_path / "bucket").as_uri())


def test_a_document_that_two_statements_name_is_asked_for_once(tmp_path: Path, gets: Gets) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await in_round(swarm)
        name = store_elsewhere(swarm, b"a piece")
        Bucket((tmp_path / "bucket").as_uri()).delete(name)
        body = report(swarm, name)
        entries = sign_without_chain(swarm, swarm.peers[0], [body, body])
        assert await codes(swarm, *entries) == ["not-found"] * 2
        assert gets.names == [name]

    drive(tmp_path / "ledger", scenario, blobs=(tmp_path / "bucket").as_uri())


def test_a_document_that_cannot_be_fetched_refuses_the_statement_that_names_it_alone(
    tmp_path: Path, gets: Gets
) -> None:
    async def scenario(swarm: LedgerSwarm) -> None:
        await in_round(swarm)
        name, other = (store_elsewhere(swarm, content) for content in (b"one", b"other"))
        here = swarm.ledger.blobs.put(b"here")
        gets.fails |= {name, other}
        entries = [
            *sign_without_chain(swarm, swarm.peers[0], [report(swarm, name), report(swarm, other)]),
            *sign_without_chain(swarm, swarm.peers[1], [report(swarm, here)]),
            swarm.peers[0].commit(),
        ]
        outcomes = await swarm.ledger.sequencer.submit(entries)
        assert [getattr(one, "code", "logged") for one in outcomes] == [
            "read-only",
            "read-only",
            "wrong-evidence",
            "logged",
        ]
        assert isinstance(outcomes[0], Refused)
        assert "bucket" not in outcomes[0].detail
        assert len(gets.names) == 1, "each failure may take long"
        assert swarm.ledger.health().status == "ok"
        gets.fails.clear()
        assert await codes(
            swarm, *sign_without_chain(swarm, swarm.peers[0], [report(swarm, name)])
        ) == ["wrong-evidence"]

    drive(tmp_path / "ledger", scenario, blobs=(tmp_path / "bucket").as_uri())
