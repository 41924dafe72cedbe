"""Shared by the benchmarks: reference loops, tables, and the machine's description."""
