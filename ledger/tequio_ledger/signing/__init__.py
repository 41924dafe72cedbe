"""The log's key and whoever holds it: in this process, or in a small one of its own."""
