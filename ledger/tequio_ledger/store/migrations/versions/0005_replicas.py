"""What several processes of one ledger tell each other, and how PostgreSQL keeps large values."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_WHOLE = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Make the tables; log rows stay as they are."""
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
        "log_mark",
        sa.Column("log_id", _WHOLE, primary_key=True, autoincrement=False),
        sa.Column("mark", sa.LargeBinary, nullable=False),
    )
    if _is_postgresql():
        _keep_plain()


def _keep_plain() -> None:
    """Hashes and signatures do not compress; a tile is written anew up to 256 times."""
    op.execute("ALTER TABLE log_entry ALTER COLUMN leaf SET STORAGE EXTERNAL")
    op.execute("ALTER TABLE log_tile ALTER COLUMN data SET STORAGE EXTERNAL")
    op.execute("ALTER TABLE log_tile SET (fillfactor = 90)")


def _is_postgresql() -> bool:
    return op.get_bind().dialect.name == "postgresql"
