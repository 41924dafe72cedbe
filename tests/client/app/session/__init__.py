"""Tests of the session probes."""
