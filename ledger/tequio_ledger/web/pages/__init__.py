"""The ledger's web pages, which work without scripts."""
