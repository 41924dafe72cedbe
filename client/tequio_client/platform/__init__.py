"""The operating system, as app and probe ask it: with deadlines, and without trusting an answer."""
