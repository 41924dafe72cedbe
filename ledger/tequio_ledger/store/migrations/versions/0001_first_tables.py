"""First tables: the log, blobs, and what is derived from the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_HASH = sa.LargeBinary(32)


def upgrade() -> None:
    """Make every table."""
    _log_tables()
    _derived_tables()


def _log_tables() -> None:
    op.create_table(
        "log_head",
        sa.Column("log_id", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("origin", sa.String, nullable=False),
        sa.Column("size", _WHOLE, nullable=False),
        sa.Column("root", _HASH, nullable=False),
        sa.Column("term", _WHOLE, nullable=False),
    )
    op.create_table(
        "log_entry",
        sa.Column("idx", _WHOLE, primary_key=True, autoincrement=False),
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
    op.create_table(
        "log_tile",
        sa.Column("level", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("n", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "log_checkpoint",
        sa.Column("size", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("root", _HASH, nullable=False),
        sa.Column("note", sa.LargeBinary, nullable=False),
        sa.Column("at", _WHOLE, nullable=False),
    )
    op.create_table(
        "blob",
        sa.Column("sha256", _HASH, primary_key=True),
        sa.Column("size", _WHOLE, nullable=False),
        sa.Column("author", _HASH),
        sa.Column("at", _WHOLE, nullable=False),
    )
    op.create_index("ix_blob_author", "blob", ["author"])


def _derived_tables() -> None:
    op.create_table(
        "peer",
        sa.Column("key", _HASH, primary_key=True),
        sa.Column("registered_index", _WHOLE, nullable=False),
        sa.Column("last_seq", _WHOLE, nullable=False),
        sa.Column("last_hash", _HASH, nullable=False),
        sa.Column("micropoints", _WHOLE, nullable=False),
    )
    op.create_index("ix_peer_registered_index", "peer", ["registered_index"])
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
        sa.Column("round", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("roster_index", _WHOLE, nullable=False),
        sa.Column("roster", _HASH, nullable=False),
        sa.Column("opened_index", _WHOLE),
        sa.Column("closed_index", _WHOLE),
        sa.Column("outcome", sa.String, nullable=False),
        sa.Column("accepted", _WHOLE, nullable=False),
        sa.Column("head", _HASH),
        sa.Column("result", _HASH),
    )
    op.create_table(
        "credit",
        sa.Column("run", _HASH, sa.ForeignKey("run.run"), primary_key=True),
        sa.Column("round", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("peer", _HASH, sa.ForeignKey("peer.key"), primary_key=True),
        sa.Column("kind", sa.String, primary_key=True),
        sa.Column("micropoints", _WHOLE, nullable=False),
    )
