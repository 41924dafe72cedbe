"""HTTP clients of a ledger and of a connector, with the proofs that their answers need."""
