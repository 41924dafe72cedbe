"""Statements and entries: the framing, the envelope's rules, the signatures."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nacl.bindings import crypto_core_ed25519_add, crypto_scalarmult_ed25519_base_noclamp

from tequio_shared import encoding
from tequio_shared.errors import MalformedError, RefusedError, SignatureInvalidError
from tequio_shared.ids import ZERO_DIGEST, Digest, NetworkId, PeerKey, RunId, sha256, to_text
from tequio_shared.keys import Signer, verify
from tequio_shared.limits import ENTRY_BYTES, STATEMENT_BYTES, STATEMENT_LIFE_MS
from tequio_shared.log import merkle
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.statements import statement
from tequio_shared.statements.network import KeyRegister
from tequio_shared.statements.statement import Entry
from tests.shared.test_keys import GROUP_ORDER, ORDER_8
from tests.support.statements import AUTHOR, EXAMPLES, NET, RUN, D, example, example_statement

VECTOR = (
    b'{"author":"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w","body":{"reason":1},'
    b'"seq":1,"type":"test.note/1","v":1}'
)
VECTOR_SIGNATURE = (
    "423ab94f516e1e884e37e8faef6d8ac27cacbc8a8c805fc8d6180458f18aadb8"
    "4e61f78472039655e58bf625752cab53c3ac1be5de5d4540976f8e35b13fb308"
)
OTHERS = sorted((Signer(bytes([i]) * 32) for i in range(2, 20)), key=lambda signer: signer.key)
TS = 1_700_000_000_000
SIGNED_BYTES = 32 + 64
"""A key and its signature."""


def test_the_framing_is_that_of_the_known_vector() -> None:
    assert len(VECTOR) == 111
    assert AUTHOR.key.hex() == "8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c"
    assert NET.hex() == "067caec820e21dfcde479a15585d38d632c28c4d2852f74f805d7238bcde71b9"
    message = statement.signed_message(NET, VECTOR)
    assert len(message) == 163
    assert message.startswith(b"tequio/v1/statement\x00" + NET)
    assert statement.statement_id(NET, VECTOR) == sha256(message)
    assert statement.statement_id(NET, VECTOR).hex() == (
        "79243b0947ea9caa97df23dc44492f4b9f68c7f786cb7d8b2c4e357aa9726142"
    )
    assert AUTHOR.sign(message).hex() == VECTOR_SIGNATURE


def test_the_leaf_is_that_of_the_known_vector() -> None:
    """The vector's statement has no known type, so its leaf is framed around a real one."""
    real = example_statement("key.register")
    signature = bytes.fromhex(VECTOR_SIGNATURE)
    leaf = Entry(((AUTHOR.key, signature),), replace(real, raw=VECTOR)).leaf()
    assert len(leaf) == 209
    assert encode_bundle([leaf]).startswith(b"\x00\xd1\x01\x01" + AUTHOR.key)
    assert merkle.leaf_hash(leaf).hex() == (
        "7fb1b00b47e416575b1d3151a2a8e9a98fa035ee7a91936b13d1ae5818b639cd"
    )
    with pytest.raises(RefusedError) as refused:
        Entry.parse(leaf)
    assert refused.value.code == "unknown-type"


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_entry_of_each_type_reads_back_and_verifies(name: str) -> None:
    made = example_statement(name)
    entry = statement.sign(NET, made, AUTHOR)
    again = Entry.parse(entry.leaf())
    assert again == entry
    assert again.statement.type == name
    assert again.statement.body == example(name)
    assert again.leaf() == entry.leaf()
    again.verify(NET)


def test_a_statement_has_these_bytes() -> None:
    """Golden: a change here is a change of the protocol."""
    made = statement.make(
        body=example("member.leave"),
        author=AUTHOR.key,
        seq=1,
        ts=5,
        exp=6,
        prev=ZERO_DIGEST,
        run=RUN,
    )
    assert made.raw == (
        b'{"author":"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w","body":{"reason":1},"exp":6,'
        b'"prev":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA","run":"'
        + to_text(RUN).encode()
        + b'",'
        b'"seq":1,"ts":5,"type":"member.leave","v":1}'
    )
    assert made.digest == sha256(made.raw)


