"""Receipts for keeps: written, read and held against a policy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import Digest
from tequio_shared.keys import Signer
from tequio_shared.log import merkle, notes
from tequio_shared.log.notes import LOG_SIZE, Checkpoint, KeyKind, VerifierKey
from tequio_shared.log.policy import (
    PATH_HASHES,
    PROOF_BYTES,
    TLOG_PROOF_HEADER,
    NoQuorumError,
    Policy,
    TlogProof,
)
from tests.support.merkle_proofs import inclusion_proof

LOG, WITNESS = Signer(bytes([1]) * 32), Signer(bytes([7]) * 32)
ORIGIN, NAME = "tequio.example/net1", "witness.example/w1"
LEAVES = [str(at).encode() for at in range(7)]
HASHES = [merkle.leaf_hash(leaf) for leaf in LEAVES]


def policy(quorum: str = "w") -> Policy:
    log = VerifierKey(name=ORIGIN, kind=KeyKind.LOG, key=LOG.key)
    witness = VerifierKey(name=NAME, kind=KeyKind.COSIGNER, key=WITNESS.key)
    text = f"log {log.text()}\nwitness w {witness.text()}\nquorum {quorum}\n"
    return Policy.parse(text.encode())


def proof(index: int, *, is_cosigned: bool = True) -> TlogProof:
    checkpoint = Checkpoint(origin=ORIGIN, size=7, root=merkle.root_of_hashes(HASHES))
    line = notes.cosignature_line(checkpoint, NAME, WITNESS, 1_700_000_000)
    note = notes.add_lines(notes.sign_checkpoint(checkpoint, LOG), [line] if is_cosigned else [])
    path = tuple(inclusion_proof(HASHES, index))
    return TlogProof(index=index, path=path, note=note, extra=LEAVES[index])


def test_a_proof_writes_as_the_specification_says() -> None:
    made = proof(6)
    head, _, note = made.encode().partition(b"\n\n")
    assert head.decode().split("\n") == [
        "c2sp.org/tlog-proof@v1",
        "extra Ng==",
        "index 6",
        notes.to_base64(made.path[0]),
        notes.to_base64(made.path[1]),
    ]
    assert note == made.note


def test_every_leaf_of_a_log_has_a_proof_that_holds() -> None:
    for index in range(7):
        read = TlogProof.parse(proof(index).encode())
        assert read == proof(index)
        assert read.verify(HASHES[index], policy()).checkpoint.size == 7
        for other in set(range(7)) - {index}:
            with pytest.raises(PeerError, match="the proof leads to"):
                read.verify(HASHES[other], policy())


def test_a_log_of_one_entry_has_a_proof_without_hashes_and_extra_may_be_missing() -> None:
    only = Checkpoint(origin=ORIGIN, size=1, root=merkle.root_of_hashes(HASHES[:1]))
    made = TlogProof(index=0, path=(), note=notes.sign_checkpoint(only, LOG))
    assert made.encode().startswith(b"c2sp.org/tlog-proof@v1\nindex 0\n\ntequio.example/net1\n1\n")
    assert TlogProof.parse(made.encode()) == made
    assert made.verify(HASHES[0], policy("none")).checkpoint == only
    assert TlogProof.parse(made.encode().replace(b"index", b"extra \nindex")).extra == b""


def test_a_proof_under_a_checkpoint_that_lacks_the_quorum_is_none() -> None:
    with pytest.raises(NoQuorumError):
        proof(3, is_cosigned=False).verify(HASHES[3], policy())
    assert proof(3, is_cosigned=False).verify(HASHES[3], policy("none")).checkpoint.size == 7


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"tlog-proof@v1", b"tlog-proof@v2"),
        (b"extra Mw==", b"extra Mw"),
        (b"extra Mw==", b"extra M w=="),
        (b"extra Mw==\n", b"extra Mw==\nextra Mw==\n"),
        (b"index 3", b"index 03"),
        (b"index 3", b"index -3"),
        (b"index 3", b"index 9223372036854775808"),
        (b"index 3", b"index"),
        (b"index 3", b"3"),
        (b"index 3\n", b""),
        (b"index 3\n", b"index 3\nAAAA\n"),
        (b"index 3\n", b"index 3\n\n"),
        (b"index 3\n", b"index 3\r\n"),
        (b"\n\n", b"\n"),
    ],
)
def test_what_is_no_proof_is_refused(old: bytes, new: bytes) -> None:
    raw = proof(3).encode()
    assert old in raw
    with pytest.raises(PeerError):
        TlogProof.parse(raw.replace(old, new)).verify(HASHES[3], policy())


def test_a_proof_that_ends_after_its_header_is_refused() -> None:
    with pytest.raises(MalformedError, match="no index line"):
        TlogProof.parse(f"{TLOG_PROOF_HEADER}\n\n".encode())


def test_a_proof_is_read_up_to_its_limits() -> None:
    nodes = (Digest(bytes(32)),) * PATH_HASHES
    whole = TlogProof(index=LOG_SIZE - 1, path=nodes, note=b"")
    long = replace(whole, note=bytes(PROOF_BYTES - len(whole.encode())))
    assert TlogProof.parse(long.encode()) == long
    with pytest.raises(MalformedError, match=f"at most {PROOF_BYTES}"):
        TlogProof.parse(long.encode() + b"\0")
    for change in ({"index": LOG_SIZE}, {"path": (*nodes, nodes[0])}):
        with pytest.raises(MalformedError, match="cannot have a path"):
            replace(whole, **change)


def test_more_hashes_than_a_tree_is_high_are_refused() -> None:
    line = notes.to_base64(bytes(32)).encode() + b"\n"
    raw = proof(3).encode().replace(b"index 3\n", b"index 3\n" + line * PATH_HASHES)
    with pytest.raises(MalformedError, match="63 are allowed"):
        TlogProof.parse(raw)


@given(st.integers(0, 2**20), st.binary(max_size=3))
def test_a_changed_byte_is_never_believed(at: int, new: bytes) -> None:
    raw = proof(2).encode()
    at %= len(raw)
    changed = raw[:at] + new + raw[at + 1 :]
    try:
        read = TlogProof.parse(changed)
        read.verify(HASHES[2], policy())
    except PeerError:
        return
    assert (read.index, read.path) == (2, proof(2).path)
    assert policy().open(read.note).checkpoint == policy().open(proof(2).note).checkpoint
