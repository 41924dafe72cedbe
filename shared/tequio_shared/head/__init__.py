"""The head: layout of the weights, contributions to them, and the step from head to head."""
