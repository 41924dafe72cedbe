"""What the ledger answers, as types: parsed once, sizes bounded, and nothing in it believed yet.

Fields that this version does not know are passed over: a newer ledger may say more.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, Self, TypeVar

import msgspec
import structlog
from msgspec import Meta, Struct

from tequio_client import naming
from tequio_client.foreign_text import cleaned
from tequio_shared.addresses import AddressRecord
from tequio_shared.errors import MalformedError, PeerError
from tequio_shared.fields import Bytes32Text, BytesText, Natural, Prompt, Written
from tequio_shared.genesis import Genesis
from tequio_shared.ids import (
    Digest,
    HeadHash,
    NetworkId,
    RunId,
    digest_from_text,
    from_text,
    sha256,
)
from tequio_shared.notes import KeyKind, VerifierKey
from tequio_shared.statements.checkpoints import RepoText, RevisionText
from tequio_shared.statements.standing import EVIDENCE

log = structlog.get_logger(__name__)

_T = TypeVar("_T")
SAID_CHARACTERS = 500
"""What is kept of a ledger's own words: it may say anything, and they are shown and logged."""
_Text = Annotated[str, Meta(max_length=128, pattern=r"\A[ -~]*\Z")]

ROWS = 1_000
"""Most rows in one answer, of any kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network whose genesis document has the hash that names it."""

    id: NetworkId
    genesis: Genesis
    log_key: VerifierKey

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Read `/v1/network`.

        Raises MalformedError, SignatureInvalidError for an unacceptable log key, and PeerError
        when the answer contradicts the genesis document.
        """
        answer = parse_answer(raw, _NetworkAnswer)
        document = from_text(answer.genesis, None)
        if sha256(document) != from_text(answer.network_id):
            raise PeerError(f"the genesis document is not that of network {answer.network_id}")
        genesis = Genesis.parse(document)
        said = (answer.origin, answer.log_key, answer.coordinator)
        if said != (genesis.origin, genesis.log_key, genesis.coordinator):
            raise PeerError("the ledger's origin, log key or coordinator is not the genesis'")
        log_key = VerifierKey.parse(genesis.log_key)
        if log_key.kind is not KeyKind.LOG or log_key.name != genesis.origin:
            raise PeerError(f"the log key of {genesis.origin} has another name or kind")
        return cls(id=genesis.network_id, genesis=genesis, log_key=log_key)


class AsOf(Struct, frozen=True):
    """The log that a derived answer was read from."""

    size: Natural
    root: Bytes32Text


class Resume(Struct, frozen=True):
    """Where a worker that joins a run starts to read the log."""

    after: Natural
    """Index of the run's last round.close, round.void or run.open."""
    head: Natural | None = None
    """Index of the last head.promote at or before that."""
    close: Natural | None = None
    """Index of the last round.close that has no promotion before `after`."""


class PublishedAnswer(Struct, frozen=True):
    """A head that organisers put on the Hugging Face Hub, by the entry that says so."""

    round: Natural
    repo: RepoText
    revision: RevisionText
    index: Natural


class WrittenAnswer(Struct, frozen=True):
    """What the head after a round writes, by the word of a drawn member."""

    round: Natural
    prompt: Prompt
    text: Written


class RunAnswer(Struct, frozen=True):
    """One run as the ledger sees it."""

    run: Bytes32Text
    name: _Text
    manifest: Bytes32Text
    state: _Text
    round: Natural
    members: Natural
    tokens: Natural
    opened_index: Natural
    closed: Natural = 0
    voided: Natural = 0
    phase: _Text | None = None
    roster_index: Natural | None = None
    head: Bytes32Text | None = None
    head_round: Natural | None = None
    weights_root: Bytes32Text | None = None
    published: Annotated[tuple[PublishedAnswer, ...], Meta(max_length=ROWS)] = ()
    sample: WrittenAnswer | None = None
    """The newest, the last round first."""
    resume: Resume | None = None
    as_of: AsOf | None = None

    @property
    def id(self) -> RunId:
        """The run."""
        return RunId(digest_from_text(self.run))

    def fits(self, wanted: str | None) -> bool:
        """Whether a person who says `wanted` may mean this run: its name, or how its id begins."""
        return not wanted or naming.fits(self.name, self.run, wanted)

    @property
    def manifest_digest(self) -> Digest:
        """SHA-256 of the manifest, a blob."""
        return digest_from_text(self.manifest)

    @property
    def head_hash(self) -> HeadHash | None:
        """The last promoted head."""
        return None if self.head is None else HeadHash(digest_from_text(self.head))


class RoundAnswer(Struct, frozen=True):
    """One round of a run as the ledger sees it; `roster` and `result` are blobs."""

    round: Natural
    outcome: _Text
    roster_index: Natural
    roster: Bytes32Text
    accepted: Natural
    opened_index: Natural | None = None
    closed_index: Natural | None = None
    head: Bytes32Text | None = None
    result: Bytes32Text | None = None
    loss_q16: Natural | None = None
    """Median of what its accepted trainers claim, in 2^-16 nats a token."""


class StandingAnswer(Struct, frozen=True):
    """What a key is worth in the network, and the log entries that say why."""

    standing: _Text
    since: Natural
    cause: Natural | None = None
    evidence: Annotated[tuple[Natural, ...], Meta(max_length=EVIDENCE)] = ()
    until: Natural = 0
    """End of a quarantine's term in milliseconds since 1970."""
    appeal: Natural | None = None


