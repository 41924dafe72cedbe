"""A cell of several owners in one local network: a host opens it, guests join with its code."""
