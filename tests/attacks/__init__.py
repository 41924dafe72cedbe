"""What somebody may try against the network; each test names the layer that stops it."""
