"""The tree of RFC 6962: roots, proofs and the right edge."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.log import merkle
from tests.support.merkle_proofs import consistency_proof, inclusion_proof

if TYPE_CHECKING:
    from collections.abc import Sequence

HASHES = [merkle.leaf_hash(str(i).encode()) for i in range(68)]
ROOTS = {
    1: "db3426e878068d28d269b6c87172322ce5372b65756d0789001d34835f601c03",
    3: "725d5230db68f557470dc35f1d8865813acd7ebb07ad152774141decbae71327",
    256: "828515d033c19d8c901f37eccb8aed919667703486f8d2fff1cf7040321c5db1",
    70000: "1a4cdfcb66374a0c0dcbef49acbd4976d13ee864fb3cb241fc943cad04f02f7e",
}


@pytest.mark.parametrize(("size", "expected"), ROOTS.items())
def test_the_roots_over_decimal_leaves_are_the_known_ones(size: int, expected: str) -> None:
    leaves = [str(i).encode() for i in range(size)]
    assert merkle.root(leaves).hex() == expected
    frontier = merkle.Frontier()
    for leaf in leaves:
        frontier.append(merkle.leaf_hash(leaf))
    assert frontier.root().hex() == expected


def test_the_empty_tree_has_the_hash_of_nothing() -> None:
    nothing = hashlib.sha256(b"").digest()
    assert merkle.root([]) == merkle.Frontier().root() == merkle.EMPTY_ROOT == nothing


@pytest.mark.parametrize("size", range(1, 68))
def test_the_root_follows_the_recursive_definition(size: int) -> None:
    assert merkle.root_of_hashes(HASHES[:size]) == _by_definition(HASHES[:size])


def _by_definition(hashes: Sequence[bytes]) -> bytes:
    if len(hashes) == 1:
        return hashes[0]
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    left, right = _by_definition(hashes[:split]), _by_definition(hashes[split:])
    return hashlib.sha256(b"\x01" + left + right).digest()


def test_the_frontier_has_the_root_at_every_size_and_survives_its_encoding() -> None:
    frontier = merkle.Frontier()
    for size, leaf in enumerate(HASHES, start=1):
        frontier = merkle.Frontier.parse(frontier.encode())
        frontier.append(leaf)
        assert frontier.size == size
        assert frontier.root() == merkle.root_of_hashes(HASHES[:size])


def test_a_copied_frontier_grows_by_itself() -> None:
    frontier = merkle.Frontier()
    frontier.append(HASHES[0])
    copied = frontier.copy()
    copied.append(HASHES[1])
    assert (frontier.size, copied.size) == (1, 2)
    assert frontier.root() == HASHES[0]


@given(st.binary(max_size=120))
def test_any_bytes_are_a_frontier_or_malformed(raw: bytes) -> None:
    try:
        frontier = merkle.Frontier.parse(raw)
    except MalformedError:
        return
    assert frontier.encode() == raw


@pytest.mark.parametrize("size", range(1, 67))
def test_each_leaf_of_each_tree_is_proved_and_no_other_place_is(size: int) -> None:
    root = merkle.root_of_hashes(HASHES[:size])
    for index in range(size):
        proof = inclusion_proof(HASHES[:size], index)
        merkle.verify_inclusion(HASHES[index], index, size, proof, root)
        with pytest.raises(PeerError):
            merkle.verify_inclusion(HASHES[index], (index + 1) % (size + 1), size, proof, root)
        with pytest.raises(PeerError):
            merkle.verify_inclusion(HASHES[index + 1], index, size, proof, root)


@pytest.mark.parametrize("size", range(1, 67))
def test_each_tree_is_proved_to_begin_with_each_smaller_one(size: int) -> None:
    root = merkle.root_of_hashes(HASHES[:size])
    for old in range(1, size + 1):
        old_root = merkle.root_of_hashes(HASHES[:old])
        proof = consistency_proof(HASHES[:size], old)
        merkle.verify_consistency(old, old_root, size, root, proof)
        with pytest.raises(PeerError):
            merkle.verify_consistency(old, merkle.leaf_hash(b"fork"), size, root, proof)
        with pytest.raises(PeerError):
            merkle.verify_consistency(old, old_root, size, merkle.leaf_hash(b"fork"), proof)


@given(st.integers(1, 66), st.data())
def test_a_proof_with_a_flipped_bit_proves_nothing(size: int, data: st.DataObject) -> None:
    root = merkle.root_of_hashes(HASHES[:size])
    index = data.draw(st.integers(0, size - 1))
    inclusion: list[bytes] = [*inclusion_proof(HASHES[:size], index)]
    consistency: list[bytes] = [*consistency_proof(HASHES[:size], index + 1)]
    old_root = merkle.root_of_hashes(HASHES[: index + 1])
    if inclusion:
        with pytest.raises(PeerError):
            merkle.verify_inclusion(HASHES[index], index, size, _flip(inclusion, data), root)
    if consistency:
        with pytest.raises(PeerError):
            merkle.verify_consistency(index + 1, old_root, size, root, _flip(consistency, data))


def _flip(proof: Sequence[bytes], data: st.DataObject) -> list[bytes]:
    at, bit = data.draw(st.integers(0, len(proof) - 1)), data.draw(st.integers(0, 255))
    forged = bytearray(proof[at])
    forged[bit >> 3] ^= 1 << (bit & 7)
    return [*proof[:at], bytes(forged), *proof[at + 1 :]]


@given(st.integers(1, 66), st.data())
def test_a_longer_or_shorter_proof_proves_nothing(size: int, data: st.DataObject) -> None:
    root = merkle.root_of_hashes(HASHES[:size])
    index = data.draw(st.integers(0, size - 1))
    inclusion = inclusion_proof(HASHES[:size], index)
    consistency = consistency_proof(HASHES[:size], index + 1)
    old_root = merkle.root_of_hashes(HASHES[: index + 1])
    with pytest.raises(PeerError, match="proof of"):
        merkle.verify_inclusion(HASHES[index], index, size, [*inclusion, HASHES[0]], root)
    with pytest.raises(PeerError, match="proof of"):
        merkle.verify_consistency(index + 1, old_root, size, root, [*consistency, HASHES[0]])
    if inclusion:
        with pytest.raises(PeerError, match="proof of"):
            merkle.verify_inclusion(HASHES[index], index, size, inclusion[:-1], root)
    if consistency:
        with pytest.raises(PeerError, match="proof of"):
            merkle.verify_consistency(index + 1, old_root, size, root, consistency[:-1])


@given(
    st.integers(-2, 80),
    st.integers(-2, 80),
    st.lists(st.binary(min_size=31, max_size=33), max_size=9),
    st.binary(min_size=30, max_size=33),
)
def test_arbitrary_proofs_are_refused_as_the_peers_fault(
    number: int, size: int, proof: list[bytes], root: bytes
) -> None:
    with pytest.raises(PeerError):
        merkle.verify_inclusion(root, number, size, proof, HASHES[0])
    with pytest.raises(PeerError):
        merkle.verify_consistency(number, HASHES[1], size, root, proof)


@pytest.mark.parametrize("size_bytes", [0, 31, 33])
def test_hashes_of_another_size_are_no_proof(size_bytes: int) -> None:
    root, wrong = merkle.root_of_hashes(HASHES[:5]), bytes(size_bytes)
    for at in range(3):
        proof: list[bytes] = [*inclusion_proof(HASHES[:5], 0)]
        proof[at] = wrong
        with pytest.raises(MalformedError, match=f"hash of {size_bytes} bytes"):
            merkle.verify_inclusion(HASHES[0], 0, 5, proof, root)
    with pytest.raises(MalformedError, match=f"hash of {size_bytes} bytes"):
        merkle.verify_inclusion(wrong, 0, 5, inclusion_proof(HASHES[:5], 0), root)
    proof = [*consistency_proof(HASHES[:5], 3)]
    proof[-1] = wrong
    with pytest.raises(MalformedError, match=f"hash of {size_bytes} bytes"):
        merkle.verify_consistency(3, merkle.root_of_hashes(HASHES[:3]), 5, root, proof)


def test_nothing_is_consistent_with_the_empty_tree_or_a_smaller_one() -> None:
    for old, new in ((0, 1), (0, 0), (2, 1), (-1, 1)):
        with pytest.raises(PeerError):
            merkle.verify_consistency(old, merkle.EMPTY_ROOT, new, HASHES[0], [])


def test_an_empty_hash_is_no_hash() -> None:
    with pytest.raises(MalformedError):
        merkle.verify_inclusion(b"", 0, 1, [], b"")
    with pytest.raises(MalformedError):
        merkle.verify_consistency(1, b"", 1, b"", [])
    with pytest.raises(MalformedError):
        merkle.Frontier().append(b"")
    with pytest.raises(MalformedError):
        merkle.root_of_hashes([HASHES[0], b"short"])


def test_a_leaf_or_a_size_outside_the_tree_cannot_be_asked_for() -> None:
    for index in (-1, 3):
        with pytest.raises(IndexError):
            inclusion_proof(HASHES[:3], index)
        with pytest.raises(PeerError, match=f"leaf {index} lies outside a tree of 3"):
            merkle.inclusion_path(HASHES[:3], index)
        with pytest.raises(PeerError, match=f"leaf {index} lies outside a tree of 3"):
            merkle.verify_inclusion(HASHES[0], index, 3, [], merkle.root_of_hashes(HASHES[:3]))
    for old in (0, 4):
        with pytest.raises(IndexError):
            consistency_proof(HASHES[:3], old)
