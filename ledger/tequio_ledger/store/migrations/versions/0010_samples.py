"""What measured heads write, derived from the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; in a log from before them no measure has a sample."""
    for name in ("prompt", "written"):
        op.add_column("measured", sa.Column(name, sa.String(), nullable=True))
