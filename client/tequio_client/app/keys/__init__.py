"""The key in the app: made, unlocked, backed up, restored and kept, for first run and settings."""
