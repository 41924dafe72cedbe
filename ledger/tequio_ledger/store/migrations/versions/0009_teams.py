"""For which team a round paid a key, derived from the log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

_IN_A_TEAM = sa.text("team <> ''")


def upgrade() -> None:
    """Add the column; in a log from before it nobody was in a team."""
    op.add_column("credit", sa.Column("team", sa.String(), nullable=False, server_default=""))
    op.create_index(
        "credit_team",
        "credit",
        ["team", "peer", "micropoints"],
        sqlite_where=_IN_A_TEAM,
        postgresql_where=_IN_A_TEAM,
    )
