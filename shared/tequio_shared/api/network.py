"""Answers about a network: genesis, health of its ledger, seeds, invitations, connectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Raw, Struct

from tequio_shared.api.answer import ROWS, AsOf, LongText, Rows, Text
from tequio_shared.errors import PeerError
from tequio_shared.ids import Bytes32Text, BytesText, Natural, Positive, from_text, sha256
from tequio_shared.log.notes import KeyKind, VerifierKey
from tequio_shared.network.genesis import Genesis


class NetworkAnswer(Struct, frozen=True, kw_only=True):
    """Identity of the network; `genesis` is the document, base64url."""

    network_id: Bytes32Text
    name: Text
    genesis: BytesText
    origin: LongText
    log_key: LongText
    coordinator: Bytes32Text
    software: Text
    as_of: AsOf

    def checked_genesis(self) -> Genesis:
        """Parse the genesis document, and check the rest of the answer against it.

        Raises MalformedError for an invalid document, SignatureInvalidError for an unacceptable
        log key, and PeerError when the answer contradicts the document.
        """
        document = from_text(self.genesis, None)
        if sha256(document) != from_text(self.network_id):
            raise PeerError(f"the genesis document does not match network {self.network_id}")
        genesis = Genesis.parse(document)
        claimed = (self.origin, self.log_key, self.coordinator)
        if claimed != (genesis.origin, genesis.log_key, genesis.coordinator):
            raise PeerError("origin, log key or coordinator differs from the genesis document")
        log_key = VerifierKey.parse(genesis.log_key)
        if log_key.kind is not KeyKind.LOG or log_key.name != genesis.origin:
            raise PeerError(f"the log key of {genesis.origin} has another name or kind")
        return genesis


class HealthAnswer(Struct, frozen=True, omit_defaults=True):
    """One word, and a sentence unless it is `ok`."""

    status: Text
    detail: str | None = None


class SeedsAnswer(Struct, frozen=True):
    """Current address records as their peers signed them, newest first; JSON, unchecked."""

    seeds: Annotated[Sequence[Raw], Meta(max_length=ROWS)]


class InvitationAnswer(Struct, frozen=True, kw_only=True):
    """One invitation, and the number of keys it has admitted so far."""

    invitation: Bytes32Text
    index: Natural
    uses: Positive
    used: Natural
    until: Natural
    run: Bytes32Text | None
    closed: Natural | None
    revoked: Natural | None


class InvitationsAnswer(Struct, frozen=True):
    """A page of invitations in the order of their opening; continue after `next`."""

    invitations: Rows[InvitationAnswer]
    next: Natural | None
    as_of: AsOf


class ConnectorAnswer(Struct, frozen=True, kw_only=True):
    """One key that may vouch for others, and the end of its role."""

    key: Bytes32Text
    until: Natural


class ConnectorsAnswer(Struct, frozen=True):
    """All connectors that are not revoked, by key."""

    connectors: Rows[ConnectorAnswer]
    as_of: AsOf