@given(
    st.integers(1, 2**53 - 1),
    st.integers(0, 2**52),
    st.integers(0, STATEMENT_LIFE_MS),
    st.binary(min_size=32, max_size=32),
)
def test_the_fields_of_any_statement_read_back(seq: int, ts: int, life: int, prev: bytes) -> None:
    last = ZERO_DIGEST if seq == 1 else Digest(prev)
    if seq != 1 and last == ZERO_DIGEST:
        return
    made = statement.make(
        body=KeyRegister(nonce=0), author=AUTHOR.key, seq=seq, ts=ts, exp=ts + life, prev=last
    )
    assert statement.parse(made.raw) == made
    assert (made.seq, made.ts, made.exp, made.prev) == (seq, ts, ts + life, last)
    assert (made.run, made.round) == (None, None)


def _fields(name: str = "member.leave") -> dict[str, object]:
    fields = json.loads(example_statement(name).raw)
    assert isinstance(fields, dict)
    return fields


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seq", 0),
        ("seq", -1),
        ("seq", True),
        ("seq", "1"),
        ("prev", D),  # with seq 1
        ("prev", None),
        ("exp", TS - 1),
        ("exp", TS + STATEMENT_LIFE_MS + 1),
        ("ts", -1),
        ("ts", 2**53 - 1),
        ("author", "A" * 42),
        ("author", "A" * 42 + "B"),
        ("run", None),
        ("run", ""),
        ("round", 1),  # member.leave is about a run
        ("round", None),
        ("nonce", "AAAA"),
        ("body", []),
        ("body", {"reason": 1, "text": 1}),
        ("type", 7),
        ("v", "1"),
        ("v", True),
    ],
)
def test_an_envelope_that_breaks_a_rule_is_malformed(field: str, value: object) -> None:
    raw = encoding.encode({**_fields(), field: value})
    with pytest.raises(MalformedError):
        statement.parse(raw)


@pytest.mark.parametrize("field", _fields("head.attest"))
def test_an_envelope_without_one_of_its_fields_is_malformed(field: str) -> None:
    fields = _fields("head.attest")
    del fields[field]
    with pytest.raises(MalformedError):
        statement.parse(encoding.encode(fields))


@pytest.mark.parametrize(
    ("name", "run", "round_"),
    [
        ("key.register", RUN, None),
        ("key.register", None, 1),
        ("member.ready", None, None),
        ("member.ready", RUN, 1),
        ("round.open", RUN, None),
        ("round.open", None, 1),
        ("round.open", RUN, -1),
    ],
)
def test_a_statement_cannot_be_made_about_the_wrong_thing(
    name: str, run: RunId | None, round_: int | None
) -> None:
    with pytest.raises(RefusedError) as refused:
        statement.make(
            body=example(name),
            author=AUTHOR.key,
            seq=1,
            ts=TS,
            exp=TS,
            prev=ZERO_DIGEST,
            run=run,
            round=round_,
        )
    assert refused.value.code == "malformed"


@pytest.mark.parametrize(
    "changed", [{"type": "work.point"}, {"v": 2}, {"v": 2, "net": D, "round": "x"}, {"type": ""}]
)
def test_an_unknown_type_or_version_is_refused_by_that_name(changed: dict[str, object]) -> None:
    with pytest.raises(RefusedError) as refused:
        statement.parse(encoding.encode({**_fields(), **changed}))
    assert refused.value.code == "unknown-type"


def test_another_spelling_of_a_statement_is_malformed() -> None:
    raw = example_statement("member.leave").raw
    for other in (raw + b"\n", raw.replace(b",", b", ", 1), raw.replace(b"seq", b"\\u0073eq")):
        with pytest.raises(MalformedError):
            statement.parse(other)


