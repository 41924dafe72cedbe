"""Tables. Those of the log come first; `replay` rebuilds all tables below the line from it.

Rows of the log are inserted and never changed, except for the head and the growing right edge of
the tiles. Keys and digests are raw bytes, times are Unix milliseconds, amounts are GFLOP.

Indices with a condition have the same one on PostgreSQL: it is in the migrations alone, because
SQLAlchemy would load that dialect at every start to check the name of an argument.
"""

from __future__ import annotations

from typing import Annotated

from sqlalchemy import JSON, BigInteger, ForeignKey, Identity, Index, Integer, LargeBinary, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

# SQLite gives a row id its fast path only under the name INTEGER
Whole = BigInteger().with_variant(Integer, "sqlite")
Serial = Annotated[int, mapped_column(Whole, primary_key=True, autoincrement=False)]
Number = Annotated[int, mapped_column(Whole)]
Hash = Annotated[bytes, mapped_column(LargeBinary(32))]
Bytes = Annotated[bytes, mapped_column(LargeBinary)]


class Base(DeclarativeBase):
    """All tables of the ledger."""


class LogHead(Base):
    """Size and root of the log: one row, swapped against its old size and term."""

    __tablename__ = "log_head"
    log_id: Mapped[Serial]
    origin: Mapped[str]
    size: Mapped[Number]
    root: Mapped[Hash]
    term: Mapped[Number]


class LogEntry(Base):
    """One signed statement as it was received."""

    # Columns beside the leaf are copies from it, for queries; each start compares them with it.
    __tablename__ = "log_entry"
    idx: Mapped[Serial]
    id: Mapped[Hash] = mapped_column(unique=True)
    leaf: Mapped[Bytes]
    type: Mapped[str]
    author: Mapped[Hash]
    run: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    round: Mapped[int | None] = mapped_column(Whole)
    at: Mapped[Number]
    """Time at which the ledger accepted it; not part of the log, so no derived row may use it."""
    __table_args__ = (
        Index("log_entry_author", "author", "idx"),
        Index("log_entry_round", "run", "round", "idx"),
        Index("log_entry_snapshot", "idx", sqlite_where=text("type = 'log.snapshot'")),
    )


class LogTile(Base):
    """One tile of hashes; every partial tile that was served is a prefix of it."""

    __tablename__ = "log_tile"
    level: Mapped[Serial]
    n: Mapped[Serial]
    data: Mapped[Bytes]


class LogCheckpoint(Base):
    """One signed checkpoint per size: the key makes a second root for a size impossible."""

    __tablename__ = "log_checkpoint"
    size: Mapped[Serial]
    root: Mapped[Hash]
    note: Mapped[Bytes]
    at: Mapped[Number]


class LogCosigned(Base):
    """One checkpoint that enough witnesses cosigned, as it was published."""

    __tablename__ = "log_cosigned"
    size: Mapped[Serial]
    note: Mapped[Bytes]
    at: Mapped[Number]


class Blob(Base):
    """One blob in the folder, and its author (none for the coordinator's own)."""

    __tablename__ = "blob"
    sha256: Mapped[Hash] = mapped_column(primary_key=True)
    size: Mapped[Number]
    author: Mapped[bytes | None] = mapped_column(LargeBinary(32), index=True)
    at: Mapped[Number]


class LogMark(Base):
    """The mark that forbids signing to all processes of a ledger; no row while it is allowed."""

    __tablename__ = "log_mark"
    log_id: Mapped[Serial]
    mark: Mapped[Bytes]


class SubmissionRow(Base):
    """Leaves that one process forwards to the one that writes the log, and its answer.

    No receipt depends on these rows: the table need not survive a crash of the database.
    """

    __tablename__ = "submission"
    n: Mapped[int] = mapped_column(Whole, Identity(), primary_key=True)
    replica: Mapped[bytes] = mapped_column(LargeBinary(16))
    leaves: Mapped[Bytes]
    """A bundle."""
    answer: Mapped[bytes | None] = mapped_column(LargeBinary)
    at: Mapped[Number]


class NewsPosition(Base):
    """How far the news are posted to one webhook; not derived from the log, so replay keeps it."""

    __tablename__ = "news_position"
    hook: Mapped[Hash] = mapped_column(primary_key=True)
    """Digest of the network and of the place that the news go to."""
    position: Mapped[Number]
    """Entries before this index need no posting any more; it never moves back."""


# ---- derived: dropped and rebuilt by replay ----


class Peer(Base):
    """One registered key, the end of its chain of statements, and what it earned."""

    __tablename__ = "peer"
    key: Mapped[Hash] = mapped_column(primary_key=True)
    registered_index: Mapped[Number] = mapped_column(index=True)
    last_seq: Mapped[Number]
    last_hash: Mapped[Hash]
    gflop: Mapped[Number]
    unvested: Mapped[Number]
    forfeited: Mapped[Number]
    recovery: Mapped[Hash | None]
    replaces: Mapped[Hash | None]
    replaced_by: Mapped[Hash | None]
    name: Mapped[str] = mapped_column(server_default="")
    """Public name; empty without one."""
    badges: Mapped[list[tuple[str, int]]] = mapped_column(JSON, server_default="[]")
    """Badges and the entries that prove them."""
    accepted: Mapped[Number] = mapped_column(server_default="0")
    """Accepted contributions."""
    streak_day: Mapped[Number] = mapped_column(server_default="0")
    """Day of the last one, counted from 1970 (UTC)."""
    streak_days: Mapped[Number] = mapped_column(server_default="0")
    """Days in a row with one, up to that day."""
    team: Mapped[Number] = mapped_column(server_default="0")
    """Team for which the key earns, by the entry that founded it; 0 without one."""
    __table_args__ = (Index("peer_rank", text("gflop DESC"), "registered_index", "key", "name"),)


