"""Attackers of the real ledger who forge entries and post them as raw bytes."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import httpx
from msgspec.structs import replace as replace_fields

from tequio_client.clock import now_ms
from tequio_shared.ids import ZERO_DIGEST, NetworkId, PeerKey, RunId, sha256, to_text
from tequio_shared.keys import Signer
from tequio_shared.log.tiles import encode_bundle
from tequio_shared.network.run import first_head
from tequio_shared.statements import Scope
from tequio_shared.statements.network import FaultReport
from tequio_shared.statements.runs import RunOpen
from tequio_shared.statements.statement import Entry, make, sign, signed_message
from tests.support.attackers import PATIENCE_S, codes, put_headers
from tests.support.authors import Author, registration
from tests.support.ledgers import ORGANISER, Served, served
from tests.support.signing_swarm import manifest
from tests.support.statements import EXAMPLES, example

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tequio_shared.round.manifest import Manifest

SECOND = Signer(bytes([8]) * 32)
"""The network's other organiser."""
_RUNS = manifest().run_id, sha256(b"no run")
TORSION = bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")
SMALL_KEYS = {
    "the identity": bytes([1]) + bytes(31),
    "the identity, written p + 1": bytes([0xEE]) + b"\xff" * 30 + b"\x7f",
    "order 2": bytes([0xEC]) + b"\xff" * 30 + b"\x7f",
    "order 4": bytes(32),
    "order 4, written p": bytes([0xED]) + b"\xff" * 30 + b"\x7f",
    "order 8": TORSION,
    "no point": bytes([2]) + bytes(31),
}


@dataclass(frozen=True)
class AttackedLedger:
    """A served ledger with two organisers, and requests to it."""

    ledger: Served
    http: httpx.Client

    @property
    def net(self) -> NetworkId:
        """The network's id."""
        return self.ledger.net

    def post(self, *leaves: bytes) -> list[str]:
        """Post leaves as they are; returns the code or status of each."""
        return codes(self.http.post("/v1/statements", content=encode_bundle(leaves)))

    def post_entries(self, *entries: Entry) -> list[str]:
        """Post entries; returns the code or status of each."""
        return self.post(*(entry.leaf() for entry in entries))

    def author(self, name: str) -> Author:
        """Register an author."""
        one = Author(name, self.net)
        assert self.post_entries(one.register(now_ms())) == ["logged"]
        return one

    def put(self, signer: Signer, content: bytes, at_ms: int, name: bytes | None = None) -> int:
        """PUT a blob as that key, signed at that time; returns the status."""
        digest = sha256(content)
        headers = put_headers(signer, self.net, digest, at_ms)
        url = f"/v1/blobs/{to_text(name or digest)}"
        return self.http.put(url, content=content, headers=headers).status_code

    def open(self, rules: Manifest) -> RunId:
        """Open a run as the organiser."""
        assert self.put(ORGANISER, rules.encode(), now_ms()) in (200, 201)
        organiser = Author("organiser", self.net)
        organiser.signer = ORGANISER
        assert self.post_entries(organiser.sign(opening(rules), now_ms(), run=rules.run_id)) == [
            "logged"
        ]
        return rules.run_id

    def size(self) -> int:
        """The size of the log in its checkpoint."""
        return int(self.http.get("/log/checkpoint").text.split("\n")[1])

    def knows(self, key: PeerKey) -> bool:
        """True if the ledger has a record of the key."""
        return self.http.get(f"/v1/peers/{to_text(key)}").status_code == 200


@contextmanager
def attacked_ledger(folder: Path, *options: str) -> Iterator[AttackedLedger]:
    """Start the real program."""
    with (
        served(folder, "--organiser", to_text(SECOND.key), *options) as ledger,
        httpx.Client(base_url=ledger.url, timeout=PATIENCE_S) as http,
    ):
        yield AttackedLedger(ledger, http)


def opening(rules: Manifest) -> RunOpen:
    """The statement that opens a run of that manifest."""
    return RunOpen(manifest=to_text(rules.run_id), head=to_text(first_head(rules).hash))


