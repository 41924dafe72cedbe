"""The verifiable random function: RFC 9381's vectors, and what a proof must not get away with."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tequio_shared import vrf
from tequio_shared.errors import SignatureInvalidError
from tequio_shared.keys import Signer

ORDER = 2**252 + 27742317777372353535851937790883648493
# RFC 9381, B.3, examples 16 to 18: seed, key, input, proof, output.
EXAMPLES = (
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "8657106690b5526245a92b003bb079ccd1a92130477671f6fc01ad16f26f723f"
        "26f8a57ccaed74ee1b190bed1f479d9727d2d0f9b005a6e456a35d4fb0daab12"
        "68a1b0db10836d9826a528ca76567805",
        "90cf1df3b703cce59e2a35b925d411164068269d7b2d29f3301c03dd757876ff"
        "66b71dda49d2de59d03450451af026798e8f81cd2e333de5cdf4f3e140fdd8ae",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "f3141cd382dc42909d19ec5110469e4feae18300e94f304590abdced48aed593"
        "3bf0864a62558b3ed7f2fea45c92a465301b3bbf5e3e54ddf2d935be3b67926d"
        "a3ef39226bbc355bdc9850112c8f4b02",
        "eb4440665d3891d668e7e0fcaf587f1b4bd7fbfe99d0eb2211ccec90496310eb"
        "5e33821bc613efb94db5e5b54c70a848a0bef4553a41befc57663b56373a5031",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "9bc0f79119cc5604bf02d23b4caede71393cedfbb191434dd016d30177ccbf80"
        "96bb474e53895c362d8628ee9f9ea3c0e52c7a5c691b6c18c9979866568add7a"
        "2d41b00b05081ed0f58ee5e31b3a970e",
        "645427e5d00c62a23fb703732fa5d892940935942101e456ecca7bb217c61c45"
        "2118fec1219202a0edcf038bb6373241578be7217ba85a2687f7a0310b2df19f",
    ),
)

ANA, BEN = Signer(bytes([1]) * 32), Signer(bytes([2]) * 32)


@pytest.mark.parametrize(("seed", "key", "alpha", "proof", "output"), EXAMPLES)
def test_the_vectors_of_the_rfc(seed: str, key: str, alpha: str, proof: str, output: str) -> None:
    signer, given_input = Signer(bytes.fromhex(seed)), bytes.fromhex(alpha)
    assert signer.key.hex() == key
    assert signer.prove(given_input).hex() == proof
    assert vrf.verify(signer.key, given_input, bytes.fromhex(proof)).hex() == output
    assert vrf.output(bytes.fromhex(proof)).hex() == output


@settings(max_examples=60)
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=100))
def test_every_proof_verifies_and_has_one_output(seed: bytes, alpha: bytes) -> None:
    signer = Signer(seed)
    proof = signer.prove(alpha)
    assert signer.prove(alpha) == proof
    assert vrf.verify(signer.key, alpha, proof) == vrf.output(proof)


@settings(max_examples=60)
@given(st.integers(0, 8 * vrf.PROOF_BYTES - 1))
def test_no_flipped_bit_passes(bit: int) -> None:
    proof = bytearray(ANA.prove(b"input"))
    proof[bit // 8] ^= 1 << bit % 8
    with pytest.raises(SignatureInvalidError):
        vrf.verify(ANA.key, b"input", bytes(proof))


def test_a_proof_is_of_one_key_and_one_input() -> None:
    proof = ANA.prove(b"input")
    for key, alpha in ((BEN.key, b"input"), (ANA.key, b"other"), (ANA.key, b"")):
        with pytest.raises(SignatureInvalidError, match="does not verify"):
            vrf.verify(key, alpha, proof)


def test_a_second_spelling_of_a_proof_is_refused() -> None:
    proof = ANA.prove(b"input")
    for answer in (int.from_bytes(proof[48:], "little") + ORDER, ORDER):
        with pytest.raises(SignatureInvalidError, match="group order"):
            vrf.verify(ANA.key, b"input", proof[:48] + answer.to_bytes(32, "little"))


@pytest.mark.parametrize("value", range(2**255 - 19, 2**255))
def test_a_hash_above_the_prime_encodes_no_point(value: int) -> None:
    for sign in (0, 2**255):
        hashed = (value + sign).to_bytes(32, "little")
        assert vrf._times_cofactor(hashed) is None  # noqa: SLF001 - no input has such a hash


@pytest.mark.parametrize("point", [b"\x01" + bytes(31), bytes(32)])
def test_a_hash_that_encodes_a_point_of_small_order_gives_none(point: bytes) -> None:
    assert vrf._times_cofactor(point) is None  # noqa: SLF001 - no input has such a hash


SMALL = (bytes(32), b"\x01" + bytes(31), b"\xec" + b"\xff" * 30 + b"\x7f")


@pytest.mark.parametrize("gamma", SMALL)
def test_a_gamma_of_small_order_is_refused(gamma: bytes) -> None:
    proof = ANA.prove(b"input")
    for check in (vrf.output, lambda one: vrf.verify(ANA.key, b"input", one)):
        with pytest.raises(SignatureInvalidError, match="main subgroup"):
            check(gamma + proof[32:])


@pytest.mark.parametrize("size", [0, 79, 81])
def test_a_proof_has_eighty_bytes(size: int) -> None:
    with pytest.raises(SignatureInvalidError, match=f"80 bytes, not {size}"):
        vrf.output(bytes(size))
