"""The JSON that ledger, connector and their clients exchange over HTTP: one definition each."""
