"""The worker's side of the ledger: following the log, sending statements, standing, account."""
