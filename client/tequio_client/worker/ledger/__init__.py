"""What the worker sends to the ledger."""