def test_a_statement_above_its_size_is_malformed() -> None:
    fields = {**_fields("net.genesis"), "body": {"doc": "A" * STATEMENT_BYTES}}
    with pytest.raises(MalformedError, match="JSON of"):
        statement.parse(encoding.encode(fields))


@given(st.binary(max_size=400))
def test_any_bytes_parse_or_are_refused(raw: bytes) -> None:
    for parser in (statement.parse, Entry.parse):
        with pytest.raises((MalformedError, RefusedError)):
            parser(raw)


@given(st.sampled_from(sorted(EXAMPLES)), st.integers(0, 2000), st.binary(max_size=3))
def test_a_leaf_with_altered_bytes_parses_to_itself_or_is_refused(
    name: str, at: int, patch: bytes
) -> None:
    leaf = bytearray(statement.sign(NET, example_statement(name), AUTHOR).leaf())
    leaf[at % len(leaf) : at % len(leaf) + 2] = patch
    try:
        entry = Entry.parse(bytes(leaf))
    except (MalformedError, RefusedError):
        return
    assert entry.leaf() == bytes(leaf)


def test_a_flipped_bit_anywhere_in_a_leaf_is_noticed() -> None:
    leaf = statement.sign(NET, example_statement("member.leave"), AUTHOR).leaf()
    for at in range(len(leaf)):
        forged = bytearray(leaf)
        forged[at] ^= 1
        with pytest.raises((MalformedError, RefusedError, SignatureInvalidError)):
            Entry.parse(bytes(forged)).verify(NET)


def test_a_leaf_cut_short_is_malformed() -> None:
    leaf = statement.sign(NET, example_statement("member.leave"), AUTHOR).leaf()
    for size in range(len(leaf)):
        with pytest.raises(MalformedError):
            Entry.parse(leaf[:size])


def test_a_leaf_is_split_within_its_limits_alone() -> None:
    """A reader splits leaves of statements that it does not know, so nothing else bounds them."""
    one = bytes(SIGNED_BYTES)
    largest = b"\x01\x10" + one * 16 + bytes(ENTRY_BYTES - 2 - 16 * SIGNED_BYTES)
    signatures, raw = statement.split_leaf(largest)
    assert (len(signatures), len(raw)) == (16, ENTRY_BYTES - 2 - 16 * SIGNED_BYTES)
    for leaf in (largest + b"x", b"\x01\x00{}", b"\x01\x11" + one * 17 + b"{}"):
        with pytest.raises(MalformedError, match=f"entry of {len(leaf)} bytes"):
            statement.split_leaf(leaf)


def test_a_signature_of_another_network_or_context_does_not_verify() -> None:
    entry = statement.sign(NET, example_statement("member.leave"), AUTHOR)
    with pytest.raises(SignatureInvalidError):
        entry.verify(NetworkId(sha256(b"another network")))
    key, signature = entry.signatures[0]
    for message in (
        entry.statement.raw,
        b"tequio/v1/request\x00" + NET + entry.statement.raw,
        b"tequio/v1/statement" + NET + entry.statement.raw,
    ):
        with pytest.raises(SignatureInvalidError):
            verify(key, signature, message)


def test_further_signers_follow_the_author_ascending() -> None:
    made = example_statement("run.open")
    entry = statement.sign(NET, made, AUTHOR, OTHERS[3], OTHERS[0], OTHERS[7])
    keys = [key for key, _ in entry.signatures]
    assert keys == [AUTHOR.key, OTHERS[0].key, OTHERS[3].key, OTHERS[7].key]
    Entry.parse(entry.leaf()).verify(NET)


def test_signatures_out_of_order_doubled_or_too_many_are_malformed() -> None:
    made = example_statement("run.open")
    message = statement.signed_message(NET, made.raw)
    author, *rest = [(s.key, s.sign(message)) for s in (AUTHOR, *OTHERS)]
    for signatures in (
        (),
        (rest[0],),
        (rest[0], author),
        (author, author),
        (author, rest[1], rest[0]),
        (author, rest[0], rest[0]),
        (author, *sorted((author, rest[0]))),
        (author, *rest[:16]),
    ):
        with pytest.raises(MalformedError):
            Entry(tuple(signatures), made)
        head = bytes((1, len(signatures)))
        leaf = head + b"".join(key + sig for key, sig in signatures) + made.raw
        with pytest.raises(MalformedError):
            Entry.parse(leaf)
    assert len(Entry((author, *rest[:15]), made).signatures) == 16


