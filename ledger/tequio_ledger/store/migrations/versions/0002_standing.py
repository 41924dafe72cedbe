"""The standing of every key, derived from the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the table; a log from before it says nothing of standing, so all keys are newcomers."""
    op.create_table(
        "standing",
        sa.Column("peer", sa.LargeBinary(32), sa.ForeignKey("peer.key"), primary_key=True),
        sa.Column("standing", sa.String, nullable=False),
        sa.Column("since", _WHOLE, nullable=False),
        sa.Column("cause", _WHOLE),
        sa.Column("evidence", sa.JSON, nullable=False),
        sa.Column("until", _WHOLE, nullable=False),
        sa.Column("appeal", _WHOLE),
    )
    op.create_index("standing_since", "standing", ["standing", "since"])
    op.execute(
        "INSERT INTO standing (peer, standing, since, evidence, until) "
        "SELECT key, 'newcomer', registered_index, '[]', 0 FROM peer"
    )
