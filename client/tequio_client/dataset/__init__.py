"""The token shards of a run, built from texts: the same bytes on every machine."""
