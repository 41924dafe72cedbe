"""A witness for other logs (c2sp.org/tlog-witness): a separate program with its own key."""
