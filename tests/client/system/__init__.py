"""Tests of the questions to the operating system."""
