"""The key of this installation: its file, its protection, and its backups."""
