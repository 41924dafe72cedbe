"""Checkpoints that a witness cosigns, and the bytes of requests and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, SignatureInvalidError
from tequio_shared.keys import Signer
from tequio_shared.log import cosigning, merkle, notes
from tequio_shared.log.cosigning import AddCheckpoint, CosigningRefusedError, CosigningStatus
from tequio_shared.log.notes import Checkpoint, KeyKind, VerifierKey
from tequio_shared.log.policy import STALE_S
from tests.support.merkle_proofs import consistency_proof

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tequio_shared.ids import Digest

NOW_S = 1_700_000_000
LOG, WITNESS, OTHER = (Signer(bytes([at]) * 32) for at in (1, 7, 9))
ORIGIN, NAME = "tequio.example/net1", "witness.example/w1"
LOG_KEY = VerifierKey(name=ORIGIN, kind=KeyKind.LOG, key=LOG.key)
WITNESS_KEY = VerifierKey(name=NAME, kind=KeyKind.COSIGNER, key=WITNESS.key)
HASHES = [merkle.leaf_hash(str(at).encode()) for at in range(12)]
FORKED = [*HASHES[:6], *[merkle.leaf_hash(f"x{at}".encode()) for at in range(6)]]

SPECIFICATIONS = """old 20852014
PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=
jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=
5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=
/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=