def test_each_of_several_signatures_must_hold() -> None:
    entry = statement.sign(NET, example_statement("run.open"), AUTHOR, OTHERS[0])
    forged = Entry((entry.signatures[0], (OTHERS[0].key, bytes(64))), entry.statement)
    with pytest.raises(SignatureInvalidError):
        forged.verify(NET)


def test_signing_as_another_author_or_twice_is_a_bug_of_ours() -> None:
    made = example_statement("run.open")
    for signers in ((), (OTHERS[0],), (AUTHOR, AUTHOR), (AUTHOR, OTHERS[0], OTHERS[0])):
        with pytest.raises(RefusedError) as refused:
            statement.sign(NET, made, *signers)
        assert refused.value.code == "bad-signature"


def test_a_registration_under_a_key_of_small_order_is_refused() -> None:
    identity = PeerKey(b"\x01" + bytes(31))
    made = statement.make(
        body=KeyRegister(nonce=0), author=identity, seq=1, ts=TS, exp=TS, prev=ZERO_DIGEST
    )
    with pytest.raises(SignatureInvalidError):
        Entry(((identity, identity + bytes(32)),), made).verify(NET)


@dataclass(frozen=True, slots=True)
class MixedKey:
    """A key on the main subgroup plus a point of order 8, whose signatures libsodium may accept."""

    scalar: int
    key: PeerKey

    @classmethod
    def of(cls, seed: bytes) -> MixedKey:
        scalar = int.from_bytes(hashlib.sha512(seed).digest()[:32], "little") % GROUP_ORDER
        point = crypto_scalarmult_ed25519_base_noclamp(scalar.to_bytes(32, "little"))
        return cls(scalar, PeerKey(crypto_core_ed25519_add(point, bytes.fromhex(ORDER_8))))

    def sign(self, message: bytes) -> bytes:
        """A signature that verifies: for one nonce in eight, the added point drops out."""
        for nonce in range(1, 1_000):
            point = crypto_scalarmult_ed25519_base_noclamp(nonce.to_bytes(32, "little"))
            challenge = hashlib.sha512(point + self.key + message).digest()
            answer = nonce + int.from_bytes(challenge, "little") * self.scalar
            signature = point + (answer % GROUP_ORDER).to_bytes(32, "little")
            with suppress(SignatureInvalidError):
                verify(self.key, signature, message)
                return signature
        raise AssertionError("no signature of that key verifies")


@pytest.mark.parametrize(
    ("kind", "signs_too"),
    [
        ("key.register", False),
        ("key.replace", False),
        ("key.register", True),
        ("key.recovery", True),
        ("member.team", True),
        ("member.leave", False),
    ],
)
def test_a_key_off_the_main_subgroup_enters_nowhere(kind: str, *, signs_too: bool) -> None:
    mixed = MixedKey.of(b"a mixed key")
    made = example_statement(kind, author=AUTHOR.key if signs_too else mixed.key)
    message = statement.signed_message(NET, made.raw)
    own = (mixed.key, mixed.sign(message))
    signatures = ((AUTHOR.key, AUTHOR.sign(message)), own) if signs_too else (own,)
    entry = Entry(signatures, made)
    if kind == "member.leave":
        entry.verify(NET)  # its signature holds, and its key is looked at where it is registered
        return
    with pytest.raises(SignatureInvalidError, match="unacceptable Ed25519 key"):
        entry.verify(NET)


def test_the_first_logged_statement_may_have_a_later_number() -> None:  # 1 was refused
    raw = encoding.encode({**_fields(), "seq": 2})
    assert statement.parse(raw).seq == 2