class PeerStanding(Base):
    """The standing of one key, and the entries that caused it."""

    __tablename__ = "standing"
    peer: Mapped[Hash] = mapped_column(ForeignKey("peer.key"), primary_key=True)
    standing: Mapped[str]
    since: Mapped[Number]
    """Log index of the entry that caused it."""
    cause: Mapped[int | None] = mapped_column(Whole)
    """Code in the standing.change; none if another entry caused it."""
    evidence: Mapped[list[int]] = mapped_column(JSON)
    """Log indices."""
    until: Mapped[Number]
    """End of a quarantine's term, ms; otherwise 0."""
    appeal: Mapped[int | None] = mapped_column(Whole)
    """Log index of the appeal that is open."""
    __table_args__ = (Index("standing_since", "standing", "since"),)


class KeyTier(Base):
    """Tier and owner of one key, as the log states; keys without a row are anonymous."""

    __tablename__ = "tier"
    peer: Mapped[Hash] = mapped_column(ForeignKey("peer.key"), primary_key=True)
    tier: Mapped[Number]
    owner: Mapped[Hash]
    run: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    """The only run for which the key was invited."""
    until: Mapped[Number]
    """End of the vouch, ms; otherwise 0."""
    since: Mapped[int | None] = mapped_column(Whole)
    """Log index of the entry that set the tier; none when a vouch has expired."""


class OpenedRun(Base):
    """One run, by the digest of its manifest."""

    __tablename__ = "run"
    run: Mapped[Hash] = mapped_column(primary_key=True)
    opened_index: Mapped[Number] = mapped_column(index=True)
    manifest: Mapped[Hash]


class Round(Base):
    """One round of a run: where it opened, how it ended."""

    __tablename__ = "round"
    run: Mapped[Hash] = mapped_column(ForeignKey("run.run"), primary_key=True)
    round: Mapped[Serial]
    roster_index: Mapped[Number]
    roster: Mapped[Hash]
    """Digest of its roster document."""
    opened_index: Mapped[int | None] = mapped_column(Whole)
    closed_index: Mapped[int | None] = mapped_column(Whole, index=True)
    outcome: Mapped[str]
    """open, closed or void."""
    accepted: Mapped[Number]
    head: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    """The head that the round started from."""
    result: Mapped[bytes | None] = mapped_column(LargeBinary(32))
    """Digest of its result document."""
    opened_ms: Mapped[int | None] = mapped_column(Whole)
    """Start, as `ended_ms` is the end, by the coordinator's clock."""
    ended_ms: Mapped[int | None] = mapped_column(Whole, index=True)
    tokens: Mapped[Number]
    """Sum over all accepted contributions."""
    loss_q16: Mapped[int | None] = mapped_column(Whole)
    """Median of the losses that its accepted trainers claim, in 2^-16 nats a token."""


class Credit(Base):
    """Points of one peer in one round, by kind of duty."""

    __tablename__ = "credit"
    run: Mapped[Hash] = mapped_column(ForeignKey("run.run"), primary_key=True)
    round: Mapped[Serial]
    peer: Mapped[Hash] = mapped_column(ForeignKey("peer.key"), primary_key=True)
    kind: Mapped[str] = mapped_column(primary_key=True)
    """trainer or witness."""
    gflop: Mapped[Number]
    team: Mapped[Number] = mapped_column(server_default="0")
    """Team of the peer when the round closed, by the entry that founded it; 0 without one."""
    __table_args__ = (
        Index("credit_team", "team", "peer", "gflop", sqlite_where=text("team <> 0")),
    )


class Measured(Base):
    """Measurement of one head by one drawn member, by the round that made the head."""

    __tablename__ = "measured"
    run: Mapped[Hash] = mapped_column(ForeignKey("run.run"), primary_key=True)
    round: Mapped[Serial]
    peer: Mapped[Hash] = mapped_column(ForeignKey("peer.key"), primary_key=True)
    entry: Mapped[Number]
    """Log index."""
    head: Mapped[Hash]
    millibits: Mapped[Number]
    size_bytes: Mapped[Number]
    tokens: Mapped[Number]
    prompt: Mapped[str | None]
    """Prompt of the sample, as `written` is its text; both or neither."""
    written: Mapped[str | None]


class Attended(Base):
    """One key in the roster of one finished round; an entry ends only one round."""

    __tablename__ = "attended"
    peer: Mapped[Hash] = mapped_column(ForeignKey("peer.key"), primary_key=True)
    closed_index: Mapped[Serial]
    # The key is the whole row: SQLite would store it twice, in the table and in the key's index.
    __table_args__ = {"sqlite_with_rowid": False}  # noqa: RUF012 - SQLAlchemy's own name


DERIVED = (Attended, Measured, Credit, Round, OpenedRun, KeyTier, PeerStanding, Peer)
"""Children first: the order in which the tables can be emptied."""
