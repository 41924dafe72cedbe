"""Tests of plug-ins as files."""
