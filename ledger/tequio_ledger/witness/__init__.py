"""A witness for other logs (c2sp.org/tlog-witness): a program of its own, with a key of its own."""
