"""Proofs of logging that can be kept and checked offline (c2sp.org/tlog-proof, `.tlog-proof`).

A proof holds an index, the path from the leaf to a root, and the checkpoint that signs the root.
Ours carry the leaf itself as `extra`, which nothing authenticates: hash it, then verify.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared.errors import MalformedError
from tequio_shared.ids import DIGEST_BYTES, Digest
from tequio_shared.merkle import verify_inclusion
from tequio_shared.notes import LOG_SIZE, NOTE_BYTES, from_base64, natural, to_base64

if TYPE_CHECKING:
    from tequio_shared.notes import SignedCheckpoint, VerifierKey
    from tequio_shared.policy import Policy

HEADER = "c2sp.org/tlog-proof@v1"
SUFFIX = ".tlog-proof"
PATH_HASHES = 63
EXTRA_BYTES = 65_535
PROOF_BYTES = NOTE_BYTES + 2 * EXTRA_BYTES
"""More than every part at its limit takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TlogProof:
    """One entry's place in a log; nothing of it is verified before `verify`."""

    index: int
    path: tuple[Digest, ...]
    """The leaf's sibling first."""
    note: bytes
    """The checkpoint as the log published it, cosignatures included."""
    extra: bytes | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.index < LOG_SIZE or len(self.path) > PATH_HASHES:
            raise MalformedError(f"no entry {self.index} has a path of {len(self.path)} hashes")

    @classmethod
    def parse(cls, raw: bytes) -> TlogProof:
        """Read a proof; raises MalformedError."""
        if len(raw) > PROOF_BYTES:
            raise MalformedError(f"a proof of {len(raw)} bytes")
        head, empty, note = raw.partition(b"\n\n")
        lines = _ascii(head).split("\n")
        if not empty or lines[0] != HEADER:
            raise MalformedError(f"a proof begins with {HEADER} and holds a checkpoint")
        rest = lines[1:]
        extra = None
        if rest and rest[0].startswith("extra "):
            extra = from_base64(rest.pop(0).removeprefix("extra "))
        if not rest or not rest[0].startswith("index "):
            raise MalformedError("a proof without its index line")
        index = natural(rest[0].removeprefix("index "))
        return cls(index=index, path=hashes(rest[1:]), note=note, extra=extra)

    def encode(self) -> bytes:
        """Write the proof as `parse` reads it."""
        lines = [HEADER]
        if self.extra is not None:
            lines.append(f"extra {to_base64(self.extra)}")
        lines += [f"index {self.index}", *(to_base64(node) for node in self.path)]
        return "\n".join(lines).encode() + b"\n\n" + self.note

    def verify(
        self, leaf: Digest, policy: Policy, log: VerifierKey | None = None
    ) -> SignedCheckpoint:
        """Return the checkpoint if it holds the leaf of that hash at the index, by the policy.

        Raises NoQuorumError, SignatureInvalidError and other PeerErrors when it does not.
        """
        signed = policy.open(self.note, log)
        tree = signed.checkpoint
        verify_inclusion(leaf, self.index, tree.size, self.path, tree.root)
        return signed


def hashes(lines: list[str]) -> tuple[Digest, ...]:
    """Read one hash a line; raises MalformedError, also for more than a proof can have."""
    if len(lines) > PATH_HASHES:
        raise MalformedError(f"a proof of {len(lines)} hashes; {PATH_HASHES} are allowed")
    found = tuple(Digest(from_base64(line)) for line in lines)
    for node in found:
        if len(node) != DIGEST_BYTES:
            raise MalformedError(f"hash of {len(node)} bytes in a proof")
    return found


def _ascii(raw: bytes) -> str:
    try:
        return raw.decode("ascii")
    except UnicodeDecodeError as err:
        raise MalformedError("a proof's own lines are ASCII") from err
