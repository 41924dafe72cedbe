"""Builds the token shards of a run, the same bytes on every machine."""
