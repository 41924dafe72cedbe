"""A competition between models: its rules, its state by the log, the draw and the result."""
