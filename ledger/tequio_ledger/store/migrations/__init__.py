"""Alembic's home: one line of versions, run at every start."""
