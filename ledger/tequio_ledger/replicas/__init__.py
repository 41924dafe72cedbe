"""Several processes that serve one ledger: one writes the log, the others forward statements."""
