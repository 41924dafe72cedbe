"""Tests of `tequio verify-competition`."""
