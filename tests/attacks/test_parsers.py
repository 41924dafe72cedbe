"""Every parser of a stranger's bytes: it reads them or refuses them by name, in bounded memory."""

from __future__ import annotations

import time
import tracemalloc
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tequio_client import links
from tequio_client.checkpoint.layout import HeadClaim
from tequio_client.group.group_file import GroupFile
from tequio_client.ipc import trainer
from tequio_client.ipc.cell import decode_place
from tequio_client.ledger.api import LedgerNetwork
from tequio_client.plugins import archive
from tequio_client.worker.cells import code, messages
from tequio_client.worker.cells.discovery import HostAddress
from tequio_client.worker.store import trees
from tequio_client.worker.swarm import blob_server, hole_punching, membership, reachability
from tequio_shared import encoding
from tequio_shared.addresses import AddressRecord, sign_addresses
from tequio_shared.api.network import EventReader, SeedsAnswer
from tequio_shared.api.runs import RunsAnswer
from tequio_shared.competition.rules import (
    CompetitionOutcome,
    CompetitionRules,
    Evaluation,
    Submission,
)
from tequio_shared.competition.sealed_archive import ArchiveHead
from tequio_shared.errors import PeerError, RefusedError, UserFacingError
from tequio_shared.head.contribution import (
    ContributionHeader,
    RecordShape,
    decode_records,
    validate,
)
from tequio_shared.ids import from_text, key_from_peer_id, key_from_text, sha256, to_text
from tequio_shared.log import merkle, notes, tiles
from tequio_shared.log.policy import Policy, TlogProof
from tequio_shared.multiple_choice import ChoiceTask
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.run_states import RunState
from tequio_shared.round import fold, proof
from tequio_shared.round.corpus import Corpus
from tequio_shared.round.documents import Roster, RoundResult
from tequio_shared.round.evidence import PieceEvidence, UnreadEvidence
from tequio_shared.round.manifest import Manifest
from tequio_shared.round.omission import Omission
from tequio_shared.round.token_table import TokenTable
from tequio_shared.statements import statement
from tequio_shared.statements.runs import RoundClose, RoundRoster
from tequio_shared.statements.statement import Entry
from tests.support.attack_table import attack
from tests.support.attackers_bytes import garbage, hostile
from tests.support.attackers_round import Judge, due_proof, round_of, swarm_in, swarm_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.memory_swarm import Swarm


MIB = 1 << 20
HOME = "https://a.example"
REFUSALS = (PeerError, RefusedError, UserFacingError)
MOST_BYTES = 6 * MIB
"""A hundred times the input, and nothing that grows with a number in it."""


@cache
def past() -> Swarm:
    """A run with one closed round: where the examples come from."""
    swarm = swarm_of(86, *[Judge] * 3)
    swarm.run_rounds(1)
    return swarm


def document(kind: type[RoundRoster | RoundClose]) -> bytes:
    body = next(
        one.statement.body for one in past().entries if isinstance(one.statement.body, kind)
    )
    return past().blobs[from_text(body.roster if isinstance(body, RoundRoster) else body.result)]  # type: ignore[index]


def leaf() -> bytes:
    return past().entries[-1].leaf()


def checkpoint() -> bytes:
    return past().checkpoint(3, sha256(b"root"))


def record() -> bytes:
    return sign_addresses(past().log_signer, past().net, (), 1).encode()


def manifest() -> bytes:
    return past().manifest.encode()


def genesis() -> bytes:
    return past().genesis.encode()


def event() -> bytes:
    return f"id: 3\nevent: entry\ndata: {to_text(leaf())}\n\n".encode()


