"""Children."""
