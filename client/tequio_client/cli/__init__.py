"""The command tree of the tequio program."""
