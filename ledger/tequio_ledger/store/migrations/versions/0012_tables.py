"""All tables, as the models have them.

Before a second revision changes a table, this one must name the tables as they are now, or a fresh
database must be made from the models and stamped with the newest revision.

Earlier revisions were merged into this one: a database that they made is refused.
"""

from __future__ import annotations

from alembic import op

from tequio_ledger.store.models import METADATA

revision = "0012"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make every table."""
    connection = op.get_bind()
    is_postgresql = connection.dialect.name == "postgresql"
    if is_postgresql:
        for index in (one for table in METADATA.tables.values() for one in table.indexes):
            where = index.dialect_options["sqlite"]["where"]
            index.dialect_options["postgresql"]["where"] = where
    METADATA.create_all(connection)
    if is_postgresql:
        op.execute("ALTER TABLE submission SET UNLOGGED")
        # Hashes and signatures do not compress, and a tile is rewritten up to 256 times: work for
        # nothing. The free tenth of a page keeps each rewrite in that page.
        op.execute("ALTER TABLE log_entry ALTER COLUMN leaf SET STORAGE EXTERNAL")
        op.execute("ALTER TABLE log_tile ALTER COLUMN data SET STORAGE EXTERNAL")
        op.execute("ALTER TABLE log_tile SET (fillfactor = 90)")
