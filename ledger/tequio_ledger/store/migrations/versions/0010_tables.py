"""All tables: the log, blobs, what the processes of a ledger share, and what is derived.

Earlier revisions were merged into this one, which keeps the id of the last of them: a database
that they made counts as up to date.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = None
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_HASH = sa.LargeBinary(32)
_IS_SNAPSHOT = sa.text("type = 'log.snapshot'")
_IS_RESTRICTED = sa.text("is_restricted")
_IN_A_TEAM = sa.text("team <> 0")


def upgrade() -> None:
    """Make every table."""
    _make_log()
    _make_keys()
    _make_rounds()
    if _is_postgresql():
        _store_uncompressed()


def _serial(name: str) -> sa.Column[int]:
    return sa.Column(name, _WHOLE, primary_key=True, autoincrement=False)


def _make_log() -> None:
    op.create_table(
        "log_head",
        _serial("log_id"),
        sa.Column("origin", sa.String, nullable=False),
        sa.Column("size", _WHOLE, nullable=False),
        sa.Column("root", _HASH, nullable=False),
        sa.Column("term", _WHOLE, nullable=False),
    )
    op.create_table(
        "log_entry",
        _serial("idx"),
        sa.Column("id", _HASH, nullable=False, unique=True),
        sa.Column("leaf", sa.LargeBinary, nullable=False),
        sa.Column("type", sa.String, nullable=False),
        sa.Column("author", _HASH, nullable=False),
        sa.Column("run", _HASH),
        sa.Column("round", _WHOLE),
        sa.Column("at", _WHOLE, nullable=False),
    )
    op.create_index("log_entry_author", "log_entry", ["author", "idx"])
    op.create_index("log_entry_round", "log_entry", ["run", "round", "idx"])
    op.create_index(
        "log_entry_snapshot",
        "log_entry",
        ["idx"],
        sqlite_where=_IS_SNAPSHOT,
        postgresql_where=_IS_SNAPSHOT,
    )
    op.create_table(
        "log_tile",
        _serial("level"),
        _serial("n"),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "log_checkpoint",
        _serial("size"),
        sa.Column("root", _HASH, nullable=False),
        sa.Column("note", sa.LargeBinary, nullable=False),
        sa.Column("at", _WHOLE, nullable=False),
    )
    op.create_table(
        "log_cosigned",
        _serial("size"),
        sa.Column("note", sa.LargeBinary, nullable=False),
        sa.Column("at", _WHOLE, nullable=False),
    )
    op.create_table(
        "log_mark",
        _serial("log_id"),
        sa.Column("mark", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "blob",
        sa.Column("sha256", _HASH, primary_key=True),
        sa.Column("size", _WHOLE, nullable=False),
        sa.Column("author", _HASH),
        sa.Column("at", _WHOLE, nullable=False),
    )
    op.create_index("ix_blob_author", "blob", ["author"])
    op.create_table(
        "submission",
        sa.Column("n", _WHOLE, sa.Identity(), primary_key=True),
        sa.Column("replica", sa.LargeBinary(16), nullable=False),
        sa.Column("leaves", sa.LargeBinary, nullable=False),
        sa.Column("answer", sa.LargeBinary),
        sa.Column("at", _WHOLE, nullable=False),
        prefixes=["UNLOGGED"] if _is_postgresql() else [],
    )
    op.create_table(
        "sent_position",
        sa.Column("place", _HASH, primary_key=True),
        sa.Column("position", _WHOLE, nullable=False),
    )


def _make_keys() -> None:
    op.create_table(
        "peer",
        sa.Column("key", _HASH, primary_key=True),
        sa.Column("registered_index", _WHOLE, nullable=False),
        sa.Column("last_seq", _WHOLE, nullable=False),
        sa.Column("last_hash", _HASH, nullable=False),
        sa.Column("gflop", _WHOLE, nullable=False),
        sa.Column("unvested", _WHOLE, nullable=False),
        sa.Column("forfeited", _WHOLE, nullable=False),
        sa.Column("received", _WHOLE, nullable=False, server_default="0"),
        sa.Column("recovery", _HASH),
        sa.Column("replaces", _HASH),
        sa.Column("replaced_by", _HASH),
        sa.Column("name", sa.String, nullable=False, server_default=""),
        sa.Column("badges", sa.JSON, nullable=False, server_default="[]"),
        sa.Column("accepted", _WHOLE, nullable=False, server_default="0"),
        sa.Column("streak_day", _WHOLE, nullable=False, server_default="0"),
        sa.Column("streak_days", _WHOLE, nullable=False, server_default="0"),
        sa.Column("team", _WHOLE, nullable=False, server_default="0"),
    )
    op.create_index("ix_peer_registered_index", "peer", ["registered_index"])
    op.create_index("peer_rank", "peer", [sa.text("gflop DESC"), "registered_index", "key", "name"])
    op.create_table(
        "standing",
        sa.Column("peer", _HASH, sa.ForeignKey("peer.key"), primary_key=True),
        sa.Column("standing", sa.String, nullable=False),
        sa.Column("since", _WHOLE, nullable=False),
        sa.Column("cause", _WHOLE),
        sa.Column("evidence", sa.JSON, nullable=False),
        sa.Column("until", _WHOLE, nullable=False),
        sa.Column("appeal", _WHOLE),
        sa.Column("is_restricted", sa.Boolean, nullable=False),
    )
    op.create_index("standing_since", "standing", ["standing", "since"])
    op.create_index(
        "standing_restricted",
        "standing",
        ["peer"],
        sqlite_where=_IS_RESTRICTED,
        postgresql_where=_IS_RESTRICTED,
    )
    op.create_table(
        "tier",
        sa.Column("peer", _HASH, sa.ForeignKey("peer.key"), primary_key=True),
        sa.Column("tier", _WHOLE, nullable=False),
        sa.Column("owner", _HASH, nullable=False),
        sa.Column("run", _HASH),
        sa.Column("until", _WHOLE, nullable=False),
        sa.Column("since", _WHOLE),
    )


def _make_rounds() -> None:
    op.create_table(
        "run",
        sa.Column("run", _HASH, primary_key=True),
        sa.Column("opened_index", _WHOLE, nullable=False),
        sa.Column("manifest", _HASH, nullable=False),
    )
    op.create_index("ix_run_opened_index", "run", ["opened_index"])
    op.create_table(
        "round",
        sa.Column("run", _HASH, sa.ForeignKey("run.run"), primary_key=True),
        _serial("round"),
        sa.Column("roster_index", _WHOLE, nullable=False),
        sa.Column("roster", _HASH, nullable=False),
        sa.Column("opened_index", _WHOLE),
        sa.Column("closed_index", _WHOLE),
        sa.Column("outcome", sa.String, nullable=False),
        sa.Column("accepted", _WHOLE, nullable=False),
        sa.Column("head", _HASH),
        sa.Column("result", _HASH),
        sa.Column("opened_ms", _WHOLE),
        sa.Column("ended_ms", _WHOLE),
        sa.Column("tokens", _WHOLE, nullable=False, server_default="0"),
        sa.Column("loss_q16", _WHOLE),
    )
    op.create_index("ix_round_closed_index", "round", ["closed_index"])
    op.create_index("ix_round_ended_ms", "round", ["ended_ms"])
    op.create_index("ix_round_head", "round", ["head"])
    op.create_table(
        "credit",
        sa.Column("run", _HASH, sa.ForeignKey("run.run"), primary_key=True),
        _serial("round"),
        sa.Column("peer", _HASH, sa.ForeignKey("peer.key"), primary_key=True),
        sa.Column("kind", sa.String, primary_key=True),
        sa.Column("author", _HASH, primary_key=True),
        sa.Column("gflop", _WHOLE, nullable=False),
        sa.Column("team", _WHOLE, nullable=False, server_default="0"),
    )
    op.create_index(
        "credit_team",
        "credit",
        ["team", "author", "gflop"],
        sqlite_where=_IN_A_TEAM,
        postgresql_where=_IN_A_TEAM,
    )
    op.create_table(
        "measured",
        sa.Column("run", _HASH, sa.ForeignKey("run.run"), primary_key=True),
        _serial("round"),
        sa.Column("peer", _HASH, sa.ForeignKey("peer.key"), primary_key=True),
        sa.Column("entry", _WHOLE, nullable=False),
        sa.Column("head", _HASH, nullable=False),
        sa.Column("millibits", _WHOLE, nullable=False),
        sa.Column("size_bytes", _WHOLE, nullable=False),
        sa.Column("tokens", _WHOLE, nullable=False),
        sa.Column("prompt", sa.String),
        sa.Column("written", sa.String),
        sa.Column("tasks", sa.String),
    )
    op.create_table(
        "attended",
        sa.Column("peer", _HASH, sa.ForeignKey("peer.key"), primary_key=True),
        _serial("closed_index"),
        sqlite_with_rowid=False,
    )


def _store_uncompressed() -> None:
    # Hashes and signatures do not compress, and a tile is rewritten up to 256 times: compressing it
    # would be work for nothing. The free tenth of a page keeps each rewrite in that page.
    op.execute("ALTER TABLE log_entry ALTER COLUMN leaf SET STORAGE EXTERNAL")
    op.execute("ALTER TABLE log_tile ALTER COLUMN data SET STORAGE EXTERNAL")
    op.execute("ALTER TABLE log_tile SET (fillfactor = 90)")


def _is_postgresql() -> bool:
    return op.get_bind().dialect.name == "postgresql"
