"""Tests of the documentation: that it builds, and that what it says to type works."""
