"""The first run: six steps until something is lent, of which nothing is before the last."""
