"""Links of ours: which system opens them with this app, and how it is told."""
