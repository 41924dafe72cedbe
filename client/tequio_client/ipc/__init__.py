"""What worker and trainer say to each other: pure values in JSON lines."""