example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
— example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=
""".encode()  # noqa: E501 - as the specification prints it


def tree(size: int, hashes: Sequence[Digest] = HASHES) -> Checkpoint:
    return Checkpoint(origin=ORIGIN, size=size, root=merkle.root_of_hashes(hashes[:size]))


def request(
    old: int, size: int, hashes: Sequence[Digest] = HASHES, signer: Signer = LOG
) -> AddCheckpoint:
    proof = consistency_proof(hashes[:size], old) if 0 < old <= size else ()
    note = notes.sign_checkpoint(tree(size, hashes), signer)
    return AddCheckpoint(old_size=old, proof=tuple(proof), note=note)


def refused(asked: AddCheckpoint, last: Checkpoint | None) -> CosigningRefusedError:
    with pytest.raises(CosigningRefusedError) as caught:
        cosigning.decide_cosigning(asked, {ORIGIN: LOG_KEY}, {ORIGIN: last} if last else {})
    return caught.value


def test_the_specifications_example_is_read_and_written_to_the_byte() -> None:
    read = AddCheckpoint.parse(SPECIFICATIONS)
    assert (read.old_size, len(read.proof)) == (20852014, 4)
    assert notes.note_text(read.note).startswith("example.com/behind-the-sofa\n20852163\n")
    assert read.encode() == SPECIFICATIONS


def test_every_growth_is_cosigned_with_a_proof_and_none_without() -> None:
    for size in range(1, 13):
        assert cosigning.decide_cosigning(request(0, size), {ORIGIN: LOG_KEY}, {}) == tree(size)
        for old in range(1, size + 1):
            asked = request(old, size)
            last = {ORIGIN: tree(old)}
            assert cosigning.decide_cosigning(asked, {ORIGIN: LOG_KEY}, last) == tree(size)
            if asked.proof:
                bare = AddCheckpoint(old_size=old, proof=(), note=asked.note)
                assert refused(bare, tree(old)).status is CosigningStatus.NO_PROOF


def test_another_old_size_is_a_conflict_that_tells_the_size() -> None:
    for old in (0, 3, 5):
        said = refused(request(old, 8), tree(4))
        assert (said.status, said.size) == (CosigningStatus.CONFLICT, 4)
    said = refused(request(3, 8), None)
    assert (said.status, said.size) == (CosigningStatus.CONFLICT, 0)


def test_a_log_that_shrinks_is_told_what_was_seen() -> None:
    said = refused(request(3, 4), tree(8))
    assert (said.status, said.size) == (CosigningStatus.CONFLICT, 8)
    above = AddCheckpoint(old_size=8, proof=(), note=request(0, 4).note)
    assert refused(above, tree(8)).status is CosigningStatus.MALFORMED


def test_a_fork_has_no_proof() -> None:
    forked = request(6, 12, FORKED)
    seen = cosigning.decide_cosigning(
        forked, {ORIGIN: LOG_KEY}, {ORIGIN: tree(6)}
    )  # up to 6 they agree
    assert seen == tree(12, FORKED)
    assert refused(request(8, 12, FORKED), tree(8)).status is CosigningStatus.NO_PROOF
    assert refused(request(8, 8, FORKED), tree(8)).status is CosigningStatus.CONFLICT


def test_the_same_checkpoint_with_a_wrong_proof_is_no_conflict() -> None:
    again = AddCheckpoint(old_size=8, proof=(HASHES[0],), note=request(8, 8).note)
    assert refused(again, tree(8)).status is CosigningStatus.NO_PROOF


def test_an_empty_log_has_one_root_and_needs_no_proof() -> None:
    def empty(root: Digest) -> AddCheckpoint:
        checkpoint = Checkpoint(origin=ORIGIN, size=0, root=root)
        return AddCheckpoint(old_size=0, proof=(), note=notes.sign_checkpoint(checkpoint, LOG))

    assert cosigning.decide_cosigning(empty(merkle.EMPTY_ROOT), {ORIGIN: LOG_KEY}, {}).size == 0
    assert refused(empty(HASHES[0]), None).status is CosigningStatus.NO_PROOF
    grown = AddCheckpoint(old_size=0, proof=(HASHES[0],), note=request(0, 3).note)
    assert refused(grown, None).status is CosigningStatus.NO_PROOF
    assert refused(grown, tree(0)).status is CosigningStatus.NO_PROOF
    begun = cosigning.decide_cosigning(request(0, 3), {ORIGIN: LOG_KEY}, {ORIGIN: tree(0)})
    assert begun == tree(3)


def test_a_request_is_read_up_to_its_limit() -> None:
    head = b"old 0\n\n"
    largest = head + b"x" * (cosigning.REQUEST_BYTES - len(head))
    assert len(AddCheckpoint.parse(largest).note) == cosigning.REQUEST_BYTES - len(head)
    with pytest.raises(MalformedError, match="at most 69632 are allowed"):
        AddCheckpoint.parse(largest + b"x")


def test_strangers_logs_and_strangers_signatures_have_statuses_of_their_own() -> None:
    asked = request(0, 3)
    with pytest.raises(CosigningRefusedError) as caught:
        cosigning.decide_cosigning(asked, {}, {})
    assert caught.value.status is CosigningStatus.UNKNOWN_LOG
    assert refused(request(0, 3, signer=OTHER), None).status is CosigningStatus.NOT_SIGNED
    forged = asked.note.replace(b"\n3\n", b"\n4\n")
    broken = AddCheckpoint(old_size=0, proof=(), note=forged)
    assert refused(broken, None).status is CosigningStatus.NOT_SIGNED


@pytest.mark.parametrize("line", ["old", "old ", "old 01", "old -1", "new 1", "old 1 ", "old 1\r"])
def test_an_old_size_has_one_spelling(line: str) -> None:
    with pytest.raises(MalformedError):
        AddCheckpoint.parse(f"{line}\n\n".encode() + request(0, 1).note)


def test_more_than_63_hashes_are_refused() -> None:
    line = notes.to_base64(bytes(32)) + "\n"
    assert AddCheckpoint.parse(f"old 1\n{line * 63}\nx".encode()).old_size == 1
    with pytest.raises(MalformedError, match="63 are allowed"):
        AddCheckpoint.parse(f"old 1\n{line * 64}\nx".encode())


def test_of_an_answer_only_the_witness_own_sound_line_is_taken() -> None:
    note = request(0, 5).note
    own = notes.cosignature_line(tree(5), NAME, WITNESS, 1_700_000_000)
    foreign = notes.cosignature_line(tree(5), "other.example/w", OTHER, 1_700_000_000)
    answer = (foreign + own).encode()
    assert cosigning.find_cosignature(note, answer, LOG_KEY, WITNESS_KEY, NOW_S) == own
    later = notes.cosignature_line(tree(5), NAME, WITNESS, 1_700_000_001)
    for answer in ((own + later).encode(), (own * 150).encode()):
        assert cosigning.find_cosignature(note, answer, LOG_KEY, WITNESS_KEY, NOW_S) == own
    wrong = notes.cosignature_line(tree(4), NAME, WITNESS, 1_700_000_000)
    for useless in (foreign, wrong):
        with pytest.raises(SignatureInvalidError):
            cosigning.find_cosignature(note, useless.encode(), LOG_KEY, WITNESS_KEY, NOW_S)
    for garbage in (b"", b"\n", own.encode()[:-1], b"\xff\n", own.encode() + b"\n"):
        with pytest.raises(MalformedError):
            cosigning.find_cosignature(note, garbage, LOG_KEY, WITNESS_KEY, NOW_S)


def test_a_cosignature_from_the_future_or_of_another_day_is_not_taken() -> None:
    note = request(0, 5).note
    for ahead_s in (1 - STALE_S, 0, cosigning.MOST_AHEAD_S):
        line = notes.cosignature_line(tree(5), NAME, WITNESS, NOW_S + ahead_s)
        assert cosigning.find_cosignature(note, line.encode(), LOG_KEY, WITNESS_KEY, NOW_S) == line
    for time_s in (NOW_S + cosigning.MOST_AHEAD_S + 1, 2**62):
        line = notes.cosignature_line(tree(5), NAME, WITNESS, time_s)
        with pytest.raises(SignatureInvalidError, match="in the future"):
            cosigning.find_cosignature(note, line.encode(), LOG_KEY, WITNESS_KEY, NOW_S)
    for time_s in (NOW_S - STALE_S, 1):
        line = notes.cosignature_line(tree(5), NAME, WITNESS, time_s)
        with pytest.raises(SignatureInvalidError, match="long ago"):
            cosigning.find_cosignature(note, line.encode(), LOG_KEY, WITNESS_KEY, NOW_S)


def test_a_conflicts_size_is_read_as_written() -> None:
    assert cosigning.parse_conflict(cosigning.encode_conflict(20852163)) == 20852163
    for raw in (b"", b"7", b"12", b"07\n", b"7\n\n", b"-7\n", b"9" * 30 + b"\n"):
        with pytest.raises(MalformedError):
            cosigning.parse_conflict(raw)


@given(st.binary(max_size=200))
def test_no_bytes_do_worse_than_being_refused(raw: bytes) -> None:
    for body in (raw, b"old 0\n\n" + raw):
        try:
            asked = AddCheckpoint.parse(body)
            cosigning.decide_cosigning(asked, {ORIGIN: LOG_KEY}, {})
        except (MalformedError, CosigningRefusedError):
            pass
