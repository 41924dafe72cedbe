"""A monitor: whoever reads a whole log as it grows, computes all that follows, and rings alarms."""
