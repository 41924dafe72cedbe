"""Answers about a network (genesis, health, seeds, releases, snapshots), and about its log.

The event stream of the log has one event per entry: `id` is the log index, `event` is `entry`,
`data` the leaf in base64url. Comments are heartbeats. Both ends are here, without I/O; the reader's
memory is bounded whatever the server sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from msgspec import Meta, Raw, Struct

from tequio_shared.api.answer import ROWS, AsOf, LongText, Rows, Text
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.ids import Bytes32Text, BytesText, Natural, Positive, from_text, sha256, to_text
from tequio_shared.limits import ENTRY_BYTES
from tequio_shared.log.notes import KeyKind, VerifierKey
from tequio_shared.network.genesis import Genesis
from tequio_shared.network.releases import RELEASES, NamedRelease
from tequio_shared.network.schedule import SNAPSHOTS, StatedSnapshot

EVENT_BYTES = 2 * ENTRY_BYTES
"""Longest line, and most text in one event: base64url makes a leaf a third longer."""
HEARTBEAT = b": heartbeat\n\n"
_INDEX_DIGITS = 19


class NetworkAnswer(Struct, frozen=True, kw_only=True):
    """Identity of the network; `genesis` is the document, base64url."""

    network_id: Bytes32Text
    name: Text
    genesis: BytesText
    origin: LongText
    log_key: LongText
    coordinator: Bytes32Text
    software: Text
    tiles_url: LongText | None
    """Another place of full tiles and bundles, which a reader checks against the log."""
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
    """Current address records as their peers signed them; JSON, unchecked."""

    seeds: Annotated[Sequence[Raw], Meta(max_length=ROWS)]


class ReleaseAnswer(Struct, frozen=True, kw_only=True):
    """One list of releases that organisers named, and the entry that names it."""

    index: Natural
    version: Text
    minimum: Text
    targets: Bytes32Text
    targets_version: Positive

    @classmethod
    def of(cls, named: NamedRelease) -> Self:
        return cls(
            index=named.index,
            version=named.version,
            minimum=named.minimum,
            targets=to_text(named.targets),
            targets_version=named.targets_version,
        )


class ReleasesAnswer(Struct, frozen=True):
    """The newest releases, the newest first; `minimum` of the first one applies."""

    releases: Annotated[Sequence[ReleaseAnswer], Meta(max_length=RELEASES)]
    as_of: AsOf


class SnapshotAnswer(Struct, frozen=True, kw_only=True):
    """One snapshot of the state, and the entry that names it."""

    index: Natural
    size: Positive
    layout: Bytes32Text
    state: Bytes32Text
    """Name of the blob."""

    @classmethod
    def of(cls, stated: StatedSnapshot) -> Self:
        return cls(
            index=stated.index,
            size=stated.size,
            layout=to_text(stated.layout),
            state=to_text(stated.digest),
        )


class SnapshotsAnswer(Struct, frozen=True):
    """The newest snapshots that the log names, the newest first."""

    snapshots: Annotated[Sequence[SnapshotAnswer], Meta(max_length=SNAPSHOTS)]
    as_of: AsOf


class PostedStatement(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The outcome for one entry: logged, known or refused.

    `id` is the statement's id; for bytes that are not a statement, the SHA-256 of the leaf.
    """

    id: Bytes32Text
    status: Literal["logged", "known", "refused"]
    index: Natural | None = None
    code: Text | None = None
    detail: str | None = None
    """Text by a stranger, of any length and content: clean it before it is shown or logged."""


class PostedAnswer(Struct, frozen=True):
    """One item for each entry of the request, in its order."""

    items: Rows[PostedStatement]


class WitnessAnswer(Struct, frozen=True, kw_only=True):
    """One witness at the ledger's last request."""

    name: LongText
    key: LongText
    """Verifier key."""
    url: LongText
    size: Natural
    """Last size that it cosigned, as far as is known; 0 before the first time."""
    answer_ms: Natural | None
    problem: str | None


class WitnessesAnswer(Struct, frozen=True, kw_only=True):
    """The published part of the log: readers get `published` of the `signed` entries."""

    quorum: LongText
    published: Natural
    signed: Natural
    late_ms: Natural
    """Time that signed entries have waited for the quorum."""
    witnesses: Rows[WitnessAnswer]


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One log entry as the stream claims it; nothing is verified yet."""

    index: int
    leaf: bytes

    def encode(self) -> bytes:
        return f"id: {self.index}\nevent: entry\ndata: {to_text(self.leaf)}\n\n".encode()


class EventReader:
    """Cuts a text/event-stream into log events; do not use it again after a MalformedError."""

    def __init__(self) -> None:
        self._rest = b""  # of an incomplete line, at most EVENT_BYTES
        self._fields: dict[str, str] = {}  # of the event in progress, at most three

    def feed(self, chunk: bytes) -> list[LogEvent]:
        """Add the next bytes and return the events they complete; raises MalformedError."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > EVENT_BYTES:
            raise MalformedError(f"event line of more than {EVENT_BYTES} bytes")
        events = [self._line(line.removesuffix(b"\r")) for line in lines]
        return [event for event in events if event is not None]

    def _line(self, raw: bytes) -> LogEvent | None:
        if not raw:
            return self._complete()
        if len(raw) > EVENT_BYTES or not raw.isascii():
            raise MalformedError(f"event line of {len(raw)} bytes, which no entry has")
        name, _, value = raw.decode("ascii").partition(":")
        if name in {"id", "event", "data"}:  # others are comments and reconnection hints
            if name in self._fields:
                raise MalformedError(f"event with two {name} lines")
            self._fields[name] = value.removeprefix(" ")
        return None

    def _complete(self) -> LogEvent | None:
        fields, self._fields = self._fields, {}
        if fields.get("event") != "entry":
            return None
        leaf = from_text(fields.get("data", ""), None)
        if len(leaf) > ENTRY_BYTES:
            raise MalformedError(f"event with an entry of {len(leaf)} bytes")
        return LogEvent(_index(fields.get("id", "")), leaf)


def _index(text: str) -> int:
    if not (0 < len(text) <= _INDEX_DIGITS and text.isascii() and text.isdigit()):
        raise MalformedError(f"invalid log index {text[:60]!r}")
    return int(text)