def under(entry: Entry, signer: Signer, net: NetworkId) -> Entry:
    """The entry with another key's signature in place of its author's."""
    (author, _), *others = entry.signatures
    forged = signer.sign(signed_message(net, entry.statement.raw))
    return Entry(((author, forged), *others), entry.statement)


def registering(key: bytes, net: NetworkId) -> bytes:
    """A registration of a key that anybody can sign for: R is the identity and S is zero."""
    statement = make(
        body=registration(net, PeerKey(key)),
        author=PeerKey(key),
        seq=1,
        ts=now_ms(),
        exp=now_ms() + 60_000,
        prev=ZERO_DIGEST,
    )
    signature = bytes([1]) + bytes(63)
    return Entry(((PeerKey(key), signature),), statement).leaf()


def mixed(key: PeerKey) -> PeerKey:
    """The key plus a point of order 8: only some Ed25519 verifiers accept its signatures."""
    from nacl.bindings import crypto_core_ed25519_add  # noqa: PLC0415  # only for this

    return PeerKey(crypto_core_ed25519_add(key, TORSION))


def respelt(entry: Entry, signer: Signer, net: NetworkId) -> dict[str, bytes]:
    """The same statement in spellings that some JSON parsers read alike, each validly signed."""
    raw = entry.statement.raw
    tree = json.loads(raw)
    shuffled = dict(reversed(tree.items()))
    spellings = {
        "doubled key": raw.replace(b'{"author":', b'{"author":"x","author":', 1),
        "key doubled at the end": raw[:-1] + b',"v":1}',
        "reordered": json.dumps(shuffled, separators=(",", ":")).encode(),
        "spaces": json.dumps(tree).encode(),
        "a float": raw.replace(b'"seq":1', b'"seq":1.0'),
        "an exponent": raw.replace(b'"seq":1', b'"seq":1e0'),
        "a leading zero": raw.replace(b'"seq":1', b'"seq":01'),
        "an escape": raw.replace(b'"key.', b'"\\u006bey.'),
        "an escaped slash": raw.replace(b'"key.', b'"key\\/'),
        "a byte order mark": b"\xef\xbb\xbf" + raw,
        "a trailing line": raw + b"\n",
        "a second value": raw + raw,
        "a field more": raw[:-1] + b',"w":0}',
        "a null": raw.replace(b'"type"', b'"run":null,"type"'),
        "a larger number": raw.replace(b'"v":1', b'"v":18446744073709551617'),
    }
    assert all(spelling != raw for spelling in spellings.values())
    return {
        name: b"\x01\x01" + signer.key + signer.sign(signed_message(net, spelling)) + spelling
        for name, spelling in spellings.items()
    }


def elsewhere(entry: Entry, net: NetworkId, *signers: Signer) -> Entry:
    """The same statement, signed for another network."""
    other = NetworkId(sha256(net))
    return sign(other, replace(entry.statement), *signers)


def all_refused(results: Sequence[str], code: str) -> bool:
    """True if every entry was refused with that code."""
    return set(results) == {code}


def monkey(chance: random.Random, speaker: Author, keys: Sequence[PeerKey]) -> Entry:
    """A random statement of any type; raises RefusedError if no author could write it."""
    body = example(chance.choice(sorted(EXAMPLES)))
    numbers = [0, 1, 2, 300, 2**31, 2**53 - 1]
    changes: dict[str, object] = {}
    for name in body.__struct_fields__:
        value = getattr(body, name)
        if name == "peer":
            changes[name] = to_text(chance.choice(keys))
        elif isinstance(value, int) and chance.random() < 0.4:
            changes[name] = chance.choice(numbers)
    if isinstance(body, FaultReport):
        end = speaker.seq, speaker.last
        one, other = (speaker.register(now_ms() + at).leaf() for at in (0, 1))
        speaker.seq, speaker.last = end
        changes["leaves"] = (to_text(one), to_text(other))[: chance.randint(1, 2)]
    run = None if body.SCOPE is Scope.NETWORK else RunId(_RUNS[chance.randrange(2)])
    number = chance.choice(numbers) if body.SCOPE is Scope.ROUND else None
    return speaker.sign(replace_fields(body, **changes), now_ms(), run=run, number=number)
