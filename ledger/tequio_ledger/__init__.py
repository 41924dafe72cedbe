"""The ledger service: one writer, many readers."""

from importlib.metadata import version

SOFTWARE = f"tequio-ledger/{version('tequio')}"
