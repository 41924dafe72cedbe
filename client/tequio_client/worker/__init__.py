"""One volunteer in the swarm: trio and libp2p, no torch."""
