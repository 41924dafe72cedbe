"""The work of a new key."""

from __future__ import annotations

from hashlib import sha256

import pytest

from tequio_shared.errors import MalformedError, RefusedError
from tequio_shared.ids import NetworkId, PeerKey
from tequio_shared.limits import JSON_INTEGER
from tequio_shared.network.genesis import Genesis
from tequio_shared.statements.network import find_nonce, has_work
from tequio_shared.statements.statement import check_work
from tests.support.authors import Author, registration
from tests.support.memory_log import genesis

NET, KEY = NetworkId(bytes([1]) * 32), PeerKey(bytes([2]) * 32)


def test_the_work_is_the_hash_that_the_protocol_writes_down() -> None:
    """Golden: a change here is a change of the protocol."""
    nonce = find_nonce(NET, KEY, 12, 0, 1 << 20)
    assert nonce == 3297
    message = b"tequio/v1/work\0" + NET + KEY + nonce.to_bytes(8, "big")
    assert sha256(message).digest()[:2] < b"\x00\x10"


def test_work_counts_for_its_key_its_network_and_its_bits_alone() -> None:
    nonce = find_nonce(NET, KEY, 12, 0, 1 << 20)
    assert nonce is not None
    assert has_work(NET, KEY, 12, nonce)
    assert not has_work(NET, KEY, 24, nonce)
    assert not has_work(NET, PeerKey(bytes([3]) * 32), 12, nonce)
    assert not has_work(NetworkId(bytes(32)), KEY, 12, nonce)


def test_no_bits_ask_for_nothing_and_a_search_ends_where_it_was_told_to() -> None:
    assert find_nonce(NET, KEY, 0, 5, 1) == 5
    assert has_work(NET, KEY, 0, JSON_INTEGER)
    assert find_nonce(NET, KEY, 32, 0, 100) is None


def test_only_registrations_have_to_show_work() -> None:
    author = Author("worker", NET)
    good = author.sign(registration(NET, author.key, 12), 1).statement
    check_work(good, NET, 12)
    with pytest.raises(RefusedError, match="not a proof of 30 bits") as refused:
        check_work(good, NET, 30)
    assert refused.value.code == "no-work"


@pytest.mark.parametrize("bits", [-1, 33])
def test_a_genesis_asks_for_a_work_that_can_be_done(bits: int) -> None:
    raw = genesis().encode().replace(b'"work_bits":8', b'"work_bits":%d' % bits)
    with pytest.raises(MalformedError):
        Genesis.parse(raw)
