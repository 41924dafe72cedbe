"""The genesis document: what a network fixes for ever, and by whose hash it is named.

It is canonical JSON; entry 0 of the log carries its bytes, and the network id is their SHA-256.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tequio_shared import canonical
from tequio_shared.errors import MalformedError
from tequio_shared.fields import Bytes32Text
from tequio_shared.ids import NetworkId, PeerKey, key_from_text, sha256
from tequio_shared.limits import STATEMENT_BYTES

NetworkName = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9-]{0,31}\Z")]
WORK_BITS = 32
"""Most bits of work that a network may ask of a new key: an hour of one core, and not for ever."""
Origin = Annotated[str, Meta(pattern=r"\A[a-z0-9][a-z0-9.:/_-]{0,127}\Z")]


class Genesis(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Who runs the network, under which keys and rules."""

    name: NetworkName
    origin: Origin
    """Name of the log in its checkpoints."""
    log_key: Annotated[str, Meta(max_length=512)]
    """Verifier key of the log (C2SP signed-note)."""
    coordinator: Bytes32Text
    """The key that opens and closes rounds."""
    organisers: tuple[Bytes32Text, ...]
    """Ascending, none twice; the keys that open, pause and finish runs."""
    threshold: Annotated[int, Meta(ge=1, le=16)]
    """How many organisers must sign such a statement."""
    rules: Bytes32Text
    """SHA-256 of the rule set: the limits that both ends agree on."""
    work_bits: Annotated[int, Meta(ge=0, le=WORK_BITS)]
    """Zero bits that the work of a new key has to show."""

    def __post_init__(self) -> None:
        keys = [key_from_text(text) for text in self.organisers]
        if keys != sorted(set(keys)):
            raise MalformedError("genesis: organisers are not ascending and single")

    def encode(self) -> bytes:
        """The canonical bytes."""
        return canonical.encode(self)

    @classmethod
    def parse(cls, raw: bytes) -> Genesis:
        """Read a genesis document; raises MalformedError."""
        return canonical.decode(raw, cls, STATEMENT_BYTES)

    @property
    def network_id(self) -> NetworkId:
        """The network's name: SHA-256 of the document."""
        return NetworkId(sha256(self.encode()))

    @property
    def coordinator_key(self) -> PeerKey:
        """The coordinator's key."""
        return key_from_text(self.coordinator)

    @property
    def organiser_keys(self) -> frozenset[PeerKey]:
        """The organisers' keys."""
        return frozenset(key_from_text(text) for text in self.organisers)
