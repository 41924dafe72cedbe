"""What the whole log says of a network."""