class TierAnswer(Struct, frozen=True):
    """Who is behind a key, and the log entry that says so."""

    tier: Natural
    owner: Bytes32Text
    run: Bytes32Text | None = None
    until: Natural = 0
    since: Natural | None = None


class InvitationAnswer(Struct, frozen=True):
    """One invitation, and how many keys it let in so far."""

    invitation: Bytes32Text
    index: Natural
    uses: Natural
    used: Natural
    until: Natural
    run: Bytes32Text | None = None
    closed: Natural | None = None
    revoked: Natural | None = None


class InvitationsAnswer(Struct, frozen=True):
    """A page of them; go on after `next`."""

    invitations: Annotated[tuple[InvitationAnswer, ...], Meta(max_length=ROWS)]
    next: Natural | None = None


class ConnectorAnswer(Struct, frozen=True):
    """One key that may vouch for others, and until when."""

    key: Bytes32Text
    until: Natural


class ConnectorsAnswer(Struct, frozen=True):
    """All of them."""

    connectors: Annotated[tuple[ConnectorAnswer, ...], Meta(max_length=ROWS)]


class Held(Struct, frozen=True):
    """One key that is quarantined, banned, suspected or on probation."""

    key: Bytes32Text
    standing: StandingAnswer


class QuarantineAnswer(Struct, frozen=True):
    """A page of them; go on after `next`."""

    peers: Annotated[tuple[Held, ...], Meta(max_length=ROWS)]
    next: Natural | None = None


class PeerAnswer(Struct, frozen=True):
    """One key's account: where its chain of statements ends and what it earned."""

    key: Bytes32Text
    registered_index: Natural
    last_seq: Natural
    last_hash: Bytes32Text
    """Digest of its last logged statement; zero when there is none."""
    micropoints: Natural
    standing: StandingAnswer | None = None
    tier: TierAnswer | None = None
    as_of: AsOf | None = None

    @property
    def last(self) -> Digest:
        """Digest of the last logged statement, zero when there is none."""
        return digest_from_text(self.last_hash)


class AttendedAnswer(Struct, frozen=True):
    """One round that a key was in and that is over, and what it is said to have earned there."""

    run: Bytes32Text
    round: Natural
    roster_index: Natural
    closed_index: Natural
    outcome: _Text
    micropoints: Natural


class PeerRoundsAnswer(Struct, frozen=True):
    """A page of a key's rounds, the last ended first; go on before `next`."""

    rounds: Annotated[tuple[AttendedAnswer, ...], Meta(max_length=ROWS)]
    next: Natural | None = None
    as_of: AsOf | None = None


class RankedAnswer(Struct, frozen=True):
    """One key's place by points, from 1 on."""

    rank: Natural
    key: Bytes32Text
    micropoints: Natural


class RankingAnswer(Struct, frozen=True):
    """Some keys by points, the best first, and how many have any."""

    rows: Annotated[tuple[RankedAnswer, ...], Meta(max_length=ROWS)]
    ranked: Natural
    as_of: AsOf | None = None


class Posted(Struct, frozen=True):
    """What became of one statement."""

    id: Bytes32Text
    status: Literal["logged", "known", "refused"]
    index: Natural | None = None
    code: _Text | None = None
    detail: str | None = None

    @property
    def said(self) -> str:
        """Its detail, fit to be shown; empty where there is none."""
        return cleaned(self.detail or "", SAID_CHARACTERS)


class PostedAnswer(Struct, frozen=True):
    """What became of a batch, in its order."""

    items: Annotated[tuple[Posted, ...], Meta(max_length=ROWS)]


class RunsAnswer(Struct, frozen=True):
    """A page of the network's runs, the oldest first; go on after `next`."""

    runs: Annotated[tuple[RunAnswer, ...], Meta(max_length=ROWS)]
    next: Natural | None = None


class RoundsAnswer(Struct, frozen=True):
    """Rounds of a run, ascending."""

    rounds: Annotated[tuple[RoundAnswer, ...], Meta(max_length=ROWS)]


class SeedsAnswer(Struct, frozen=True):
    """Address records as JSON, the newest first."""

    seeds: Annotated[tuple[msgspec.Raw, ...], Meta(max_length=ROWS)]

    def records(self, net: NetworkId) -> tuple[AddressRecord, ...]:
        """Parse and verify them; those that do not hold in that network are left out."""
        records = (_record(bytes(raw), net) for raw in self.seeds)
        return tuple(record for record in records if record is not None)


class Problem(Struct, frozen=True):
    """A refusal (RFC 9457)."""

    type: str = ""
    title: str = ""
    detail: str = ""

    @property
    def code(self) -> str:
        """The problem code, `unnamed` when the type is not one of ours."""
        return self.type.removeprefix("urn:tequio:problem:") or "unnamed"


def parse_answer(raw: bytes, type_: type[_T]) -> _T:
    """Read JSON as a type; raises MalformedError."""
    try:
        return msgspec.json.decode(raw, type=type_, strict=True)
    except (ValueError, RecursionError) as err:  # msgspec's and Unicode's errors are ValueErrors
        raise MalformedError(f"the ledger's answer is not a {type_.__name__}: {err}") from err


def _record(raw: bytes, net: NetworkId) -> AddressRecord | None:
    try:
        record = AddressRecord.parse(raw)
        record.verify(net)
    except PeerError as err:
        log.debug("seed's address record does not hold", error=str(err))
        return None
    return record


class _NetworkAnswer(Struct, frozen=True):
    network_id: Bytes32Text
    genesis: BytesText
    origin: Annotated[str, Meta(max_length=512)]
    log_key: Annotated[str, Meta(max_length=512)]
    coordinator: Bytes32Text
