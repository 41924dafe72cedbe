"""Data that ships with the programs: read with importlib.resources."""
