"""The demo: a whole network on one computer, every program a process of its own."""
