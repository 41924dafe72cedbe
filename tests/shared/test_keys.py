"""Ed25519: what verifies, and which keys are none."""

from __future__ import annotations

import pytest
from nacl.bindings import crypto_core_ed25519_add

from tequio_shared.errors import MalformedError, SignatureInvalidError
from tequio_shared.ids import PeerKey
from tequio_shared.keys import Signer, check_key, verify

GROUP_ORDER = 2**252 + 27742317777372353535851937790883648493
ORDER_8 = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
BAD_KEYS = {
    "identity": "01" + "00" * 31,
    "identity with the sign bit": "01" + "00" * 30 + "80",
    "identity as p + 1": "ee" + "ff" * 30 + "7f",
    "identity as p + 1 with the sign bit": "ee" + "ff" * 31,
    "order 2": "ec" + "ff" * 30 + "7f",
    "order 2 with the sign bit": "ec" + "ff" * 31,
    "order 4": "00" * 32,
    "order 4 with the sign bit": "00" * 31 + "80",
    "order 4 as p": "ed" + "ff" * 30 + "7f",
    "order 8": ORDER_8,
    "order 8, other sign": ORDER_8[:-2] + "fa",
    "order 8, second": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "order 8, second, other sign": (
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"
    ),
    "off the curve": "02" + "00" * 31,
    "short": "8a" * 31,
    "empty": "",
}

# Edge cases of "Taming the many EdDSAs" (Chalkias, Garillot, Nikolaenko, 2020): message, key,
# signature. Verifiers in the field disagree on them; after our rule each is refused.
EDGE_CASES = (
    (
        "8c93255d71dcab10e8f379c26200f3c7bd5f09d9bc3068d3ef4edeb4853022b6",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a" + "00" * 32,
    ),
    (
        "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43"
        "a5bb704786be79fc476f91d3f3f89b03984d8068dcf1bb7dfc6637b45450ac04",
    ),
    (
        "aebf3f2601a0c8c5d39cc7d8911642f740b78168218da8471772b35f9d35b9ab",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa"
        "8c4bd45aecaca5b24fb97bc10ac27ac8751a7dfe1baff8b953ec9f5833ca260e",
    ),
    (
        "9bd9f44f4dcc75bd531b56b2cd280b0bb38fc1cd6d1230e14861d861de092e79",
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        "9046a64750444938de19f227bb80485e92b83fdb4b6506c160484c016cc1852f"
        "87909e14428a7a1d62e9f22f3d3ad7802db02eb2e688b6c52fcd6648a98bd009",
    ),
    (
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        "160a1cb0dc9c0258cd0a7d23e94d8fa878bcb1925f2c64246b2dee1796bed512"
        "5ec6bc982a269b723e0668e540911a9a6a58921d6925e434ab10aa7940551a09",
    ),
    (
        "e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec4011eaccd55b53f56c",
        "cdb267ce40c5cd45306fa5d2f29731459387dbf9eb933b7bd5aed9a765b88d4d",
        "21122a84e0b5fca4052f5b1235c80a537878b38f3142356b2c2384ebad4668b7"
        "e40bc836dac0f71076f9abe3a53f9c03c1ceeeddb658d0030494ace586687405",
    ),
    (
        "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        "e96f66be976d82e60150baecff9906684aebb1ef181f67a7189ac78ea23b6c0e"
        "547f7690a0e2ddcd04d87dbc3490dc19b3b3052f7ff0538cb68afb369ba3a514",
    ),
    (
        "85e241a07d148b41e47d62c63f830dc7a6851a0b1f33ae4bb2f507fb6cffec40",
        "442aad9f089ad9e14647b1ef9099a1ff4798d78589e66f28eca69c11f582a623",
        "8ce5b96c8f26d0ab6c47958c9e68b937104cd36e13c33566acd2fe8d38aa1942"
        "7e71f98a473474f2f13f06f97c20d58cc3f54b8bd0d272f42b695dd7e89a8c22",
    ),
    (
        "fdaebc429f4a735932a160da1301080c13280eea8bc280d1b392c6b9e6ba3a5a",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        "ed" + "ff" * 30 + "7f454d370c8d9fc323a41450f8d513eafeb5b0697390c1e505a0d4ddc71f566607",
    ),
    (
        "84b698d39be126ff55fe45079e6c8bf64a0d7db6994560b4e96b7021eb39c1a1",
        "f7badec5b8abeaf699583992219b7b223f1df3fbbea919844e3f7c554a43dd43",
        "ed" + "ff" * 30 + "7f084d5b99c2a9463d9c8bd5026916996984eeec87ddf1d3be329006ace1b37b09",
    ),
)


