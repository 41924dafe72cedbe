"""Bringing a ledger's tables up to this program, and from one database to another."""
