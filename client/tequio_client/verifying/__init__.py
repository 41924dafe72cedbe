"""A competition checked by a stranger, from the log alone or from one file."""
