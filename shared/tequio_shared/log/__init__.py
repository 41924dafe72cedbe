"""Reading a log: its growing tree cut into tiles, and proofs made from tiles."""
