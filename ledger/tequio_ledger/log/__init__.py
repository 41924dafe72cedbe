"""The log: its tree and tiles, its checkpoints, and what keeps it from ever going back."""
