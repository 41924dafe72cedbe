"""Tables. Those of the log come first; `replay` rebuilds all tables below the line from it.

Rows of the log are inserted and never changed, except for the head and the growing right edge of
the tiles. Keys and digests are raw bytes, times are Unix milliseconds, amounts are GFLOP.

Indices with a condition have the same one on PostgreSQL: the first revision copies it, because with
its name here SQLAlchemy would load that dialect at every start to check it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Named,
    Table,
    TypedColumns,
    text,
)

METADATA = MetaData()
# SQLite gives a row id its fast path only under the name INTEGER
Whole = BigInteger().with_variant(Integer, "sqlite")


def _serial() -> Column[int]:
    """A number that is the row's key, or a part of it."""
    return Column(Whole, primary_key=True, autoincrement=False)


def _number(**options: Any) -> Column[int]:  # noqa: ANN401 - options of a column
    return Column(Whole, nullable=False, **options)


def _hash(*references: ForeignKey, **options: Any) -> Column[bytes]:  # noqa: ANN401 - as above
    return Column(LargeBinary(32), *references, nullable=False, **options)


class LogHeadColumns(TypedColumns):
    """Size and root of the log: one row, swapped against its old size and term."""

    log_id = _serial()
    origin: Named[str]
    size = _number()
    root = _hash()
    term = _number()


LOG_HEAD = Table("log_head", METADATA, LogHeadColumns)


class LogEntryColumns(TypedColumns):
    """One signed statement as it was received."""

    # Columns beside the leaf are copies from it, for queries; each start compares them with it.
    idx = _serial()
    id = _hash(unique=True)
    leaf: Named[bytes]
    type: Named[str]
    author = _hash()
    run: Named[bytes | None] = Column(LargeBinary(32))
    round: Named[int | None] = Column(Whole)
    at = _number()
    """Time at which the ledger accepted it; not part of the log, so no derived row may use it."""


LOG_ENTRY = Table(
    "log_entry",
    METADATA,
    LogEntryColumns,
    Index("log_entry_author", "author", "idx"),
    Index("log_entry_round", "run", "round", "idx"),
    Index("log_entry_snapshot", "idx", sqlite_where=text("type = 'log.snapshot'")),
)


class LogTileColumns(TypedColumns):
    """One tile of hashes; every partial tile that was served is a prefix of it."""

    level = _serial()
    n = _serial()
    data: Named[bytes]


LOG_TILE = Table("log_tile", METADATA, LogTileColumns)


class LogCheckpointColumns(TypedColumns):
    """One signed checkpoint per size: the key makes a second root for a size impossible."""

    size = _serial()
    root = _hash()
    note: Named[bytes]
    at = _number()


LOG_CHECKPOINT = Table("log_checkpoint", METADATA, LogCheckpointColumns)


class LogCosignedColumns(TypedColumns):
    """One checkpoint that enough witnesses cosigned, as it was published."""

    size = _serial()
    note: Named[bytes]
    at = _number()


LOG_COSIGNED = Table("log_cosigned", METADATA, LogCosignedColumns)


class BlobColumns(TypedColumns):
    """One blob in the folder, and its author (none for the coordinator's own)."""

    sha256 = _hash(primary_key=True)
    size = _number()
    author: Named[bytes | None] = Column(LargeBinary(32), index=True)
    at = _number()


BLOB = Table("blob", METADATA, BlobColumns)


class LogMarkColumns(TypedColumns):
    """The mark that forbids signing to all processes of a ledger; no row while it is allowed."""

    log_id = _serial()
    mark: Named[bytes]


LOG_MARK = Table("log_mark", METADATA, LogMarkColumns)


class SubmissionRowColumns(TypedColumns):
    """Leaves that one process forwards to the one that writes the log, and its answer.

    No receipt depends on these rows: the table need not survive a crash of the database.
    """

    n: Named[int] = Column(Whole, Identity(), primary_key=True)
    replica: Named[bytes] = Column(LargeBinary(16))
    leaves: Named[bytes]
    """A bundle."""
    answer: Named[bytes | None] = Column(LargeBinary)
    at = _number()


SUBMISSION = Table("submission", METADATA, SubmissionRowColumns)


class SentPositionColumns(TypedColumns):
    """How far the log was sent to one place; not derived from the log, so replay keeps it."""

    place = _hash(primary_key=True)
    """Digest of the network and of the place, such as a webhook or a bucket of tiles."""
    position = _number()
    """Entries before this index need no sending any more; it never moves back."""


SENT_POSITION = Table("sent_position", METADATA, SentPositionColumns)


# ---- derived: dropped and rebuilt by replay ----


class PeerColumns(TypedColumns):
    """One registered key, the end of its chain of statements, and what it earned."""

    key = _hash(primary_key=True)
    registered_index = _number(index=True)
    last_seq = _number()
    last_hash = _hash()
    gflop = _number()
    unvested = _number()
    forfeited = _number()
    received = _number(server_default="0")
    """Part of `gflop` for the work of other keys."""
    recovery: Named[bytes | None] = Column(LargeBinary(32))
    replaces: Named[bytes | None] = Column(LargeBinary(32))
    replaced_by: Named[bytes | None] = Column(LargeBinary(32))
    name: Named[str] = Column(server_default="")
    """Public name; empty without one."""
    badges: Named[list[tuple[str, int]]] = Column(JSON, server_default="[]")
    """Badges and the entries that prove them."""
    accepted = _number(server_default="0")
    """Accepted contributions."""
    streak_day = _number(server_default="0")
    """Day of the last one, counted from 1970 (UTC)."""
    streak_days = _number(server_default="0")
    """Days in a row with one, up to that day."""
    team = _number(server_default="0")
    """Team for which the key earns, by the entry that founded it; 0 without one."""


