"""The monitor: a program that reads a log as it grows, recomputes everything, and raises alarms."""
