"""The log: its tree, tiles and checkpoints, the sequencer, and the guard against forks."""
