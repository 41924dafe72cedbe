"""When each round was, and what its accepted work came to, derived from the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Add the columns, empty: the ledger fills them at its next start."""
    op.add_column("round", sa.Column("opened_ms", _WHOLE))
    op.add_column("round", sa.Column("ended_ms", _WHOLE))
    op.add_column("round", sa.Column("tokens", _WHOLE, nullable=False, server_default="0"))
    op.add_column("round", sa.Column("loss_q16", _WHOLE))
    op.create_index("ix_round_ended_ms", "round", ["ended_ms"])
