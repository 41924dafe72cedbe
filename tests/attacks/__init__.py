"""Attacks on the network; each test names the layer that stops the attack."""
