"""Swarm."""
