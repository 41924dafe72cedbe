"""Competition."""
