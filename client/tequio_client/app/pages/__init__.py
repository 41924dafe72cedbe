"""What the window shows, one page at a time."""
