"""Runs the versions on the connection that the service hands over."""

from alembic import context

from tequio_ledger.store.models import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
