"""A second implementation of the draws, made from docs/protocol.md, RFC 8032 and RFC 9381 alone.

It shares nothing with the product: Python's integers instead of libsodium, and statements read as
JSON. A rule that the document leaves open, or that the product reads in another way than it is
written, shows as a difference between the two. Section numbers are those of docs/protocol.md.
"""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

# RFC 8032, section 5.1
P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
SQRT_MINUS_ONE = pow(2, (P - 1) // 4, P)
COFACTOR = 8

# RFC 9381, section 5.5: ECVRF-EDWARDS25519-SHA512-TAI
SUITE = b"\x03"
CHALLENGE_BYTES = 16
PROOF_BYTES = 32 + CHALLENGE_BYTES + 32

# section 16
WITNESSES = 16
LARGE_ROSTER = 48
WITNESSES_OF_LARGE = 32

WINDOW_BITS = 4
NO_LOTS = bytes(32)


# Points of edwards25519 are (X, Y, Z, T) with x = X / Z, y = Y / Z and x y = T / Z.
Point = tuple[int, int, int, int]
IDENTITY: Point = (0, 1, 1, 0)


def add(one: Point, other: Point) -> Point:
    """The sum of any two points: the formulas of RFC 8032, section 5.1.4, are complete."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % P
    b = (one[1] + one[0]) * (other[1] + other[0]) % P
    c = 2 * one[3] * other[3] * D % P
    d = 2 * one[2] * other[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def double(one: Point) -> Point:
    """Twice a point (RFC 8032, section 5.1.4)."""
    a = one[0] * one[0] % P
    b = one[1] * one[1] % P
    h = a + b
    e = h - (one[0] + one[1]) * (one[0] + one[1]) % P
    g = a - b
    f = 2 * one[2] * one[2] % P + g
    return e * f % P, g * h % P, f * g % P, e * h % P


def negative(one: Point) -> Point:
    """The point that adds to the identity."""
    return -one[0] % P, one[1], one[2], -one[3] % P


def combine(*terms: tuple[int, Point]) -> Point:
    """The sum of scalar x point; scalars are at least 0 and are not reduced modulo L."""
    tables = [(scalar, _multiples(point)) for scalar, point in terms]
    longest = max(scalar.bit_length() for scalar, _ in terms)
    total = IDENTITY
    for shift in range(longest - longest % WINDOW_BITS, -1, -WINDOW_BITS):
        for _ in range(WINDOW_BITS):
            total = double(total)
        for scalar, table in tables:
            digit = scalar >> shift & (1 << WINDOW_BITS) - 1
            if digit:
                total = add(total, table[digit])
    return total


def _multiples(point: Point) -> list[Point]:
    table = [IDENTITY, point]
    while len(table) < 1 << WINDOW_BITS:
        table.append(add(table[-1], point))
    return table


def is_identity(point: Point) -> bool:
    """Return whether this is the neutral element."""
    return point[0] % P == 0 and (point[1] - point[2]) % P == 0


def encode(point: Point) -> bytes:
    """32 bytes: y, and the lowest bit of x in the highest bit (RFC 8032, section 5.1.2)."""
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decode(data: bytes) -> Point | None:
    """The point with this encoding, None if it is not one (RFC 8032, section 5.1.3)."""
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number & (1 << 255) - 1
    if len(data) != 32 or y >= P:
        return None
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if (v * x * x + u) % P == 0:
        x = x * SQRT_MINUS_ONE % P
    if (v * x * x - u) % P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


BASE = decode((4 * pow(5, -1, P) % P).to_bytes(32, "little")) or IDENTITY


@lru_cache(1_024)
def is_acceptable(data: bytes) -> bool:
    """Return whether 2.1 accepts a key: canonical, in the main subgroup, not the identity."""
    point = decode(data)
    return point is not None and not is_identity(point) and is_identity(combine((L, point)))


def public_key(secret: bytes) -> bytes:
    """The key of a secret of 32 bytes (RFC 8032, section 5.1.5)."""
    return encode(combine((secret_scalar(secret), BASE)))


def secret_scalar(secret: bytes) -> int:
    """The scalar of a secret, clamped and not reduced (RFC 8032, section 5.1.5)."""
    number = int.from_bytes(hashlib.sha512(secret).digest()[:32], "little")
    return number & (1 << 254) - 8 | 1 << 254


def prove(secret: bytes, alpha: bytes) -> bytes:
    """The proof of 80 bytes for an input (RFC 9381, section 5.1)."""
    x = secret_scalar(secret)
    key = encode(combine((x, BASE)))
    h = input_point(key, alpha)
    # section 5.4.2.2: the nonce of Ed25519 over the input's point
    half = hashlib.sha512(secret).digest()[32:]
    k = int.from_bytes(hashlib.sha512(half + encode(h)).digest(), "little") % L
    gamma = combine((x, h))
    c = challenge(key, h, gamma, combine((k, BASE)), combine((k, h)))
    s = (k + c * x) % L
    return encode(gamma) + c.to_bytes(CHALLENGE_BYTES, "little") + s.to_bytes(32, "little")


def verify(key: bytes, alpha: bytes, proof: bytes) -> bytes | None:
    """The output of 64 bytes that this proof shows, None if the proof is not valid (9.4)."""
    is_valid = is_acceptable(key) and is_readable(proof) and satisfies_rfc(key, alpha, proof)
    return output(proof) if is_valid else None


def is_readable(proof: bytes) -> bool:
    """Return whether a light reader may use the output of a proof that it cannot verify (9.4)."""
    s = int.from_bytes(proof[48:], "little")
    return len(proof) == PROOF_BYTES and is_acceptable(proof[:32]) and s < L


def satisfies_rfc(key: bytes, alpha: bytes, proof: bytes) -> bool:
    """Return whether ECVRF_verify accepts it with validate_key false (RFC 9381, section 5.3)."""
    y, gamma = decode(key), decode(proof[:32])
    c = int.from_bytes(proof[32:48], "little")
    s = int.from_bytes(proof[48:], "little")
    if y is None or gamma is None or len(proof) != PROOF_BYTES or s >= L:
        return False
    h = input_point(key, alpha)
    u = combine((s, BASE), (c, negative(y)))
    v = combine((s, h), (c, negative(gamma)))
    return challenge(key, h, gamma, u, v) == c


def output(proof: bytes) -> bytes:
    """The output of a proof whose point decodes (RFC 9381, section 5.2)."""
    gamma = decode(proof[:32])
    if gamma is None:
        raise ValueError(f"the proof's point {proof[:32].hex()} is not on the curve")
    point = encode(combine((COFACTOR, gamma)))
    return hashlib.sha512(SUITE + b"\x03" + point + b"\x00").digest()


def input_point(key: bytes, alpha: bytes) -> Point:
    """The point of an input, by try and increment (RFC 9381, section 5.4.1.1)."""
    for counter in range(256):
        text = SUITE + b"\x01" + key + alpha + bytes([counter]) + b"\x00"
        found = decode(hashlib.sha512(text).digest()[:32])
        if found is not None:
            point = combine((COFACTOR, found))
            if not is_identity(point):
                return point
    raise ValueError(f"no point for the input {alpha.hex()}")


def challenge(key: bytes, *points: Point) -> int:
    """The challenge over the key and four points (RFC 9381, section 5.4.3)."""
    text = SUITE + b"\x02" + key + b"".join(encode(point) for point in points) + b"\x00"
    return int.from_bytes(hashlib.sha512(text).digest()[:CHALLENGE_BYTES], "little")


def sha256(*parts: bytes) -> bytes:
    """SHA-256 of the parts together."""
    return hashlib.sha256(b"".join(parts)).digest()


def seed_input(network: bytes, run: bytes, number: int, last_lots: bytes) -> bytes:
    """Input of the coordinator's function in this round (9.4)."""
    return b"tequio/v1/lot-seed\0" + network + run + number.to_bytes(8, "big") + last_lots


def lot_input(network: bytes, run: bytes, number: int, seed: bytes) -> bytes:
    """Input of a member's function in this round (9.4)."""
    return b"tequio/v1/lot\0" + network + run + number.to_bytes(8, "big") + seed


def lots_digest(lots: Mapping[int, bytes]) -> bytes:
    """`lots` of `round.open` and the seed of its Bloom filters (9.4, 10.2), from lots by slot."""
    return sha256(b"tequio/v1/lots\0", *(lots[slot] for slot in sorted(lots)))


def elect(witnesses: Collection[int], lots: Mapping[int, bytes]) -> list[int]:
    """The elected slots, lowest lot first (9.4).

    `witnesses` are all slots of the roster with that role, `lots` those of the slots that attested
    the head of `round.open`.
    """
    seats = WITNESSES if len(witnesses) <= LARGE_ROSTER else WITNESSES_OF_LARGE
    candidates = [slot for slot in lots if slot in witnesses]
    return sorted(candidates, key=lambda slot: (lots[slot], slot))[:seats]


def measurers(witnesses: Collection[int], lots: Mapping[int, bytes], members: int) -> list[int]:
    """The slots drawn to measure a head, in their order (9.9); `lots` as in `elect`."""
    candidates = [slot for slot in lots if slot in witnesses]
    digests = {slot: sha256(b"tequio/v1/measure\0", lots[slot]) for slot in candidates}
    return sorted(candidates, key=lambda slot: (digests[slot], slot))[:members]


def competition_seed_input(competition: bytes) -> bytes:
    """Input of the proof in `comp.close` (19.4)."""
    return b"tequio/v1/comp-seed\0" + competition


def evaluator_lot_input(competition: bytes, seed: bytes) -> bytes:
    """Input of the proof in an `eval.lot` (19.4)."""
    return b"tequio/v1/eval\0" + competition + seed


def competition_draw_input(competition: bytes, lots: Mapping[bytes, bytes]) -> bytes:
    """Input of the proof in `comp.draw` (19.4), from all lots by their authors' keys."""
    return b"tequio/v1/comp-draw\0" + competition + sha256(*(lots[key] for key in sorted(lots)))


def beacon(competition: bytes, archive_key: bytes, drawn: bytes) -> bytes:
    """The beacon (19.4), from the archive's key and the output of `comp.draw`."""
    return sha256(b"tequio/v1/comp\0", competition, archive_key, drawn)


def documents(of: bytes, in_set: int, most: int) -> list[int]:
    """The indices drawn with a beacon, ascending (19.4)."""
    if most >= in_set:
        return list(range(in_set))
    numbers = _shake_numbers(b"tequio/v1/docs\0" + of)
    places = list(range(in_set))
    for i in range(most):
        left = in_set - i
        u = next(number for number in numbers if number < 2**32 - 2**32 % left)
        other = i + u % left
        places[i], places[other] = places[other], places[i]
    return sorted(places[:most])


def _shake_numbers(text: bytes) -> Iterator[int]:
    size = 4096
    done = 0
    while True:  # hashlib has no incremental squeezing: read the beginning again, and more of it
        stream = hashlib.shake_256(text).digest(size)
        for at in range(done, size, 4):
            yield int.from_bytes(stream[at : at + 4], "big")
        done, size = size, size * 2


def evaluators(
    of: bytes, lots: Mapping[bytes, bytes], owners: Mapping[bytes, bytes], most: int
) -> list[bytes]:
    """The keys drawn as evaluators with a beacon, in their order (19.4).

    `lots` and `owners` are those of the keys that can be drawn.
    """
    ranked = sorted(lots, key=lambda key: (sha256(b"tequio/v1/evaluator\0", of, lots[key]), key))
    first_of: dict[bytes, bytes] = {}
    for key in ranked:
        first_of.setdefault(owners[key], key)
    return list(first_of.values())[:most]


class Owners:
    """Owners and tiers of keys in competitions (9.11), read from the leaves of a log."""

    def __init__(self, founders: Collection[bytes]) -> None:
        self._founders = founders
        self._invited: dict[bytes, bytes] = {}
        self._revoked: set[bytes] = set()
        self._vouches: dict[tuple[bytes, bytes], _Vouch] = {}  # by key and connector
        self._places = 0

    def read(self, leaf: bytes) -> None:
        """Continue with one entry."""
        statement, author = parse(leaf), leaf[2:34]
        body, ts = statement["body"], statement["ts"]
        match statement["type"]:
            case "key.register" if leaf[1] == 2:
                self._invited[author] = leaf[98:130]
            case "invite.revoke":
                self._revoked.add(unbase64(body["invitation"]))
            case "member.vouch":
                self._vouch(author, unbase64(body["peer"]), body, ts)
            case "role.revoke":
                gone = unbase64(body["peer"])
                self._vouches = {at: one for at, one in self._vouches.items() if at[1] != gone}

    def owner(self, key: bytes) -> bytes:
        """The owner of a key, in whatever run."""
        if key in self._founders:
            return key
        if self._is_invited(key):
            return self._invited[key]
        words = [one for (peer, _), one in self._vouches.items() if peer == key]
        newest_ts = max((one.ts for one in words), default=0)
        valid = [one for one in words if one.until > newest_ts]
        return min(valid, key=lambda one: one.place).owner if valid else key

    def tier(self, key: bytes, ts: int) -> int:
        """The highest tier of a key at that time (ms), in whatever run."""
        if key in self._founders or self._is_invited(key):
            return 2
        words = [one for (peer, _), one in self._vouches.items() if peer == key]
        return int(any(one.until > ts for one in words))

    def _is_invited(self, key: bytes) -> bool:
        return key in self._invited and self._invited[key] not in self._revoked

    def _vouch(self, author: bytes, peer: bytes, body: dict[str, Any], ts: int) -> None:
        former = self._vouches.pop((peer, author), None)
        if body["until"] <= ts:
            return
        owner = sha256(b"tequio/v1/owner\0", author, unbase64(body["owner"]))
        self._places += 1
        is_renewal = former is not None and former.owner == owner and ts < former.until
        place = former.place if former is not None and is_renewal else self._places
        self._vouches[peer, author] = _Vouch(place, owner, ts, body["until"])


class _Vouch(NamedTuple):
    place: int
    owner: bytes
    ts: int
    until: int


@dataclass(kw_only=True)
class RoundDraws:
    """The draws of one round, as they follow from the log."""

    number: int
    seed: bytes
    digest: bytes | None = None
    committee: list[int] | None = None
    """Elected slots, lowest lot first; None if the round never opened."""
    measurers: dict[bytes, list[bytes]] = field(default_factory=dict)
    """Keys drawn in this round, by head; empty unless one was promoted that is to be measured."""


def draws_of_run(leaves: Iterable[bytes], blobs: Mapping[bytes, bytes]) -> list[RoundDraws]:
    """Recompute every draw of a log with one run, verifying each proof; ValueError if one is wrong.

    Manifest and rosters are looked up by the hash that a statement names.
    """
    reader = _RunReader(blobs)
    for leaf in leaves:
        statement = parse(leaf)
        reader.read(statement, statement["body"])
    return reader.rounds


class _RunReader:
    """Reads the statements of a log that bear on its draws, in their order."""

    def __init__(self, blobs: Mapping[bytes, bytes]) -> None:
        self.rounds: list[RoundDraws] = []
        self._blobs = blobs
        self._last_lots = NO_LOTS
        self._measure: dict[str, int] = {"every": 0}
        self._most_rounds = 0
        self._ending = False

    def read(self, statement: dict[str, Any], body: dict[str, Any]) -> None:
        """Continue with one statement."""
        match statement["type"]:
            case "net.genesis":
                document = unbase64(body["doc"])
                self._network = sha256(document)
                self._coordinator = unbase64(json.loads(document)["coordinator"])
            case "run.open":
                self._read_rules(unbase64(statement["run"]), body)
            case "run.finish" | "run.pause" | "run.resume":  # the latest of the three applies (9.1)
                self._ending = statement["type"] == "run.finish"
            case "round.roster":
                self._begin(statement["round"], body)
            case "head.attest":
                self._attest(unbase64(statement["author"]), body)
            case "head.promote":
                self._promote(statement["round"], body)
            case "round.open":
                self._open(body)

    def _read_rules(self, run: bytes, body: dict[str, Any]) -> None:
        self._run = run
        manifest = json.loads(self._blobs[unbase64(body["manifest"])])
        self._measure = manifest.get("measure", self._measure)
        self._most_rounds = manifest["rounds"]["most"]

    def _begin(self, number: int, body: dict[str, Any]) -> None:
        # 9.1: with the last round done, or the end wanted between rounds, a roster is one of the
        # cooldown
        self._cooling = self._ending or number > self._most_rounds
        roster = json.loads(self._blobs[unbase64(body["roster"])])
        self._keys = [unbase64(member["peer"]) for member in roster["members"]]
        members = enumerate(roster["members"])
        self._witnesses = {slot for slot, one in members if "witness" in one["roles"]}
        self._lots: dict[int, bytes] = {}
        self._heads: dict[int, bytes] = {}
        alpha = seed_input(self._network, self._run, number, self._last_lots)
        seed = _output_of(self._coordinator, alpha, body["vrf"])
        self.rounds.append(RoundDraws(number=number, seed=seed))

    def _attest(self, author: bytes, body: dict[str, Any]) -> None:
        now = self.rounds[-1]
        slot = self._keys.index(author)
        alpha = lot_input(self._network, self._run, now.number, now.seed)
        self._lots[slot] = _output_of(author, alpha, body["vrf"])
        self._heads[slot] = unbase64(body["head"])

    def _promote(self, of: int, body: dict[str, Any]) -> None:
        every = self._measure["every"]
        if every == 0 or not (of % every == 0 or self._cooling):
            return
        head = unbase64(body["head"])
        drawn = measurers(self._witnesses, self._lots_of(head), self._measure["members"])
        self.rounds[-1].measurers[head] = [self._keys[slot] for slot in drawn]

    def _open(self, body: dict[str, Any]) -> None:
        now = self.rounds[-1]
        now.committee = elect(self._witnesses, self._lots_of(unbase64(body["head"])))
        digest = lots_digest({slot: self._lots[slot] for slot in now.committee})
        self._last_lots = now.digest = digest
        if unbase64(body["lots"]) != digest:
            raise ValueError(f"round {now.number} states lots {body['lots']}")

    def _lots_of(self, head: bytes) -> dict[int, bytes]:
        return {slot: lot for slot, lot in self._lots.items() if self._heads[slot] == head}


def _output_of(key: bytes, alpha: bytes, text: str) -> bytes:
    found = verify(key, alpha, unbase64(text))
    if found is None:
        raise ValueError(f"invalid proof {text} of {key.hex()}")
    return found


def parse(leaf: bytes) -> dict[str, Any]:
    """The statement of a leaf (4.3)."""
    statement: dict[str, Any] = json.loads(leaf[2 + leaf[1] * 96 :])
    return statement


def unbase64(text: str) -> bytes:
    """Bytes from base64url without padding (2)."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
