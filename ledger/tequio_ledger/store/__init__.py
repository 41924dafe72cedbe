"""What the ledger keeps: tables, queries and migrations; rows never leave."""
