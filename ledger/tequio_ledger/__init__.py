"""The ledger service: one writer, many readers."""

from tequio_shared.version import BUILD

SOFTWARE = f"tequio-ledger/{BUILD}"
