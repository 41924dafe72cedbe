"""Who was in which round, and the order of keys by points, derived from the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the table, empty: it follows from rosters, and the ledger fills it at its next start."""
    op.create_table(
        "attended",
        sa.Column("peer", sa.LargeBinary(32), sa.ForeignKey("peer.key"), primary_key=True),
        sa.Column("closed_index", _WHOLE, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_round_closed_index", "round", ["closed_index"])
    op.create_index("peer_rank", "peer", [sa.text("micropoints DESC"), "registered_index", "key"])
