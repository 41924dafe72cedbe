"""The log's key and its signer: in the ledger's process, or in a small one of its own."""
