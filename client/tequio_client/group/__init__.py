"""Private groups: a closed group trains one model without a ledger, with secure aggregation."""
