"""What drawn members measured of heads, derived from the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the table; no log from before it says anything of the kind."""
    op.create_table(
        "measured",
        sa.Column("run", sa.LargeBinary(32), sa.ForeignKey("run.run"), primary_key=True),
        sa.Column("round", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("peer", sa.LargeBinary(32), sa.ForeignKey("peer.key"), primary_key=True),
        sa.Column("entry", _WHOLE, nullable=False),
        sa.Column("head", sa.LargeBinary(32), nullable=False),
        sa.Column("millibits", _WHOLE, nullable=False),
        sa.Column("size_bytes", _WHOLE, nullable=False),
        sa.Column("tokens", _WHOLE, nullable=False),
    )
