"""Rows that follow from the entries of a log, and the answers that a ledger makes of them."""
