"""The ledger's storage: tables, queries, migrations and blobs. Rows never leave this package."""
