"""Lending."""
