"""The shared protocol: pure values and functions that all programs and all auditors agree on."""