def text_of(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def hashes(raw: bytes) -> tuple[bytes, ...]:
    return trees.split_leaves(raw)


SHAPE = RecordShape(algorithm="sparseloco", k=8, bits=2)
PARSERS: dict[str, tuple[Callable[[bytes], object], Callable[[], bytes]]] = {
    "entry": (Entry.parse, leaf),
    "statement": (statement.parse, lambda: past().entries[-1].statement.raw),
    "canonical JSON": (lambda raw: encoding.parse(raw, MIB), lambda: b'{"a":[1,null,"b"]}'),
    "bundle": (tiles.parse_bundle, lambda: tiles.encode_bundle([leaf(), leaf()])),
    "tile path": (lambda raw: tiles.Tile.parse(text_of(raw)), lambda: b"tile/0/x001/067.p/17"),
    "note": (lambda raw: notes.open_note(raw, [vkey()]), checkpoint),
    "checkpoint": (lambda raw: notes.open_checkpoint(raw, vkey()), checkpoint),
    "verifier key": (
        lambda raw: notes.VerifierKey.parse(text_of(raw)),
        lambda: vkey().text().encode(),
    ),
    "inclusion proof": (
        lambda raw: merkle.verify_inclusion(sha256(), 5, 9, hashes(raw), sha256()),
        lambda: bytes(128),
    ),
    "consistency proof": (
        lambda raw: merkle.verify_consistency(5, sha256(), 9, sha256(), hashes(raw)),
        lambda: bytes(128),
    ),
    "frontier": (merkle.Frontier.parse, lambda: bytes(8)),
    "header": (ContributionHeader.parse, lambda: bytes(216)),
    "records": (lambda raw: decode_records(raw, SHAPE), lambda: bytes(SHAPE.record_bytes * 4)),
    "contribution": (
        lambda raw: validate(raw[:216], raw[216:], round_of(past()).expected(), raw[:32]),
        lambda: next(iter(round_of(past()).commitments.values())).header.pack() + bytes(56),
    ),
    "bitmap": (lambda raw: proof.decode_bitmap(raw, 16), lambda: bytes(2)),
    "address record": (AddressRecord.parse, record),
    "address records": (
        membership.parse_records,
        lambda: b"\0\1" + len(record()).to_bytes(2, "big") + record(),
    ),
    "blob request": (blob_server.BlobRequest.parse, lambda: b"\1" + bytes(40)),
    "bits": (lambda raw: blob_server.unpack_bits(raw, 1_000), lambda: bytes(125)),
    "blob answer": (lambda raw: blob_server.unpack_blob(memoryview(raw)), lambda: bytes(9)),
    "tree": (
        lambda raw: trees.MerkleBlob.parse(raw, sha256()),
        lambda: trees.hash_bytes(bytes(99), 9).encode(),
    ),
    "manifest": (Manifest.parse, manifest),
    "roster": (Roster.parse, lambda: document(RoundRoster)),
    "result": (RoundResult.parse, lambda: document(RoundClose)),
    "genesis": (Genesis.parse, genesis),
    "data manifest": (Corpus.parse, lambda: b'{"held_out":[],"sequence":2}'),
    "command": (trainer.decode_command, lambda: b'{"type":"quit"}'),
    "report": (trainer.decode_report, lambda: b'{"type":"resting"}'),
    "event stream": (lambda raw: EventReader().feed(raw), event),
    "network answer": (LedgerNetwork.parse, lambda: b'{"network_id":"x"}'),
    "runs answer": (
        lambda raw: encoding.read(raw, RunsAnswer),
        lambda: b'{"runs":[],"as_of":{"size":1,"root":"x"}}',
    ),
    "seeds answer": (
        lambda raw: encoding.read(raw, SeedsAnswer),
        lambda: b'{"seeds":[]}',
    ),
    "base64url": (lambda raw: from_text(text_of(raw), None), lambda: b"AAAA"),
    "message of a cell": (messages.decode_message, lambda: b'{"type":"beat"}'),
    "place in a cell": (
        lambda raw: decode_place(text_of(raw)),
        lambda: b'{"rank":1,"size":2,"device":"cpu"}',
    ),
    "code of a cell": (lambda raw: code.parse_code(text_of(raw)), lambda: b"K7QF-2MXD-9TRP"),
    "address of a host": (lambda raw: HostAddress.parse(text_of(raw)), lambda: b"[fd12::20]:9"),
    "introduction": (hole_punching.PunchRequest.parse, lambda: bytes(99)),
    "answer to an introduction": (hole_punching.PunchAnswer.parse, lambda: bytes(40)),
    "answer of a dial": (reachability.parse_answer, lambda: bytes(9)),
    "link to a network": (
        lambda raw: links.NetworkLink.parse(text_of(raw)),
        lambda: links.NetworkLink(ledger=HOME).text().encode(),
    ),
    "link to a competition": (
        lambda raw: links.CompetitionLink.parse(text_of(raw)),
        lambda: links.CompetitionLink(ledger=HOME, competition=sha256()).text().encode(),
    ),
    "invitation": (
        lambda raw: links.InvitationLink.parse(text_of(raw)),
        lambda: (
            links.InvitationLink(ledger=HOME, network=past().net, seed=sha256()).text().encode()
        ),
    ),
    "link to a team": (
        lambda raw: links.TeamLink.parse(text_of(raw)),
        lambda: (
            links.TeamLink(team=7, seed=sha256(), ledger=HOME, network=past().net).text().encode()
        ),
    ),
    "plug-in": (archive.parse, lambda: b"PK\3\4" + bytes(60)),
    "token table": (lambda raw: TokenTable.parse(raw, 4), lambda: b"\1a\1b\0\2cd"),
    "questions": (ChoiceTask.parse, lambda: b'{"name":"a","questions":[]}'),
    "policy": (Policy.parse, lambda: b"log " + vkey().text().encode() + b"\nquorum none\n"),
    "proof of a head": (TlogProof.parse, lambda: b"c2sp.org/tlog-proof@v1\nindex 3\n\n"),
    "claim of a head": (HeadClaim.parse, lambda: b'{"v":1,"network":"x"}'),
    "rules of a competition": (CompetitionRules.parse, lambda: b'{"v":1}'),
    "submission": (Submission.parse, lambda: b'{"v":1}'),
    "scores": (Evaluation.parse, lambda: b'{"v":1}'),
    "outcome": (CompetitionOutcome.parse, lambda: b'{"v":1}'),
    "sealed archive": (ArchiveHead.parse, lambda: bytes(200)),
    "piece of evidence": (PieceEvidence.parse, lambda: bytes(200)),
    "piece of a mark": (UnreadEvidence.parse, lambda: bytes(200)),
    "evidence of an omission": (Omission.parse, lambda: b'{"v":1}'),
    "group": (GroupFile.parse, lambda: b'name = "a"\n[[members]]\n'),
    "key": (lambda raw: key_from_text(text_of(raw)), lambda: to_text(sha256()).encode()),
    "peer id": (lambda raw: key_from_peer_id(text_of(raw)), lambda: b"12D3KooW"),
}


def vkey() -> notes.VerifierKey:
    key = past().log_signer.key
    return notes.VerifierKey(name=past().genesis.origin, kind=notes.KeyKind.LOG, key=key)


@attack("L8", layer="env", ends="read, or refused with an error class of `errors.py`")
@attack("Q7", layer="env", ends="refused as malformed; no process stops")
@pytest.mark.parametrize("name", PARSERS)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_hostile_bytes_are_read_or_refused_by_name(name: str, data: st.DataObject) -> None:
    parse, example = PARSERS[name]
    raw = data.draw(hostile(example()))
    with suppress(*REFUSALS):
        parse(raw)


@pytest.mark.parametrize(
    "name", [one for one in PARSERS if one not in ("data manifest", "peer id")]
)
def test_the_examples_are_what_each_parser_meets(name: str) -> None:
    """So that the altered ones come near what is read; those of proofs are refused at the end."""
    parse, example = PARSERS[name]
    with suppress(PeerError):
        parse(example())


@attack("L8", layer="env", ends="refused in bounded memory and time, whatever numbers it names")
@pytest.mark.parametrize("name", PARSERS)
def test_garbage_takes_no_memory(name: str) -> None:
    parse, _ = PARSERS[name]
    parse_all(parse)  # imports and caches of the first call are not the garbage's
    tracemalloc.start()
    try:
        parse_all(parse)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES
    began = time.process_time()
    parse_all(parse)
    assert time.process_time() - began < 2


def parse_all(parse: Callable[[bytes], object]) -> None:
    for _, raw in garbage(seed=8):
        with suppress(*REFUSALS):
            parse(raw)


@attack("L8", layer="wit", ends="refused as an invalid proof, in bounded memory")
def test_a_proof_made_of_garbage_takes_no_memory() -> None:
    swarm = swarm_in(RunState.ROUND_WITNESS)
    _, honest = due_proof(swarm)
    current = round_of(swarm)
    tracemalloc.start()
    try:
        for _, raw in garbage(seed=9):
            for field in ("bitmap", "bloom"):
                body = type(honest)(
                    **{
                        **{name: getattr(honest, name) for name in honest.__struct_fields__},
                        field: to_text(raw[:9_000]),
                    }
                )
                with pytest.raises(RefusedError):
                    fold.read_proof(current, body)
        assert tracemalloc.get_traced_memory()[1] < MOST_BYTES
    finally:
        tracemalloc.stop()
