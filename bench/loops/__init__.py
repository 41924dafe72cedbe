"""Loops that several benches measure against."""