PEER = Table(
    "peer",
    METADATA,
    PeerColumns,
    Index("peer_rank", text("gflop DESC"), "registered_index", "key", "name"),
)


class StandingColumns(TypedColumns):
    """The standing of one key, and the entries that caused it."""

    peer = _hash(ForeignKey("peer.key"), primary_key=True)
    standing: Named[str]
    since = _number()
    """Log index of the entry that caused it."""
    cause: Named[int | None] = Column(Whole)
    """Code in the standing.change; none if another entry caused it."""
    evidence: Named[list[int]] = Column(JSON)
    """Log indices."""
    until = _number()
    """End of a quarantine's term, ms; otherwise 0."""
    appeal: Named[int | None] = Column(Whole)
    """Log index of the appeal that is open."""
    is_restricted: Named[bool]
    """Rankings of teams and of days leave its points out; of a revoked key, its record decides."""


STANDING = Table(
    "standing",
    METADATA,
    StandingColumns,
    Index("standing_since", "standing", "since"),
    Index("standing_restricted", "peer", sqlite_where=text("is_restricted")),
    Index("standing_appeal", "since", sqlite_where=text("appeal IS NOT NULL")),
)


class TierColumns(TypedColumns):
    """Tier and owner of one key, as the log states; keys without a row are anonymous."""

    peer = _hash(ForeignKey("peer.key"), primary_key=True)
    tier = _number()
    owner = _hash()
    run: Named[bytes | None] = Column(LargeBinary(32))
    """The only run for which the key was invited."""
    until = _number()
    """End of the vouch, ms; otherwise 0."""
    since: Named[int | None] = Column(Whole)
    """Log index of the entry that set the tier; none when a vouch has expired."""


TIER = Table("tier", METADATA, TierColumns)


class OpenedRunColumns(TypedColumns):
    """One run, by the digest of its manifest."""

    run = _hash(primary_key=True)
    opened_index = _number(index=True)
    manifest = _hash()


OPENED_RUN = Table("run", METADATA, OpenedRunColumns)


class RoundColumns(TypedColumns):
    """One round of a run: where it opened, how it ended."""

    run = _hash(ForeignKey("run.run"), primary_key=True)
    round = _serial()
    roster_index = _number()
    roster = _hash()
    """Digest of its roster document."""
    opened_index: Named[int | None] = Column(Whole)
    closed_index: Named[int | None] = Column(Whole, index=True)
    outcome: Named[str]
    """open, closed or void."""
    accepted = _number()
    head: Named[bytes | None] = Column(LargeBinary(32), index=True)
    """The head that the round started from."""
    result: Named[bytes | None] = Column(LargeBinary(32))
    """Digest of its result document."""
    opened_ms: Named[int | None] = Column(Whole)
    """Start, as `ended_ms` is the end, by the coordinator's clock."""
    ended_ms: Named[int | None] = Column(Whole, index=True)
    tokens = _number()
    """Sum over all accepted contributions."""
    loss_q16: Named[int | None] = Column(Whole)
    """Median of the losses that its accepted trainers claim, in 2^-16 nats a token."""


ROUND = Table("round", METADATA, RoundColumns)


class CreditColumns(TypedColumns):
    """Points of one peer in one round, by kind and by the key that did the work."""

    run = _hash(ForeignKey("run.run"), primary_key=True)
    round = _serial()
    peer = _hash(ForeignKey("peer.key"), primary_key=True)
    kind: Named[str] = Column(primary_key=True)
    """trainer, witness or received."""
    author = _hash(primary_key=True)
    """Key that did the work: the peer itself, unless the points are received."""
    gflop = _number()
    team = _number(server_default="0")
    """Team of the author when the round closed, by the entry that founded it; 0 without one."""


CREDIT = Table(
    "credit",
    METADATA,
    CreditColumns,
    Index("credit_team", "team", "author", "gflop", sqlite_where=text("team <> 0")),
)


class MeasuredColumns(TypedColumns):
    """Measurement of one head by one drawn member, by the round that made the head."""

    run = _hash(ForeignKey("run.run"), primary_key=True)
    round = _serial()
    peer = _hash(ForeignKey("peer.key"), primary_key=True)
    entry = _number()
    """Log index."""
    head = _hash()
    millibits = _number()
    size_bytes = _number()
    tokens = _number()
    prompt: Named[str | None]
    """Prompt of the sample, as `written` is its text; both or neither."""
    written: Named[str | None]
    tasks: Named[str | None]
    """JSON of the counts of the run's tasks."""


MEASURED = Table("measured", METADATA, MeasuredColumns)


class AttendedColumns(TypedColumns):
    """One key in the roster of one finished round, or paid there; an entry ends one round."""

    peer = _hash(ForeignKey("peer.key"), primary_key=True)
    closed_index = _serial()


ATTENDED = Table(
    "attended",
    METADATA,
    AttendedColumns,
    sqlite_with_rowid=False,
)


DERIVED = (ATTENDED, MEASURED, CREDIT, ROUND, OPENED_RUN, TIER, STANDING, PEER)
"""Children first: the order in which the tables can be emptied."""
