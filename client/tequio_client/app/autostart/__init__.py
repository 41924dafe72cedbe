"""Starting at login, hidden: one way for each system, and the truth read back from it."""
