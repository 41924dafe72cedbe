"""The log: its Merkle tree cut into tiles, signed checkpoints, and proofs made from tiles."""
