"""The audit: a stranger's check of a ledger, from the signed checkpoint to the last weight."""
