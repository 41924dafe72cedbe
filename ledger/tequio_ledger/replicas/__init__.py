"""Several processes that serve one ledger: who writes, and what the others pass on."""
