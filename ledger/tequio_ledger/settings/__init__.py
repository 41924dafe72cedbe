"""What the ledger's programs can be set to, and how it is read."""