@pytest.mark.parametrize("raw", BAD_KEYS.values(), ids=BAD_KEYS.keys())
def test_a_key_of_small_order_or_bad_encoding_is_refused(raw: str) -> None:
    with pytest.raises(SignatureInvalidError):
        check_key(bytes.fromhex(raw))


def test_a_good_key_is_accepted_and_its_mixture_with_order_8_is_not() -> None:
    good = Signer(bytes([1]) * 32).key
    assert check_key(good) == good
    with pytest.raises(SignatureInvalidError):
        check_key(crypto_core_ed25519_add(good, bytes.fromhex(ORDER_8)))


def test_the_forgery_for_every_message_under_the_identity_fails() -> None:
    identity = bytes.fromhex(BAD_KEYS["identity"])
    for number in range(64):
        with pytest.raises(SignatureInvalidError):
            verify(PeerKey(identity), identity + bytes(32), bytes([number]))


@pytest.mark.parametrize(("message", "key", "signature"), EDGE_CASES)
def test_each_published_edge_case_is_refused(message: str, key: str, signature: str) -> None:
    with pytest.raises(SignatureInvalidError):
        verify(check_key(bytes.fromhex(key)), bytes.fromhex(signature), bytes.fromhex(message))


def test_signing_gives_the_published_signature() -> None:
    """RFC 8032, section 7.1, test 2."""
    signer = Signer(
        bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    )
    assert signer.key.hex() == "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"
    signature = signer.sign(b"\x72")
    assert signature.hex() == (
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
    )
    verify(signer.key, signature, b"\x72")


def test_a_flipped_bit_anywhere_breaks_a_signature() -> None:
    signer = Signer(bytes([1]) * 32)
    signature = signer.sign(b"message")
    for bit in range(0, 512, 7):
        forged = bytearray(signature)
        forged[bit >> 3] ^= 1 << (bit & 7)
        with pytest.raises(SignatureInvalidError):
            verify(signer.key, bytes(forged), b"message")


def test_a_second_spelling_of_a_signature_is_refused() -> None:
    signer = Signer(bytes([1]) * 32)
    signature = signer.sign(b"message")
    scalar = int.from_bytes(signature[32:], "little") + GROUP_ORDER
    with pytest.raises(SignatureInvalidError):
        verify(signer.key, signature[:32] + scalar.to_bytes(32, "little"), b"message")


@pytest.mark.parametrize(("key_size", "signature_size"), [(0, 64), (31, 64), (32, 63), (33, 65)])
def test_keys_and_signatures_of_other_sizes_do_not_verify(
    key_size: int, signature_size: int
) -> None:
    with pytest.raises(SignatureInvalidError):
        verify(PeerKey(bytes(key_size)), bytes(signature_size), b"")


def test_a_seed_has_32_bytes_and_is_never_shown() -> None:
    with pytest.raises(MalformedError):
        Signer(bytes(31))
    signer = Signer(bytes([0xAB]) * 32)
    assert "ab" * 8 not in repr(signer)
    assert "\\xab" not in repr(signer)
    assert signer == Signer(bytes([0xAB]) * 32)
