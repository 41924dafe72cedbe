"""The soak: a swarm under random faults for as long as wanted, and what must hold all along."""
