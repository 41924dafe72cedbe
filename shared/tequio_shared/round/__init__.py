"""A round: its manifest, windows, roster, committee, proofs and outcome."""
