"""The ledger, and a connector, as clients of them see them: calls, answers, proofs."""
