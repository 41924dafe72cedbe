"""Address records have one spelling and one author."""

from __future__ import annotations

import pytest

from tequio_shared.addresses import PREFIX, AddressRecord, is_loopback_host, sign_addresses
from tequio_shared.errors import MalformedError, SignatureInvalidError
from tequio_shared.ids import NetworkId, peer_id_text, to_text
from tequio_shared.keys import Signer

SIGNER, NET = Signer(bytes(32)), NetworkId(bytes([9]) * 32)
ADDR = f"/ip4/192.0.2.1/tcp/4001/p2p/{peer_id_text(SIGNER.key)}"


def test_a_record_survives_the_journey_and_verifies() -> None:
    record = sign_addresses(SIGNER, NET, [ADDR], 5)
    assert AddressRecord.parse(record.encode()) == record
    record.verify(NET)


def test_the_signature_is_over_the_prefix_and_the_record_without_it() -> None:
    record = sign_addresses(SIGNER, NET, [ADDR], 5)
    claim = f'{{"addrs":["{ADDR}"],"author":"{to_text(SIGNER.key)}","ts":5}}'
    assert record.signature == SIGNER.sign(PREFIX + NET + claim.encode())


def test_a_record_of_another_network_does_not_verify() -> None:
    with pytest.raises(SignatureInvalidError):
        sign_addresses(SIGNER, NET, [ADDR], 5).verify(NetworkId(bytes(32)))


def test_a_record_that_was_changed_does_not_verify() -> None:
    record = sign_addresses(SIGNER, NET, [ADDR], 5)
    later = AddressRecord(
        author=record.author, addrs=record.addrs, ts=6, signature=record.signature
    )
    with pytest.raises(SignatureInvalidError):
        later.verify(NET)


@pytest.mark.parametrize(
    "addr",
    ["", "x", ADDR + "1", ADDR[1:], "/\n" + ADDR, "/" + "x" * 300 + ADDR, "/ip4/1.2.3.4/tcp/1"],
)
def test_an_address_that_is_not_the_authors_own_is_malformed(addr: str) -> None:
    with pytest.raises(MalformedError):
        sign_addresses(SIGNER, NET, [addr], 5)


def test_too_many_addresses_are_malformed() -> None:
    with pytest.raises(MalformedError):
        sign_addresses(SIGNER, NET, [ADDR] * 17, 5)


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b'{"addrs":[],"author":"","sig":"","ts":1}'])
def test_what_is_no_record_is_malformed(raw: bytes) -> None:
    with pytest.raises(MalformedError):
        AddressRecord.parse(raw)


@pytest.mark.parametrize(
    ("host", "is_loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("localhost", True),
        ("192.0.2.1", False),
        ("::", False),
        ("box", False),
        ("localhost.evil.example", False),
    ],
)
def test_what_only_this_computer_reaches(host: str, *, is_loopback: bool) -> None:
    assert is_loopback_host(host) is is_loopback
