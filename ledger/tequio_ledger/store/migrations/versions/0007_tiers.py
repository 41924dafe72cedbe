"""The tier and owner of keys that are not anonymous, derived from the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the table; in a log from before it only the keys of the genesis have a tier."""
    op.create_table(
        "tier",
        sa.Column("peer", sa.LargeBinary(32), sa.ForeignKey("peer.key"), primary_key=True),
        sa.Column("tier", _WHOLE, nullable=False),
        sa.Column("owner", sa.LargeBinary(32), nullable=False),
        sa.Column("run", sa.LargeBinary(32)),
        sa.Column("until", _WHOLE, nullable=False),
        sa.Column("since", _WHOLE),
    )
    op.execute(
        "INSERT INTO tier (peer, tier, owner, until, since) "
        "SELECT key, 2, key, 0, 0 FROM peer WHERE registered_index = 0"
    )
