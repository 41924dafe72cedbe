"""Releases: packages that are signed once, fetched from any mirror, and installed side by side."""
