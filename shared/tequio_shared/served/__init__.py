"""What a ledger serves about its log: rows that follow from entries, and answers made of them."""
