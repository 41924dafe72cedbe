"""Tests of the Model page."""
