"""Checkpoints with the cosignatures under which they were published."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the table; log rows stay as they are."""
    op.create_table(
        "log_cosigned",
        sa.Column("size", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("note", sa.LargeBinary, nullable=False),
        sa.Column("at", _WHOLE, nullable=False),
    )
