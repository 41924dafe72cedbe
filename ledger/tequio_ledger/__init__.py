"""The ledger service: one writer, many readers."""
