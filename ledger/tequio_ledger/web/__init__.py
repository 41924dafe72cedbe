"""The HTTP face of the ledger: parse, call, render."""
