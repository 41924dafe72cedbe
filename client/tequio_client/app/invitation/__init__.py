"""Joining by an invitation: what the ledger says of it, the question, and the joining."""
