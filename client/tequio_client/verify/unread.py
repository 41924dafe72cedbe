"""Entries of a type that this program does not know: who signed them can be read all the same.

Whatever a later version says, the leaf begins with keys and signatures over the statement's bytes.
So nobody can put such an entry into others' mouths, to make an audit doubt what it folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tequio_shared import canonical, keys
from tequio_shared.ids import sha256, to_text
from tequio_shared.limits import STATEMENT_BYTES
from tequio_shared.statement import cut, signed_message

if TYPE_CHECKING:
    from tequio_shared.ids import Digest, NetworkId, PeerKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Unread:
    """Such an entry; `seq` and `prev` are None where it has none as we know them."""

    signatures: tuple[tuple[PeerKey, bytes], ...]
    raw: bytes
    seq: int | None
    prev: str | None

    @classmethod
    def parse(cls, leaf: bytes) -> Unread:
        """Read who signed; raises MalformedError."""
        signatures, raw = cut(leaf)
        tree = canonical.parse(raw, STATEMENT_BYTES)
        fields = tree if isinstance(tree, dict) else {}
        seq, prev = fields.get("seq"), fields.get("prev")
        return cls(
            signatures=signatures,
            raw=raw,
            seq=seq if type(seq) is int else None,
            prev=prev if isinstance(prev, str) else None,
        )

    @property
    def author(self) -> PeerKey:
        """Who signed first."""
        return self.signatures[0][0]

    @property
    def digest(self) -> Digest:
        """What the author's next statement names as `prev`."""
        return sha256(self.raw)

    def follows(self, seq: int, last: Digest) -> bool:
        """Whether it may come after the author's statement with that number and digest."""
        is_later = self.seq is None or self.seq > seq
        return is_later and self.prev in (None, to_text(last))

    def verify(self, net: NetworkId) -> None:
        """Return if every signature holds in this network; raises SignatureInvalidError."""
        message = signed_message(net, self.raw)
        for key, signature in self.signatures:
            keys.verify(key, signature, message)
